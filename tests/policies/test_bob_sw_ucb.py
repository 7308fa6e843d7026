import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceBobSWUCB(ReferenceBase):
    """SW-UCB on z within blocks of H rewards; EXP3 draws the window of each block."""

    def __init__(self, arms: int, horizon: int, values: Any, rng: np.random.Generator) -> None:
        super().__init__(arms, horizon, values, rng)
        block = int(values["block"])
        steps = math.ceil(math.log(block))
        self.windows = [math.floor(block ** (j / steps)) for j in range(steps + 1)] if steps else [1]
        count = len(self.windows)
        rounds = math.ceil(values["horizon"] / block)
        self.gamma = min(1.0, math.sqrt(count * math.log(count) / ((math.e - 1) * rounds)))
        self.weights = np.ones(count)
        self.seen: list[tuple[int, float]] = []
        self.place, self.p = -1, np.ones(count)

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        window = self.windows[self.place] if self.seen else 1
        recent = {k: [z for arm, z in self.seen[-window:] if arm == k] for k in open_arms}
        for k in open_arms:
            if not recent[k]:
                return k
        bonus = self.values["xi"] * math.log(min(len(self.seen) + 1, window))
        return {k: float(np.mean(recent[k])) + math.sqrt(bonus / len(recent[k])) for k in open_arms}

    def learn(self, t: int, k: int, x: float) -> None:
        if not self.seen:
            self.p = (1 - self.gamma) * self.weights / self.weights.sum() + self.gamma / len(self.weights)
            self.place = min(int((np.cumsum(self.p) <= self.rng.random()).sum()), len(self.p) - 1)
        low, high = self.values["low"], self.values["high"]
        self.seen.append((k, float(np.clip((x - low) / (high - low), 0, 1))))
        if len(self.seen) == self.values["block"]:
            gain = float(np.mean([z for _, z in self.seen])) / self.p[self.place]
            self.weights[self.place] *= math.exp(self.gamma * gain / len(self.p))
            self.seen = []


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "delayed"])
@pytest.mark.parametrize("params", [{}, {"block": 1}, {"block": 150, "xi": 0.01}, {"xi": 2.0, "low": -1.0}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("bob-sw-ucb", ReferenceBobSWUCB, scenario, horizon=600, arms=4, params=params)


def test_defaults_follow_the_horizon() -> None:
    assert find_policy("bob-sw-ucb").resolve({}, 10, 10_000)["block"] == math.ceil(math.sqrt(100_000))
    assert find_policy("bob-sw-ucb").resolve({}, 10, 4)["block"] == 4
