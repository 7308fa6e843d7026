"""What a policy created from a recommendation needs besides its parameters: feedback, names and further arms."""

from typing import Literal

from pydantic import Field

from ravenlab.common.errors import InputError
from ravenlab.environments.catalog import find_scenario
from ravenlab.studies.results.expected import Advice
from ravenlab.studies.spec.fields import FrozenModel, optional


class Deployment(FrozenModel):
    """Fields of an exported recommendation that state how its policy is used."""

    feedback: Literal["rewards", "costs"] = Field(description="What the policy takes in `update`.")
    names: list[str] | None = optional("Names of the arms in their order; absent if arms are numbers.")
    extra_arms: int = Field(default=0, description="Arms that open later: the last ones of a loaded policy, closed.")
    assumptions: list[str] = Field(description="What the parameters hold for, in sentences.")


def describe_deployment(recommendation: Advice) -> Deployment:
    """Return how the policy of a recommendation is used."""
    recorded = recommendation.recorded
    assumptions = recommendation.holds_for
    if recorded is None:
        later = max(count_extra_arms(outcome.scenario) for outcome in recommendation.outcomes)
        return Deployment(feedback="rewards", extra_arms=later, assumptions=assumptions)
    feedback: Literal["rewards", "costs"] = "costs" if recorded.minimize else "rewards"
    return Deployment(feedback=feedback, names=list(recorded.arms), assumptions=assumptions)


def count_extra_arms(scenario: str) -> int:
    """Return the number of arms that open later; 0 for a plugin that is not loaded."""
    try:
        return find_scenario(scenario).extra_arms
    except InputError:
        return 0
