import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceRavenUCB(ReferenceBase):
    """M + α_t·sqrt(ln(t+1)/(N+1)) + β₀·sqrt(S²/(N+1) + ε), α_t = α₀/ln(t+ε)."""

    def variance(self, rewards: list[float]) -> float:
        if len(rewards) < 2:
            return 0.0
        if self.values["variance"] == "welford":
            return float(np.var(rewards, ddof=1))
        s2 = 0.0
        for n in range(2, len(rewards) + 1):
            x, old, new = rewards[n - 1], float(np.mean(rewards[: n - 1])), float(np.mean(rewards[:n]))
            d = (x - old) * (x - new)
            s2 = (s2 + d) / (n - 1) if self.values["variance"] == "printed" else s2 + d / (n - 1)
        return s2

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        v = self.values
        log_t = math.log(t + 1) if v["logarithm"] == "t+1" else math.log(t)
        alpha_t = v["alpha0"] / math.log(t + v["epsilon"])
        scores = {}
        for k in open_arms:
            n = len(self.rewards[k])
            bonus = alpha_t * math.sqrt(log_t / (n + 1))
            spread = v["beta0"] * math.sqrt(self.variance(self.rewards[k]) / (n + 1) + v["epsilon"])
            scores[k] = float(np.mean(self.rewards[k])) + bonus + spread
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "variance-drift", "localized-jump", "arm-churn", "delayed"])
@pytest.mark.parametrize("params", [{}, {"alpha0": 5.0, "beta0": 0.3, "epsilon": 0.01}, {"epsilon": 20.0}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    assert check_against_reference("raven-ucb", ReferenceRavenUCB, scenario, horizon=500, arms=5, params=params) == 0


@pytest.mark.parametrize("variance", ["printed", "accumulated"])
@pytest.mark.parametrize("logarithm", ["t", "t+1"])
def test_published_variants_match_reference_implementation(variance: str, logarithm: str) -> None:
    params = {"beta0": 3.0, "variance": variance, "logarithm": logarithm}
    assert check_against_reference("raven-ucb", ReferenceRavenUCB, "blips", horizon=200, arms=4, params=params) == 0
