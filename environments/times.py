"""Times and shares as people write them: ``500`` steps, ``"10%"`` of the horizon, ``"1/3"`` of the arms."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from environments.errors import InputError

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
