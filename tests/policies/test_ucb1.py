from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.policies.reference import check_against_reference


class ReferenceUCB1:
    """m + sqrt(c·ln t / N)."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.c = values["c"]
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(self.c * math.log(t) / len(self.rewards[k]))
            for k in open_arms
        }

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "blips", "bernoulli", "delayed"])
@pytest.mark.parametrize("params", [{}, {"c": 0.05}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("ucb1", ReferenceUCB1, scenario, horizon=600, arms=5, params=params)
    assert ties == 0 or scenario == "bernoulli"
