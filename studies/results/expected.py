"""Whatever recommends parameters: studies, searches over scenarios, laws; and how a policy with them is deployed."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import Field

from ravenlab.common.interval import Interval
from ravenlab.studies.results.assumptions import describe_feedback, find_loaded
from ravenlab.studies.results.recommendation import Edge, Outcome, Parameters, Recommendation, WithoutBaselines
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.fields import FrozenModel, optional


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


class PolicyInstead(FrozenModel):
    """Another policy that the verdict advises, and its parameters."""

    policy: str
    params: Parameters


class Deployment(FrozenModel):
    """Fields of an exported recommendation that state how its policy is used."""

    feedback: Literal["rewards", "costs"] = Field(description="What the policy takes in `update`.")
    names: list[str] | None = optional("Names of the arms in their order; absent if arms are numbers.")
    extra_arms: int = Field(default=0, description="Arms that open later: the last ones of a loaded policy, closed.")
    assumptions: list[str] = Field(description="What the parameters hold for, in sentences.")
    instead: PolicyInstead | None = optional("The better policy that the verdict advises; `Policy.load` creates it.")


def describe_deployment(recommendation: Advice) -> Deployment:
    """Return how the policy of a recommendation is used."""
    recorded = recommendation.source if isinstance(recommendation, Recommendation) else None
    assumptions = recommendation.holds_for
    instead = find_instead(recommendation)
    if recorded is None:
        later = max(count_extra_arms(outcome.scenario) for outcome in recommendation.outcomes)
        return Deployment(feedback="rewards", extra_arms=later, assumptions=assumptions, instead=instead)
    feedback: Literal["rewards", "costs"] = "costs" if recorded.minimize else "rewards"
    return Deployment(feedback=feedback, names=list(recorded.arms), assumptions=assumptions, instead=instead)


def find_instead(recommendation: Advice) -> PolicyInstead | None:
    """Return the policy to use instead of the tuned one, if the verdict advises another."""
    name = recommendation.verdict.policy
    if name is None or not isinstance(recommendation, Recommendation):
        return None
    params = next((each.params for each in recommendation.alternatives if each.name == name), {})
    return PolicyInstead(policy=name, params=dict(params))


def count_extra_arms(scenario: str) -> int:
    """Return the number of arms that open later; 0 for a plugin that is not loaded."""
    loaded = find_loaded(scenario)
    return 0 if loaded is None else loaded.extra_arms
