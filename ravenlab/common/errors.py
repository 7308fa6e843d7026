"""Exceptions whose message is one line for the user."""

import difflib
from collections.abc import Iterable, Sequence

from ravenlab.common.text import escape_unprintable

MAX_NAME_LETTERS = 200  # of an unknown name in a message
MAX_LISTED_LETTERS = 300  # of the known names that a message lists
MAX_COMPARED_LETTERS = 200  # of an unknown name when the closest known one is searched
MIN_PREFIX_LETTERS = 2  # an unknown name of fewer letters is not completed


class InputError(ValueError):
    """Invalid input. The message is one line that names the field, the value and what is allowed.

    `field` is the invalid field under its name in the Python API. The command line adds the option for this field,
    prints the line to stderr and exits with code 2.

    >>> raise InputError("horizon must be at least 1 but got 0.")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: horizon must be at least 1 but got 0.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(_as_line(message))
        self.field = field


class ExternalError(RuntimeError):
    """A failure outside the program, such as a full disk or a lost connection. The command exits with code 1.

    Results that were stored before remain valid; running the same command again resumes.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_as_line(message))


def _as_line(message: str) -> str:
    """Return a message as one line. Names of files in it may hold control sequences of terminals, which are escaped."""
    return escape_unprintable(" ".join(message.splitlines()))


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InputError:
    """Create the error for an unknown name, with the known names and the closest of them.

    >>> print(unknown_name("scenario", "blip", ["blips", "stationary"]))
    unknown scenario 'blip'; did you mean 'blips'? Known: blips, stationary.
    """
    names = sorted(known)
    listed = ", ".join(names)
    if len(listed) > MAX_LISTED_LETTERS:
        listed = f"{listed[:MAX_LISTED_LETTERS].rpartition(', ')[0]}, … ({len(names)} in all)"
    shown = repr(name)
    if len(shown) > MAX_NAME_LETTERS:
        shown = f"{shown[:MAX_NAME_LETTERS]}…"
    return InputError(f"unknown {kind} {shown}{did_you_mean(name, names)} Known: {listed}.")


def did_you_mean(name: object, known: Sequence[str]) -> str:
    """End a sentence about an unknown name: with the closest known name, or with a full stop.

    >>> did_you_mean("blip", ["blips", "stationary"])
    "; did you mean 'blips'?"
    """
    closest = closest_name(name, known)
    return "." if closest is None else f"; did you mean '{closest}'?"


def closest_name(name: object, known: Sequence[str]) -> str | None:
    """Return the known name that the user most likely meant: the shortest one that begins like it, or a similar one.

    >>> closest_name("raven", ["d-raven", "raven-ucb"]), closest_name("Blip", ["blips"]), closest_name("x", ["blips"])
    ('raven-ucb', 'blips', None)
    """
    text = str(name)[:MAX_COMPARED_LETTERS].casefold()
    if len(text) >= MIN_PREFIX_LETTERS:
        beginning = [candidate for candidate in known if candidate.casefold().startswith(text)]
        if beginning:
            return min(beginning, key=lambda candidate: (len(candidate), candidate))
    by_folded = {candidate.casefold(): candidate for candidate in known}
    similar = difflib.get_close_matches(text, list(by_folded), n=1, cutoff=0.5)
    return by_folded[similar[0]] if similar else None
