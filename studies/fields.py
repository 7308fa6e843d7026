"""Types of fields that specifications share. Strict: neither True nor "5" is a number."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

MOST_PLAYED = 100_000_000
"""Results that are held in memory at a time, 24 bytes each."""

Whole = Annotated[int, Field(strict=True)]
Real = Annotated[float, Field(strict=True)]
Text = Annotated[str, Field(strict=True, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


def printable(name: str | None) -> str | None:
    """A study's name as people may give it.

    >>> printable("mine")
    'mine'
    """
    if name is not None and (not name.isprintable() or name != name.strip()):
        raise ValueError(f"name must be printable, without space around it, but got {name!r}")
    return name


OwnName = Annotated[str | None, AfterValidator(printable)]
"""What a person calls a study."""
