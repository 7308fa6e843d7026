"""Checks of numbers that come from people, each with one clear line."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from environments.errors import InputError

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
