from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.policies.reference import check_against_reference


class ReferencePublishedUCB1:
    """m + sqrt(2·ln t / (N+1))."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(2 * math.log(t) / (len(self.rewards[k]) + 1))
            for k in open_arms
        }

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
def test_matches_reference_implementation(scenario: str) -> None:
    ties = check_against_reference("published-ucb1", ReferencePublishedUCB1, scenario, horizon=500, arms=6)
    assert ties == 0 or scenario == "bernoulli"
