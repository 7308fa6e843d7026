import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferencePublishedUCB1(ReferenceBase):
    """m + sqrt(2·ln t / (N+1))."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(2 * math.log(t) / (len(self.rewards[k]) + 1))
            for k in open_arms
        }


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
def test_matches_reference_implementation(scenario: str) -> None:
    ties = check_against_reference("published-ucb1", ReferencePublishedUCB1, scenario, horizon=500, arms=6)
    assert ties == 0 or scenario == "bernoulli"
