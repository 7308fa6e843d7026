"""What grids and comparisons have in common: a scenario that is played under a seed, kept under a name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from environments import Scenario
from environments.scenario import LONGEST_HORIZON
from studies.fields import Frozen, Name, OwnName, Real, Text, Whole
from studies.identity import differences_in_words
from studies.registry import StudyDefaults
from studies.source import ScenarioSource, resolve_size


class PlayedSpec(Frozen, ABC):
    """Where and under which seed something is played."""

    scenario: str = Field(max_length=300)
    settings: dict[Name, Whole | Real | Text] = Field(default_factory=dict, max_length=100)
    horizon: int | None = Field(default=None, strict=True, ge=1, le=LONGEST_HORIZON)
    arms: int | None = Field(default=None, strict=True, ge=1, le=LONGEST_HORIZON)
    seed: int = Field(default=StudyDefaults.seed, strict=True, ge=0, le=2**63 - 1)
    name: OwnName = Field(default=None, min_length=1, max_length=400)

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
    def resolved(self) -> PlayedSpec:
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

    def differences(self, stored: PlayedSpec) -> list[str]:
        """In words, where what is stored would not be comparable with what this asks for."""
        return differences_in_words(self.identity(), stored.identity())
