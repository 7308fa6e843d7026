"""Checks of numbers and of keys in TOML, and parsing of times and shares such as "10%"."""

import math
import operator
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import SupportsIndex

from ravenlab.common.errors import InputError

Time = int | str  # a number of steps, or a percentage of the horizon such as ``"10%"``
Share = float | str  # a share of the arms: ``0.25``, ``"1/3"`` or ``"20%"``
LARGEST_NUMBER = 1e100  # squares of larger numbers may overflow
MAX_KEY_PARTS = 16  # of a dotted key in TOML; the parser takes memory that is quadratic in their number
LONG_KEY = re.compile(  # more parts than that
    r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""", re.ASCII
)
MAX_STEPS = 10**15  # whole numbers up to this are exact in float64


def number_rule(value: object) -> str:
    """Return the rule that a value violates which is not a number of allowed size.

    >>> number_rule(math.inf), number_rule(-1e200)
    ('be a finite number', 'be between -1e+100 and 1e+100')
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        return f"be between {-LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
    return "be a finite number"


def check_number(field: str, value: object) -> float:
    """Return a finite number as a float.

    >>> check_number("drift", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
        raise InputError(f"{field} must {number_rule(value)} but got {value!r}.", field=field)
    return float(value)


def check_nonnegative(field: str, value: object) -> float:
    """Return a finite number that is at least 0 as a float.

    >>> check_nonnegative("growth", 0.5)
    0.5
    """
    number = check_number(field, value)
    if number < 0:
        raise InputError(f"{field} must be at least 0 but got {value!r}.", field=field)
    return number


def check_integer(field: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number that is at least `least` and, unless None, at most `most`.

    >>> check_integer("replications", 5, least=1)
    5
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise InputError(f"{field} must be a whole number but got {value!r}.", field=field)
    number = operator.index(value)
    got = str(number) if abs(number) <= LARGEST_NUMBER else "a number of more than 100 digits"
    if number < least:
        raise InputError(f"{field} must be at least {least} but got {got}.", field=field)
    if most is not None and number > most:
        raise InputError(f"{field} must be at most {most} but got {got}.", field=field)
    return number


COUNT = re.compile(r"([+-]?\d[\d_]*(?:\.\d+)?)(?:[eE]\+?(\d{1,2})|([kKM]))?")
COUNT_UNITS = {"k": 1_000, "K": 1_000, "M": 1_000_000}


def parse_count(value: object) -> object:
    """Convert a whole number written as text or as a float to an int; anything else is returned unchanged.

    >>> parse_count("10k"), parse_count("1e4"), parse_count(1e4), parse_count("2.5M"), parse_count("10_000")
    (10000, 10000, 10000, 2500000, 10000)
    >>> parse_count("1.5"), parse_count("ten"), parse_count(0.5)
    ('1.5', 'ten', 0.5)
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    match = COUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return value
    digits, exponent, unit = match.groups()
    try:
        number = Fraction(digits) * 10 ** int(exponent or 0) * COUNT_UNITS.get(unit, 1)
    except ValueError:  # underscores that do not separate digits, or thousands of digits
        return value
    return number.numerator if number.denominator == 1 else value


def check_replications(seed: object, first: object, replications: object) -> None:
    """Check the numbers that identify `replications` worlds of a seed, from number `first` on.

    >>> check_replications(seed=7, first=0, replications=100)
    """
    check_integer("seed", seed, least=0)
    check_integer("first", first, least=0)
    check_integer("replications", replications, least=1)


def parse_steps(field: str, value: object, horizon: int) -> int:
    """Convert a time to a number of steps.

    A percentage p is max(1, ⌊p·T/100⌋) in exact arithmetic: floats would round 29 % of 100 down to 28.

    >>> parse_steps("every", "29%", 100), parse_steps("every", 500, 100)
    (29, 500)
    """
    if isinstance(value, str) and value.strip().endswith("%"):
        percent = _parse_fraction(field, value.strip()[:-1], value)
        if percent <= 0:
            raise InputError(f"{field} must be above 0% but got {value!r}.")
        count = max(1, math.floor(percent * horizon / 100))
    else:
        number = parse_count(value)
        if isinstance(number, bool) or not isinstance(number, int):
            raise InputError(f"{field} must be a whole number of steps or a share such as '10%' but got {value!r}.")
        count = number
    if count < 1:
        raise InputError(f"{field} must be at least 1 step but got {count}.")
    if count > MAX_STEPS:
        raise InputError(f"{field} must be at most {MAX_STEPS:,} steps but got {value!r}.")
    return count


def check_choice(field: str, value: object, choices: Sequence[str]) -> None:
    """Raise InputError unless a value is one of the choices.

    >>> check_choice("closing", "best", ("best", "random"))
    """
    if value not in choices:
        raise InputError(f"{field} must be one of {', '.join(choices)} but got {value!r}.", field=field)


def parse_share(field: str, value: object) -> Fraction:
    """Convert a share to an exact fraction; a float counts as its shortest decimal.

    >>> parse_share("fraction", "1/3"), parse_share("fraction", 0.1), parse_share("fraction", "25%")
    (Fraction(1, 3), Fraction(1, 10), Fraction(1, 4))
    """
    if isinstance(value, str) and value.strip().endswith("%"):
        share = _parse_fraction(field, value.strip()[:-1], value) / 100
    else:
        # float() first: the repr of a NumPy float contains more than the number.
        share = _parse_fraction(field, repr(float(value)) if isinstance(value, float) else str(value), value)
    if not 0 < share <= 1:
        raise InputError(f"{field} must be above 0 and at most 1 but got {value!r}.")
    return share


def _parse_fraction(field: str, text: str, value: object) -> Fraction:
    try:
        if re.search(r"[eE][+-]?[\d_]{4}", text):
            raise ValueError("an exact fraction with such an exponent would exhaust the memory")
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{field} must be a number or a share such as '1/3' or '10%' but got {value!r}.") from None


def check_dotted_keys(text: str) -> None:
    """Raise InputError if a key of a TOML document, such as `a.b.c`, has more than `MAX_KEY_PARTS` parts.

    >>> check_dotted_keys(".".join("a" * 17) + " = 1")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: line 1: a key must have at most 16 parts.
    """
    match = LONG_KEY.search(text)
    if match is not None:
        line = text.count("\n", 0, match.start()) + 1
        raise InputError(f"line {line}: a key must have at most {MAX_KEY_PARTS} parts.")


MIN_ADDRESS_SPACE = 10**9  # bytes; a small study takes 0.63 GB with one thread and 0.77 GB with two


def check_address_space() -> None:
    """Raise InputError if a limit of the shell is too low; LLVM would end the process while it compiles.

    >>> check_address_space()
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    for name, option in (("RLIMIT_AS", "-v"), ("RLIMIT_DATA", "-d")):
        limit, _ = resource.getrlimit(getattr(resource, name))
        if limit != resource.RLIM_INFINITY and limit < MIN_ADDRESS_SPACE:
            raise InputError(
                f"the memory of this process is limited to {limit / 1e6:,.0f} MB (ulimit {option}), but simulations "
                f"need at least {MIN_ADDRESS_SPACE / 1e6:,.0f} MB."
            )
