import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceUCB1(ReferenceBase):
    """m + sqrt(c·ln t / N)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(self.values["c"] * math.log(t) / len(self.rewards[k]))
            for k in open_arms
        }


@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "blips", "bernoulli", "delayed"])
@pytest.mark.parametrize("params", [{}, {"c": 0.05}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("ucb1", ReferenceUCB1, scenario, horizon=600, arms=5, params=params)
    assert ties == 0 or scenario == "bernoulli"
