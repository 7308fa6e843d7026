import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferencePublishedEpsilonGreedy(ReferenceBase):
    """With probability 0.1 any open arm, uniformly; else argmax m."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.rng.random() < 0.1:
            return open_arms[int(self.rng.random() * len(open_arms))]
        return {k: float(np.mean(self.rewards[k])) for k in open_arms}


@pytest.mark.parametrize("scenario", ["stationary", "gradual-drift", "arm-churn", "blips", "bernoulli"])
def test_matches_reference_implementation(scenario: str) -> None:
    check_against_reference("published-epsilon-greedy", ReferencePublishedEpsilonGreedy, scenario, horizon=500, arms=6)
