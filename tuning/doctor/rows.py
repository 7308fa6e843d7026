"""A check as plain data: what was looked at, what was found, whether it will do, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

OK, NOTE, PROBLEM = "ok", "note", "problem"


@dataclass(frozen=True)
class Check:
    """One row. A note works but is worth knowing; a problem will not work, or gives wrong results."""

    check: str
    found: str
    verdict: str = OK
    advice: str = ""


def problems(rows: Iterable[Check]) -> int:
    """How many rows are problems.

    >>> problems([Check("Python", "3.11.7"), Check("storage", "no folder", PROBLEM)])
    1
    """
    return sum(row.verdict == PROBLEM for row in rows)


def reason(error: BaseException) -> str:
    """The first line of what an error says, or its kind where it says nothing.

    >>> reason(ValueError("too small")), reason(KeyboardInterrupt())
    ('too small', 'KeyboardInterrupt')
    """
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
