"""The one exception for input that a person can mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


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
