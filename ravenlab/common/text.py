"""Numbers, counts, lists and names formatted for people. Every package formats text with this module.

Output that programs read (JSON, CSV, TOML, study names) keeps full precision: its numbers never go through here.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ravenlab.common.interval import Interval

MINUS = "\N{MINUS SIGN}"  # for people; numbers for programs keep the hyphen that they parse
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

ROUNDING_ERROR = 1e-9  # a value closer to 1 than this is printed as 1
SIGN = re.compile(r"(?<!\w)-(?=[\d.])")
BYTE_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))

LONGEST_VALUE = 60  # maximal length of a value quoted in an error message


def format_number(value: float | str) -> str:
    """Format a number with four significant digits, thousands separators and a minus sign (U+2212).

    Values just below 1 get as many digits as distinguish them from 1. Text is returned unchanged.

    >>> format_number(0.000123456), format_number(0.99998), format_number(-12345.6), format_number("welford")
    ('0.0001235', '0.99998', '−12,346', 'welford')
    """
    if isinstance(value, str):
        return value
    text = f"{value:.4g}" if abs(value) < 999.95 else f"{value:,.0f}"
    if text == "1" and 1.0 - value > ROUNDING_ERROR:
        decimals = -math.floor(math.log10(1.0 - value))
        text = f"{value:.{decimals}f}".rstrip("0")
    return set_minus(text)


def set_minus(text: str) -> str:
    """Write the sign of a formatted number, or those of several, as a minus sign (U+2212) instead of a hyphen.

    Hyphens within words and exponents stay.

    >>> set_minus("-1.5 to 2e-07"), set_minus("raven-ucb")
    ('−1.5 to 2e-07', 'raven-ucb')
    """
    return SIGN.sub(MINUS, text)


def format_count(count: int) -> str:
    """Format a count with thousands separators.

    >>> format_count(2000), format_count(999)
    ('2,000', '999')
    """
    return f"{count:,}"


def format_approximate(value: float) -> str:
    """Format a large number with two significant digits; powers of ten from one million on.

    >>> format_approximate(1778), format_approximate(1_000_000), format_approximate(3.21e9)
    ('1,800', '10⁶', '3.2·10⁹')
    """
    if value < 1e6:
        return format_number(float(f"{value:.2g}"))
    digits, exponent = f"{value:.1e}".split("e")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return power if float(digits) == 1.0 else f"{float(digits):g}·{power}"


def format_signed(value: float) -> str:
    """Format a difference with its sign; zero has none.

    >>> format_signed(18.5), format_signed(-0.25), format_signed(0.0)
    ('+18.5', '−0.25', '0')
    """
    return f"{'+' if value > 0 else ''}{format_number(value)}"


def format_percent(share: float, unit: str = " %", signed: bool = False) -> str:
    """Format a share as a percentage: one decimal below 10 %, none above. With `signed`, positive ones get a plus.

    >>> format_percent(0.0512), format_percent(0.05), format_percent(1.234), format_percent(-0.001)
    ('5.1 %', '5.0 %', '123 %', '−0.1 %')
    >>> format_percent(0.0512, unit=""), format_percent(0.0512, signed=True), format_percent(0.0, signed=True)
    ('5.1', '+5.1 %', '0.0 %')
    """
    value = 100.0 * share
    text = f"{value:.1f}" if abs(value) < 9.95 else f"{value:,.0f}"
    if text == "-0.0":
        text = "0.0"
    sign = "+" if signed and value > 0 and text != "0.0" else ""
    return f"{sign}{set_minus(text)}{unit}"


def format_interval(
    interval: Interval, name: str = "95 % CI", format_value: Callable[[float], str] = format_number
) -> str:
    """Format an estimate with its confidence interval; the name of the interval is empty where a heading states it.

    The decimals of numbers follow from the width of the interval and are the same for its ends.

    >>> format_interval(Interval(41.5, 40.25, 42.75)), format_interval(Interval(0.0318, 0.02691, 0.0367), name="")
    ('41.5 (95 % CI 40.2 to 42.8)', '0.0318 (0.0269 to 0.0367)')
    >>> format_interval(Interval(0.1, 0.05, 0.15), format_value=format_percent)
    '10 % (95 % CI 5.0 % to 15 %)'
    """
    return f"{format_mean(interval, format_value)} ({name}{' ' if name else ''}{format_ends(interval, format_value)})"


def format_mean(interval: Interval, format_value: Callable[[float], str] = format_number) -> str:
    """Format an estimate with the decimals of its interval.

    >>> format_mean(Interval(12.0, 9.0, 15.0))
    '12.0'
    """
    return _format_alike(interval, format_value)(interval.mean)


def format_ends(interval: Interval, format_value: Callable[[float], str] = format_number) -> str:
    """Format the ends of a confidence interval.

    >>> format_ends(Interval(41.5, 40.25, 42.75)), format_ends(Interval(-0.002, -0.0053, -0.00005))
    ('40.2 to 42.8', '−0.0053 to −0.0001')
    """
    format_end = _format_alike(interval, format_value)
    return f"{format_end(interval.low)} to {format_end(interval.high)}"


def _format_alike(interval: Interval, format_value: Callable[[float], str]) -> Callable[[float], str]:
    """Return a function that formats numbers with two significant digits of the half-width of an interval."""
    half = (interval.high - interval.low) / 2.0
    if format_value not in (format_number, format_signed) or not 0.0 < half < math.inf:
        return format_value
    decimals = max(0, 1 - math.floor(math.log10(half)))
    plus = "+" if format_value is format_signed else ""

    def format_fixed(value: float) -> str:
        text = f"{value:,.{decimals}f}"
        zero = not text.strip("-0.,")
        return f"{plus if value > 0.0 and not zero else ''}{set_minus(text.removeprefix('-') if zero else text)}"

    return format_fixed


def format_p_value(p: float) -> str:
    """Format a p-value.

    >>> format_p_value(0.034), format_p_value(1e-30), format_p_value(1.0)
    ('0.034', '< 0.0001', '1')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def describe_p_value(p: float) -> str:
    """Format a p-value with its name.

    >>> describe_p_value(0.034), describe_p_value(1e-30)
    ('p = 0.034', 'p < 0.0001')
    """
    text = format_p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def format_bytes(count: float) -> str:
    """Format a size in bytes with decimal units.

    >>> format_bytes(2_340_000_000), format_bytes(512)
    ('2.3 GB', '512 B')
    """
    for unit, factor in BYTE_UNITS:
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def format_duration(seconds: float) -> str:
    """Format a time with one or two units.

    >>> format_duration(0.31), format_duration(12.4), format_duration(75), format_duration(7380), format_duration(2e5)
    ('0.3 s', '12 s', '1 min 15 s', '2 h 3 min', '2 d 8 h')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def format_range(values: Iterable[float]) -> str:
    """Format the smallest and the largest of some numbers, or the one number that they all are.

    >>> format_range([1000, 100, 500]), format_range([7, 7])
    ('100 to 1,000', '7')
    """
    ordered = sorted(set(values))
    low = format_number(ordered[0])
    high = format_number(ordered[-1])
    return low if len(ordered) == 1 else f"{low} to {high}"


def format_settings(settings: Mapping[str, int | float | str]) -> str:
    """Format settings of a scenario on one line.

    >>> format_settings({"every": "5%", "noise": "laplace"})
    'every = 5%, noise = laplace'
    """
    return ", ".join(f"{name} = {format_value(value)}" for name, value in settings.items())


def name_problem(subject: str, horizon: int, arms: int, *details: str) -> str:
    """Name what a result is about, with horizon, arms and the details that are not empty.

    >>> name_problem("raven-ucb in blips", 10_000, 5, "", "every = 5%")
    'raven-ucb in blips, T = 10,000, K = 5, every = 5%'
    """
    return ", ".join([subject, f"T = {format_count(horizon)}", f"K = {format_count(arms)}", *filter(None, details)])


def format_value(value: int | float | str) -> str:
    """Format a value that a user gave: up to six significant digits, text unchanged.

    >>> format_value(-0.5), format_value(7), format_value("5%")
    ('−0.5', '7', '5%')
    """
    return value if isinstance(value, str) else set_minus(f"{value:g}" if isinstance(value, float) else str(value))


def plural(number: int, singular: str, many: str | None = None) -> str:
    """Format a count with its noun in the right number.

    >>> plural(1, "worker"), plural(2, "worker"), plural(0, "study", "studies")
    ('1 worker', '2 workers', '0 studies')
    """
    return f"{number:,} {singular if number == 1 else many or f'{singular}s'}"


def join_words(words: Sequence[str], last: str = "or") -> str:
    """Join words with commas, and with `last` before the last one.

    >>> join_words(["tpe", "gp", "grid"]), join_words(["CCB"], "and")
    ('tpe, gp or grid', 'CCB')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def capitalize_first(text: str) -> str:
    """Capitalize the first letter and leave the others unchanged.

    >>> capitalize_first("as RAVEN-UCB")
    'As RAVEN-UCB'
    """
    return text[:1].upper() + text[1:]


def keep_pairs_together(pairs: str) -> str:
    """Replace spaces within comma-separated pairs by no-break spaces, so that lines break between pairs only.

    >>> keep_pairs_together("α₀ 1.5, ε 0.1") == "α₀\\N{NO-BREAK SPACE}1.5, ε\\N{NO-BREAK SPACE}0.1"
    True
    """
    return ", ".join(pair.replace(" ", "\N{NO-BREAK SPACE}") for pair in pairs.split(", "))


def escape_unprintable(text: str) -> str:
    """Write line breaks and control characters as escape sequences, so that the text stays on one line.

    >>> escape_unprintable("a\\nb")
    'a\\\\nb'
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def escape_in_strings(document: str) -> str:
    """Write characters that control terminals as escape sequences of JSON and TOML, in a document of these formats.

    Writers of these formats escape the control characters of ASCII, but those from U+0080 on also control terminals.

    >>> print(escape_in_strings('["\x9b31m ü"]'))
    ["\\u009b31m ü"]
    """
    if document.replace("\n", "").isprintable():
        return document
    return "".join(
        letter if letter.isprintable() or letter == "\n" or letter > "\uffff" else f"\\u{ord(letter):04x}"
        for letter in document
    )


def shorten_value(value: object) -> str:
    """Return the `repr` of a value, cut to 60 characters.

    >>> shorten_value("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
