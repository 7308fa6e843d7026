"""What specifications and results share: a frozen model, and types of fields.

Strict: neither True nor "5" is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from environments.errors import unknown
from studies.registry import PRUNERS, SAMPLERS

MOST_PLAYED = 100_000_000
"""Results that are held in memory at a time, 24 bytes each."""


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


def check_registered(field: str, choices: Mapping[str, object], name: str) -> str:
    """The name itself if it is registered.

    >>> check_registered("sampler", SAMPLERS, "tpe")
    'tpe'
    """
    if name not in choices:
        raise unknown(field, name, choices)
    return name


def _enum_of(choices: Mapping[str, object]) -> Callable[[dict[str, Any]], None]:
    """The names of a registry for the JSON Schema."""
    return lambda schema: schema.update(enum=list(choices))


SamplerName = Annotated[
    str,
    AfterValidator(partial(check_registered, "sampler", SAMPLERS)),
    Field(json_schema_extra=_enum_of(SAMPLERS)),
]
PrunerName = Annotated[
    str,
    AfterValidator(partial(check_registered, "pruner", PRUNERS)),
    Field(json_schema_extra=_enum_of(PRUNERS)),
]
