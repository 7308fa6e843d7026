import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceEpsilonGreedy(ReferenceBase):
    """With probability ε any open arm, else argmax m."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.rng.random() < self.values["epsilon"]:
            return open_arms[int(self.rng.random() * len(open_arms))]
        return {k: float(np.mean(self.rewards[k])) for k in open_arms}


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("epsilon", [0.1, 0.0, 0.5, 1.0])
def test_matches_reference_implementation(scenario: str, epsilon: float) -> None:
    ties = check_against_reference(
        "epsilon-greedy", ReferenceEpsilonGreedy, scenario, horizon=400, arms=5, params={"epsilon": epsilon}
    )
    assert ties == 0 or scenario == "bernoulli"
