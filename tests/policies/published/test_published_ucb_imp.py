import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import PublishedUCBImp
from tests.policies.reference import check_against_reference


class ReferencePublishedUCBImp:
    """A random active arm; when all active ones have n_m pulls, drop those with m + r < max(m − r)."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.rewards: list[list[float]] = [[] for _ in range(arms)]
        self.horizon, self.rng = values["horizon"], rng
        self.round = 0
        self.last_round = math.floor(0.5 * math.log2(self.horizon / math.e))
        self.dropped: set[int] = set()

    def decide(self, t: int, open_arms: list[int]) -> int:
        self.dropped &= set(open_arms)
        if self.dropped == set(open_arms):
            self.dropped = set()
        active = [k for k in open_arms if k not in self.dropped]
        if self.round <= self.last_round:
            delta = 2.0**-self.round
            logarithm = math.log(self.horizon * delta**2)
            enough = math.ceil(2 * logarithm / delta**2)
            if all(len(self.rewards[k]) >= enough for k in active):
                r = math.sqrt(logarithm / (2 * enough))
                mean = {k: float(np.mean(self.rewards[k])) for k in active}
                self.dropped |= {k for k in active if mean[k] + r < max(mean.values()) - r}
                self.round += 1
                active = [k for k in open_arms if k not in self.dropped]
        return active[int(self.rng.random() * len(active))]

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize("params", [{}, {"horizon": 30.0}, {"horizon": 1.0}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("published-ucb-imp", ReferencePublishedUCBImp, scenario, horizon=800, arms=5, params=params)


def test_all_arms_become_active_when_the_last_active_arm_closes() -> None:
    policy = PublishedUCBImp(arms=3, seed=1, horizon=2000)
    pulled = []
    for _ in range(2000):
        pulled.append(policy.select())
        policy.update(pulled[-1], [0.0, 1.0, 0.0][pulled[-1]])
    assert set(pulled[-500:]) == {1}
    policy.close(1)
    assert {policy.select() for _ in range(50)} == {0, 2}
    policy.open(1)
    assert {policy.select() for _ in range(50)} == {0, 1, 2}
