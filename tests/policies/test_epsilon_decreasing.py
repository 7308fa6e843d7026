import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceEpsilonDecreasing(ReferenceBase):
    """With probability min(1, r·K / t) any open arm, else argmax m."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.rng.random() < min(1.0, self.values["r"] * len(open_arms) / t):
            return open_arms[int(self.rng.random() * len(open_arms))]
        return {k: float(np.mean(self.rewards[k])) for k in open_arms}


@pytest.mark.parametrize("scenario", ["stationary", "gradual-drift", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("r", [10.0, 0.01, 1e4])
def test_matches_reference_implementation(scenario: str, r: float) -> None:
    ties = check_against_reference(
        "epsilon-decreasing", ReferenceEpsilonDecreasing, scenario, horizon=500, arms=5, params={"r": r}
    )
    assert ties == 0 or scenario == "bernoulli"
