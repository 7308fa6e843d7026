import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferencePublishedUCBV(ReferenceBase):
    """m + sqrt(S²)·sqrt(2·ln t / (N+1)) + 3·ln t / (N+1) with S² = Σ (x_n − m_{n−1})(x_n − m_n)/(n − 1)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            x = np.array(self.rewards[k])
            n = np.arange(1, x.size + 1)
            mean = np.cumsum(x) / n
            variance = float(np.sum((x[1:] - mean[:-1]) * (x[1:] - mean[1:]) / (n[1:] - 1)))
            scores[k] = (
                float(np.mean(x))
                + math.sqrt(max(0.0, variance)) * math.sqrt(2 * math.log(t) / (x.size + 1))
                + 3 * math.log(t) / (x.size + 1)
            )
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
def test_matches_reference_implementation(scenario: str) -> None:
    ties = check_against_reference("published-ucb-v", ReferencePublishedUCBV, scenario, horizon=400, arms=6)
    assert ties == 0 or scenario == "bernoulli"
