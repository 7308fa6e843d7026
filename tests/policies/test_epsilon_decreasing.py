from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.policies.reference import check_against_reference


class ReferenceEpsilonDecreasing:
    """With probability min(1, r·K / t) any open arm, else argmax m."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.r, self.rng = values["r"], rng
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.rng.random() < min(1.0, self.r * len(open_arms) / t):
            return open_arms[int(self.rng.random() * len(open_arms))]
        return {k: float(np.mean(self.rewards[k])) for k in open_arms}

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "gradual-drift", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("r", [10.0, 0.01, 1e4])
def test_matches_reference_implementation(scenario: str, r: float) -> None:
    ties = check_against_reference(
        "epsilon-decreasing", ReferenceEpsilonDecreasing, scenario, horizon=500, arms=5, params={"r": r}
    )
    assert ties == 0 or scenario == "bernoulli"
