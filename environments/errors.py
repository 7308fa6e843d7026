"""The one exception for input that a person can mend."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import SupportsIndex


class InputError(ValueError):
    """Bad input: its message is one line that names the field, the value and what is allowed.

    `field` is the field that is wrong, or that the advice is about, under its name in the Python API. The command
    line adds its option for this field, prints the line to stderr and exits with code 2.

    >>> raise InputError("horizon must be at least 1 but got 0.")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: horizon must be at least 1 but got 0.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


LONGEST_LIST = 300
"""Letters of known names that an error lists."""

LONGEST_NAME = 200
"""Letters of an unknown name that are compared with known ones."""


def unknown(kind: str, name: object, known: Iterable[str]) -> InputError:
    """An error for a name that nothing goes by, with the nearest one that exists.

    >>> print(unknown("scenario", "blip", ["blips", "stationary"]))
    unknown scenario 'blip'; did you mean 'blips'? Known: blips, stationary.
    """
    names = sorted(known)
    shown = ", ".join(names)
    if len(shown) > LONGEST_LIST:
        shown = f"{shown[:LONGEST_LIST].rpartition(', ')[0]}, … ({len(names)} in all)"
    return InputError(f"unknown {kind} {name!r}{did_you_mean(name, names)} Known: {shown}.")


def did_you_mean(name: object, known: Sequence[str]) -> str:
    """How a sentence about an unknown name ends: with the nearest one that exists, or with a full stop.

    >>> did_you_mean("blip", ["blips", "stationary"])
    "; did you mean 'blips'?"
    """
    near = difflib.get_close_matches(str(name)[:LONGEST_NAME], known, n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else "."


class Fault(RuntimeError):
    """Something outside gave way (a full disk, a lost connection): one line, and exit code 1.

    What had been stored before stays as it was, and the same command goes on from there.
    """


LARGEST = 1e100
"""Numbers beyond this are mistakes, and their squares would not be finite any more."""


def number(field: str, value: object) -> float:
    """A finite number.

    >>> number("drift", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise InputError(f"{field} must be a finite number but got {value!r}.", field=field)
    return float(value)


def nonnegative(field: str, value: object) -> float:
    """A finite number that is not below 0.

    >>> nonnegative("growth", 0.5)
    0.5
    """
    if number(field, value) < 0:
        raise InputError(f"{field} must be at least 0 but got {value!r}.", field=field)
    return float(value)  # type: ignore[arg-type]


def whole(field: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number that is at least `least`, and at most `most` where that is given.

    >>> whole("replications", 5, least=1)
    5
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise InputError(f"{field} must be a whole number but got {value!r}.", field=field)
    given = operator.index(value)
    if given < least:
        raise InputError(f"{field} must be at least {least} but got {given}.", field=field)
    if most is not None and given > most:
        raise InputError(f"{field} must be at most {most} but got {given}.", field=field)
    return given


def check_which(seed: object, first: object, replications: object) -> None:
    """Raise InputError for numbers that name no worlds: `replications` of them from number `first` on, of a seed.

    >>> check_which(seed=7, first=0, replications=100)
    """
    whole("seed", seed, least=0)
    whole("first", first, least=0)
    whole("replications", replications, least=1)


Time = int | str
"""A count of steps, or a share of the horizon such as ``"10%"``."""

Share = float | str
"""A share of the arms: ``0.25``, ``"1/3"`` or ``"20%"``."""

MOST_STEPS = 10**15
"""Times beyond this are mistakes; all below are exact in floats."""


def steps(field: str, value: object, horizon: int) -> int:
    """The number of steps that a time means for a horizon.

    A share is max(1, ⌊p·T/100⌋) in exact arithmetic: floats would floor 29 % of 100 to 28.

    >>> steps("every", "29%", 100), steps("every", 500, 100)
    (29, 500)
    """
    if isinstance(value, str) and value.strip().endswith("%"):
        share = _fraction(field, value.strip()[:-1], value)
        if share <= 0:
            raise InputError(f"{field} must be above 0% but got {value!r}.")
        return _bounded(field, max(1, math.floor(share * horizon / 100)), value)
    if isinstance(value, str):
        try:
            return steps(field, int(value), horizon)
        except ValueError:
            raise InputError(
                f"{field} must be a number of steps, at least 1, or a share such as '10%' but got {value!r}."
            ) from None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{field} must be a whole number of steps or a share such as '10%' but got {value!r}.")
    if value < 1:
        raise InputError(f"{field} must be at least 1 step but got {value}.")
    return _bounded(field, value, value)


def share_of(field: str, value: object) -> Fraction:
    """A share as an exact fraction; a float is read as its shortest decimal.

    >>> share_of("fraction", "1/3"), share_of("fraction", 0.1), share_of("fraction", "25%")
    (Fraction(1, 3), Fraction(1, 10), Fraction(1, 4))
    """
    if isinstance(value, str) and value.strip().endswith("%"):
        share = _fraction(field, value.strip()[:-1], value) / 100
    else:
        # float() first: a NumPy float is a float, but its repr says more than the number.
        share = _fraction(field, repr(float(value)) if isinstance(value, float) else str(value), value)
    if not 0 < share <= 1:
        raise InputError(f"{field} must lie above 0 and at most at 1 but got {value!r}.")
    return share


def _bounded(field: str, count: int, given: object) -> int:
    if count > MOST_STEPS:
        raise InputError(f"{field} must be at most {MOST_STEPS} steps but got {given!r}.")
    return count


def _fraction(field: str, text: str, given: object) -> Fraction:
    try:
        if re.search(r"[eE][+-]?[\d_]{4}", text):
            raise ValueError("an exact fraction of such an exponent would fill the memory")
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{field} must be a number or a share such as '1/3' or '10%' but got {given!r}.") from None
