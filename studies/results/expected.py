"""Parameters with an expected regret: the answer of a law, or a policy that has nothing to tune."""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from pydantic import Field

from ravenlab.common.interval import Interval
from ravenlab.studies.results.assumptions import describe_feedback
from ravenlab.studies.results.recommendation import Edge, Outcome, Parameters, Recommendation, WithoutBaselines
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.fields import FrozenModel


class ExpectedParameters(WithoutBaselines, FrozenModel):
    """Parameters that no study has validated, as exported; there are no trials, worlds or baselines to state."""

    export_key: ClassVar[str] = "expected"
    edge: ClassVar[Sequence[Edge]] = ()
    box: ClassVar[dict[str, tuple[float, float]]] = {}
    importance: ClassVar[None] = None

    study: str = Field(description="Name under which a policy is loaded.")
    policy: str
    scenario: str
    settings: dict[str, Any] = Field(default_factory=dict)
    horizon: int
    arms: int
    params: Parameters
    regret: Interval = Field(description="Expected mean regret.")
    unit: float = Field(default=1.0, description="Scale c of the rewards, by which parameters are multiplied.")
    version: str

    @property
    def verdict(self) -> Verdict:
        """Use the values."""
        return Verdict(decision="use these values", set=list(self.params))

    @property
    def outcomes(self) -> list[Outcome]:
        """The expected regret."""
        return [Outcome(self.scenario, self.regret)]

    @property
    def holds_for(self) -> list[str]:
        """What the parameters hold for, in sentences."""
        return [describe_feedback([self.scenario])]

    @property
    def stated(self) -> tuple[str, Interval]:
        """The name of the estimate that the export states, and the estimate."""
        return "expected mean regret", self.regret


Advice: TypeAlias = Recommendation | RobustRecommendation | ExpectedParameters
"""Whatever recommends parameters, can be exported, and has a row in tables."""
