import numpy as np
import pytest

from ravenlab.policies.engine.simulation import simulate
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


def test_explores_uniformly() -> None:
    """A tenth of the steps is distributed uniformly over all arms, including the last."""
    result = simulate("published-epsilon-greedy", "stationary", horizon=20_000, arms=5, replications=4, pulls=True)
    assert result.pulls is not None
    for pulls in result.pulls:
        counts = np.sort(np.bincount(pulls, minlength=5))[:3]
        assert (counts > 400 - 5 * 20).all()
