import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import PublishedCCB
from tests.policies.reference import check_against_reference


class ReferencePublishedCCB:
    """m + (Δ/2)·sqrt(sqrt(T/(N + 1e-6))); after a pull with N ≥ M: Δ ← Δ/2, then M ← M + ⌈2·ln(TΔ²)/Δ²⌉."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.horizon = values["horizon"]
        self.delta, self.enough = 1.0, 0

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            n = len(self.rewards[k])
            bonus = self.delta / 2 * math.sqrt(math.sqrt(self.horizon / (n + 1e-6)))
            scores[k] = float(np.mean(self.rewards[k])) + bonus
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)
        if len(self.rewards[k]) >= self.enough and self.delta >= 1e-150:
            self.delta /= 2
            self.enough += math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize("params", [{}, {"horizon": 20.0}, {"horizon": 1.0}, {"horizon": 1e6}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("published-ccb", ReferencePublishedCCB, scenario, horizon=800, arms=5, params=params)
    assert ties == 0 or scenario == "bernoulli"


def test_state_stays_finite_when_the_deadline_decreases() -> None:
    """With a horizon of 1, every pull halves Δ until it vanishes."""
    policy = PublishedCCB(arms=2, horizon=1)
    for _ in range(3000):
        policy.update(policy.select(), 0.5)
    assert np.isfinite(policy.state()["cells"]).all()
    assert 0 < policy.state()["cells"][0] < 1e-150
