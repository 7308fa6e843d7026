"""What specifications and results share: a frozen model, and types of fields.

Strict: neither True nor "5" is a number.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from environments import Scenario
from environments.errors import unknown_name
from environments.scenario import MAX_HORIZON
from studies.registry import PRUNERS, SAMPLERS, StudyDefaults
from studies.spec.source import ScenarioSource, resolve_size

MAX_RESULTS = 100_000_000
"""Results that are held in memory at a time, 24 bytes each."""


class FrozenModel(BaseModel):
    """What never changes once it is made, has no fields but its own, and no number that JSON has no word for."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


Whole = Annotated[int, Field(strict=True)]
Real = Annotated[float, Field(strict=True)]
ShortText = Annotated[str, Field(strict=True, max_length=200)]
ParamName = Annotated[str, Field(min_length=1, max_length=100)]


def check_printable(name: str | None) -> str | None:
    """A study's name as people may give it.

    >>> check_printable("mine")
    'mine'
    """
    if name is not None and (not name.isprintable() or name != name.strip()):
        raise ValueError(f"name must be printable, without space around it, but got {name!r}")
    return name


StudyName = Annotated[str | None, AfterValidator(check_printable)]
"""What a person calls a study."""


def check_registered(field: str, choices: Mapping[str, object], name: str) -> str:
    """The name itself if it is registered.

    >>> check_registered("sampler", SAMPLERS, "tpe")
    'tpe'
    """
    if name not in choices:
        raise unknown_name(field, name, choices)
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


def short_hash(text: str, letters: int = 4) -> str:
    """What stands behind the name of a study that is not the usual one of that name.

    >>> short_hash("{}")
    '~4413'
    """
    return f"~{hashlib.sha256(text.encode()).hexdigest()[:letters]}"


def hash_unless_default(mine: Mapping[str, Any], usual: Mapping[str, Any], letters: int = 4) -> str:
    """Nothing where all fields are as usual.

    >>> hash_unless_default({"seed": 0}, {"seed": 0})
    ''
    """
    return "" if mine == usual else short_hash(json.dumps(mine, sort_keys=True, default=list), letters)


def describe_differences(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """Where what is asked for now is not what was stored, field by field.

    >>> describe_differences({"seed": 1, "arms": 3}, {"seed": 0, "arms": 3})
    ['seed was 0, now 1']
    """
    return [f"{key} was {theirs.get(key)}, now {mine[key]}" for key in mine if mine[key] != theirs.get(key)]


class SimulatedSpec(FrozenModel, ABC):
    """Where and under which seed something is played."""

    scenario: str = Field(max_length=300)
    settings: dict[ParamName, Whole | Real | ShortText] = Field(default_factory=dict, max_length=100)
    horizon: int | None = Field(default=None, strict=True, ge=1, le=MAX_HORIZON)
    arms: int | None = Field(default=None, strict=True, ge=1, le=MAX_HORIZON)
    seed: int = Field(default=StudyDefaults.seed, strict=True, ge=0, le=2**63 - 1)
    name: StudyName = Field(default=None, min_length=1, max_length=400)

    @property
    def source(self) -> ScenarioSource:
        """The scenario that is simulated."""
        return ScenarioSource(self.scenario, self.settings)

    def open_scenario(self) -> Scenario:
        """The scenario with its settings."""
        return self.source.open()

    def size(self) -> tuple[int, int]:
        """Horizon and arms, the scenario's own where none are given."""
        return resolve_size(self.source, self.horizon, self.arms)

    @abstractmethod
    def resolved(self) -> SimulatedSpec:
        """The same with horizon and arms filled in, as it is stored."""

    def resolved_fields(self) -> dict[str, Any]:
        """All fields, with horizon and arms filled in."""
        horizon, arms = self.size()
        return {**dict(self), **self.source.resolved_fields(), "horizon": horizon, "arms": arms}

    def beside_usual(self, fields: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Some fields as they are, and as they are if nothing is said."""
        known = type(self).model_fields
        usual = {field: known[field].get_default(call_default_factory=True) for field in fields}
        return {field: getattr(self, field) for field in fields}, usual

    def identity(self) -> dict[str, Any]:
        """What makes results comparable: everything but the name, every default written out."""
        return self.resolved().model_dump(mode="json", exclude={"name"})

    def differences(self, stored: SimulatedSpec) -> list[str]:
        """In words, where what is stored would not be comparable with what this asks for."""
        return describe_differences(self.identity(), stored.identity())
