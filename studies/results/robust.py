"""Results of a search over several scenarios: one robust setting and its price."""

import operator
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from ravenlab.common.documents import Document, Result, make_frame
from ravenlab.common.interval import Difference, Interval
from ravenlab.studies.results.assumptions import describe_feedback
from ravenlab.studies.results.recommendation import (
    Edge,
    Estimate,
    Outcome,
    Parameters,
    RewardStatistics,
    WithoutBaselines,
)
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.fields import FrozenModel
from ravenlab.studies.tables import DataFrame


class TunedSetting(FrozenModel):
    """The setting recommended by the study of a single scenario, to be used if the scenario is known."""

    scenario: str
    study: str
    params: Parameters


@dataclass(frozen=True)
class Price(Difference):
    """Regret above that of the setting tuned for the scenario, as a share (0.1 is 10 %), with its 95 % interval."""


class ScenarioOutcome(FrozenModel):
    """Regret and price of a setting in one scenario, on held-out worlds."""

    scenario: str
    regret: Estimate
    price: Price


class EvaluatedSetting(FrozenModel):
    """A setting evaluated in every scenario."""

    name: str = Field(description="recommended, defaults, or tuned for a scenario.")
    tuned_for: str | None = Field(default=None, description="The scenario whose study recommends it.")
    params: Parameters
    worlds: list[ScenarioOutcome]
    price: Price = Field(description="Price over all scenarios according to the measure.")


class RobustRecommendation(WithoutBaselines, Result, FrozenModel):
    """One setting for an unknown scenario."""

    export_key: ClassVar[str] = "robust"

    study: str
    policy: str
    scenario: str = Field(description="All scenarios, joined by commas.")
    scenarios: list[str]
    settings: dict[str, int | float | str] = Field(default_factory=dict)
    horizon: int
    arms: int
    tuned: list[TunedSetting] = Field(description="The recommendation of each scenario's own study.")
    trials: int
    seed: int
    version: str
    verdict: Verdict
    params: Parameters = Field(description="Recommended values of the searched and the fixed parameters.")
    measure: str
    price: Price = Field(description="Price of not knowing the scenario, according to the measure.")
    search_estimate: float = Field(description="Relative regret in the search; optimistically biased.")
    indistinguishable: list[Parameters] = Field(description="Candidates statistically indistinguishable from the best.")
    box: dict[str, tuple[float, float]] = Field(description="Range of each parameter over these candidates.")
    contenders: list[EvaluatedSetting] = Field(
        description="This setting, the tuned setting of each scenario, and the defaults, each evaluated everywhere."
    )
    importance: dict[str, float] | None = Field(description="Parameter importance by PED-ANOVA; none below 20 trials.")
    edge: list[Edge] = Field(default_factory=list)
    widened: dict[str, tuple[float, float]] = Field(
        default_factory=dict,
        exclude_if=operator.not_,
        description="Search ranges that were widened because the best trials were at their edge.",
    )
    unit: float = Field(default=1.0, description="Scale c of the rewards, by which ranges and defaults are multiplied.")
    scales: list[RewardStatistics] = Field(description="Reward scale of each scenario.")

    @property
    def outcomes(self) -> list[Outcome]:
        """The regret in each scenario."""
        worlds = self.contenders[0].worlds
        return [Outcome(each.scenario, each.regret, scale) for each, scale in zip(worlds, self.scales, strict=True)]

    @property
    def objective(self) -> str:
        """Objective of the search."""
        return f"robust:{self.measure}"

    @property
    def holds_for(self) -> list[str]:
        """What the parameters hold for, in sentences."""
        return [describe_feedback(self.scenarios)]

    @property
    def stated(self) -> tuple[str, Interval]:
        """The name of the estimate that the export states, and the estimate."""
        return f"price of not knowing the scenario ({self.measure})", self.price

    def to_frame(self) -> DataFrame:
        """Tabulate this setting, the tuned ones and the defaults in pandas, one row per scenario."""
        return make_frame(
            {
                "study": self.study,
                "setting": setting.name,
                **setting.params,
                "scenario": world.scenario,
                **world.regret.as_columns("regret"),
                **world.price.as_columns("price"),
            }
            for setting in self.contenders
            for world in setting.worlds
        )

    def to_document(self) -> Document:
        from ravenlab.studies.results.documents import robust_document

        return robust_document(self)
