"""What options say: whole numbers and name=value, with errors that name the option and what it was given."""

from __future__ import annotations

from collections.abc import Sequence

from environments.errors import InputError


def whole_number(option: str, text: str) -> int:
    """A whole number as people write it.

    >>> whole_number("--horizon", "10_000")
    10000
    """
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{option} must be a whole number but got {text!r}.") from None


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers with commas between them.

    >>> whole_numbers("--horizon", "1000,10000")
    [1000, 10000]
    """
    return [whole_number(option, word.strip()) for word in text.split(",")]


def number(option: str, text: str) -> float:
    """A number as people write it.

    >>> number("--epsilon", "1e-2")
    0.01
    """
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} must be a number but got {text!r}.") from None


def numbers(option: str, text: str) -> list[float]:
    """Numbers with commas between them.

    >>> numbers("--alpha0", "0.5,1")
    [0.5, 1.0]
    """
    return [number(option, word.strip()) for word in text.split(",")]


def workers(jobs: str | None) -> int:
    """How many workers --jobs asks for; as many as there are cores if it does not say.

    >>> workers("2")
    2
    """
    from environments.checks import whole

    if jobs is not None:
        return whole("--jobs", whole_number("--jobs", jobs), least=1, most=1024)
    from joblib import cpu_count

    return int(cpu_count())


def parse_ranges(texts: Sequence[str]) -> dict[str, list[float]]:
    """Read a list of name=low:high.

    >>> parse_ranges(["alpha0=0.1:5"])
    {'alpha0': [0.1, 5.0]}
    """
    ranges: dict[str, list[float]] = {}
    for name, text in parse_assignments("--range", texts).items():
        low, colon, high = str(text).partition(":")
        try:
            ranges[name] = [float(low), float(high)] if colon else []
        except ValueError:
            ranges[name] = []
        if not ranges[name]:
            raise InputError(f"--range must be written name=low:high but got {name}={text}.")
    return ranges


def parse_assignments(option: str, texts: Sequence[str]) -> dict[str, int | float | str]:
    """Read a list of name=value; numbers become numbers.

    >>> parse_assignments("--set", ["every=5%", "drift=0.5", "longest=7"])
    {'every': '5%', 'drift': 0.5, 'longest': 7}
    """
    values: dict[str, int | float | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not value:
            raise InputError(f"{option} must be written name=value but got {text!r}.")
        if name in values:
            raise InputError(f"{option} gives {name} twice: {values[name]} and {value}.")
        values[name] = _number(value)
    return values


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
