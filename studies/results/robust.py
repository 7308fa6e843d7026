"""What a search over several worlds ends in: one setting and the price of not knowing the world, or a Pareto front."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from studies.results.recommendation import Edge, Estimate, Parameters, Recommendation, RewardScale
from studies.spec.fields import FrozenModel


class TunedSetting(FrozenModel):
    """The setting that a scenario's own study recommends: what one would use, knowing the world."""

    scenario: str
    study: str
    params: Parameters


class Price(FrozenModel):
    """By what share regret lies above that of the setting tuned for the world, with its 95 % interval; 0.1 is 10 %."""

    mean: float
    low: float
    high: float


class ScenarioOutcome(FrozenModel):
    """How a setting did in one scenario, on the report worlds."""

    scenario: str
    regret: Estimate
    price: Price


class EvaluatedSetting(FrozenModel):
    """A setting in every scenario."""

    name: str = Field(description="recommended, defaults, tuned for a scenario, or the number of a trial.")
    tuned_for: str | None = Field(default=None, description="The scenario whose own study recommends it.")
    params: Parameters
    worlds: list[ScenarioOutcome]
    price: Price = Field(description="Over all scenarios, by the measure.")


class _Outcome(FrozenModel):
    """What both kinds say of the study."""

    study: str
    policy: str
    scenario: str = Field(description="All scenarios, joined by commas.")
    scenarios: list[str]
    settings: dict[str, int | float | str] = Field(default_factory=dict)
    horizon: int
    arms: int
    tuned: list[TunedSetting] = Field(description="What each scenario's own study recommends.")
    trials: int
    seed: int
    version: str

    def as_object(self) -> dict[str, Any]:
        """Plain JSON, fields in their order."""
        return self.model_dump(mode="json")


class RobustRecommendation(_Outcome):
    """One setting for an unknown world."""

    params: Parameters = Field(description="What to use: searched and fixed parameters.")
    measure: str
    price: Price = Field(description="Of not knowing the world: by the measure, over the scenarios.")
    search_estimate: float = Field(description="Relative regret by the measure as the search saw it.")
    indistinguishable: list[Parameters] = Field(description="Candidates that the selection can't tell from the best.")
    box: dict[str, tuple[float, float]] = Field(description="Smallest box around them.")
    contenders: list[EvaluatedSetting] = Field(
        description="This one, each scenario's tuned one and the defaults, everywhere."
    )
    importance: dict[str, float] | None = Field(description="PED-ANOVA; none below 20 trials.")
    edge: list[Edge] = Field(default_factory=list)
    scales: list[RewardScale] = Field(description="Rewards of each scenario.")

    def rows(self) -> list[Recommendation]:
        """The same as ordinary recommendations, one a scenario, for tables."""
        return [
            Recommendation(
                study=self.study,
                policy=self.policy,
                scenario=world.scenario,
                settings=self.settings,
                horizon=self.horizon,
                arms=self.arms,
                params=self.params,
                objective=f"robust:{self.measure}",
                regret=world.regret,
                search_estimate=self.search_estimate,
                indistinguishable=self.indistinguishable,
                box=self.box,
                versus=[],
                importance=self.importance,
                edge=self.edge,
                scale=scale,
                trials=self.trials,
                seed=self.seed,
                version=self.version,
            )
            for world, scale in zip(self.contenders[0].worlds, self.scales, strict=True)
        ]


def flatten_recommendations(found: Iterable[Recommendation | RobustRecommendation]) -> list[Recommendation]:
    """What tables show: a row a recommendation, and a row a scenario of one for several."""
    return [row for each in found for row in (each.rows() if isinstance(each, RobustRecommendation) else [each])]


class FrontMember(EvaluatedSetting):
    """A candidate of the front, measured anew."""

    trial: int | None = Field(description="Its number, where it was on the front that the search saw.")
    kept: bool = Field(description="Whether nothing beats it on fresh worlds either.")


class Front(_Outcome):
    """Settings of which none is beaten by another in every scenario."""

    members: list[FrontMember] = Field(description="Those of the search's front, the tuned ones and the defaults.")

    def kept(self) -> list[FrontMember]:
        """Those that are on the front of fresh worlds too."""
        return [member for member in self.members if member.kept]
