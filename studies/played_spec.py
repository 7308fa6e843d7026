"""What grids and comparisons have in common: a scenario that is played under a seed, kept under a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field

from environments import Scenario, find_scenario
from environments.scenario import LONGEST_HORIZON
from studies.fields import Frozen, Name, OwnName, Real, Text, Whole
from studies.identity import differences_in_words
from studies.registry import StudyDefaults


class PlayedSpec(Frozen):
    """Where and under which seed something is played.

    >>> PlayedSpec(scenario="blips", horizon=100).resolved().arms
    10
    """

    scenario: str = Field(max_length=300)
    settings: dict[Name, Whole | Real | Text] = Field(default_factory=dict, max_length=100)
    horizon: int | None = Field(default=None, strict=True, ge=1, le=LONGEST_HORIZON)
    arms: int | None = Field(default=None, strict=True, ge=1, le=LONGEST_HORIZON)
    seed: int = Field(default=StudyDefaults.seed, strict=True, ge=0, le=2**63 - 1)
    name: OwnName = Field(default=None, min_length=1, max_length=400)

    def world(self) -> Scenario:
        """The scenario with its settings."""
        return find_scenario(self.scenario, dict(self.settings))

    def resolved(self) -> Self:
        """The same with horizon and arms written out."""
        world = self.world()
        update = {"scenario": world.name, "horizon": self.horizon or world.horizon, "arms": self.arms or world.arms}
        return self.model_copy(update=update)

    def beside_usual(self, fields: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Some fields as they are, and as they are if nothing is said."""
        known = type(self).model_fields
        usual = {field: known[field].get_default(call_default_factory=True) for field in fields}
        return {field: getattr(self, field) for field in fields}, usual

    def identity(self) -> dict[str, Any]:
        """What makes results comparable: everything but the name, every default written out."""
        return self.resolved().model_dump(mode="json", exclude={"name"})

    def differences(self, stored: Self) -> list[str]:
        """In words, where what is stored would not be comparable with what this asks for.

        >>> PlayedSpec(scenario="blips", seed=1).differences(PlayedSpec(scenario="blips"))
        ['seed was 0, now 1']
        """
        return differences_in_words(self.identity(), stored.identity())
