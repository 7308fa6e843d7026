"""What specifications and results share: a frozen model, and types of fields.

Strict: neither True nor "5" is a number.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

MOST_PLAYED = 100_000_000
"""Results that are held in memory at a time, 24 bytes each."""

DEFAULT_POLICY = "raven-ucb"
"""Whose parameters are meant where nobody says."""


class Frozen(BaseModel):
    """What never changes once it is made, has no fields but its own, and no number that JSON has no word for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


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
