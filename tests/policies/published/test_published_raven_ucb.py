import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.policies.reference import check_against_reference


def accumulated(rewards: list[float]) -> float:
    """Return Σ (x_n − m_{n−1})(x_n − m_n)/(n − 1) over n > 1."""
    x, n = np.array(rewards), np.arange(1, len(rewards) + 1)
    mean = np.cumsum(x) / n
    return float(np.sum((x[1:] - mean[:-1]) * (x[1:] - mean[1:]) / (n[1:] - 1)))


class ReferencePublishedRavenUCB:
    """m + 0.5/ln(t + 1e-6)·sqrt(ln t/(N+1)) + sqrt(S²/(N+1) + 1e-6), S² accumulated."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.variance = [0.0] * arms

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            n = len(self.rewards[k])
            decaying = 0.5 / math.log(t + 1e-6) * math.sqrt(math.log(t) / (n + 1))
            scores[k] = float(np.mean(self.rewards[k])) + decaying + math.sqrt(self.variance[k] / (n + 1) + 1e-6)
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)
        self.variance[k] = accumulated(self.rewards[k])


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
def test_matches_reference_implementation(scenario: str) -> None:
    ties = check_against_reference("published-raven-ucb", ReferencePublishedRavenUCB, scenario, horizon=300, arms=5)
    assert ties == 0 or scenario == "bernoulli"
