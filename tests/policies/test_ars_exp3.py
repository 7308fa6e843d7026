import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.ars_exp3 import rounds_that_fit
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import RelativeWeights, scores_by_share


def count_rounds(horizon: int) -> int:
    """Return the number of rounds of 1, 2, 2, 2, 3, 3, … steps that fit into the horizon."""
    lengths = itertools.accumulate(1 + math.isqrt(j - 1) for j in itertools.count(1))
    return sum(1 for _ in itertools.takewhile(lambda end: end <= horizon, lengths))


class ReferenceARSEXP3:
    """Rounds by draws from w/W; at the end of a round, w ← w·exp(−λ·(1 − mean)/p)."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.weights = RelativeWeights(arms)
        self.fit = count_rounds(int(values["horizon"]))
        self.rounds, self.left = 0, 0
        self.arm: int | None = None
        self.seen: list[float] = []
        self.p: dict[int, float] = {}
        self.choosing = False

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.arm is not None:
            if self.left and self.arm in open_arms:
                self.left -= 1
                return self.arm
            count = len(self.p)
            rate = self.values["eta"] * math.sqrt(math.log(count) / (count * self.fit))
            self.weights.multiple[self.arm] *= math.exp(-rate * (1 - float(np.mean(self.seen))) / self.p[self.arm])
            self.weights.normalize(self.weights.open)
        self.p = self.weights.shares(open_arms)
        self.choosing = True
        return scores_by_share(self.p, self.rng.random())

    def learn(self, t: int, k: int, x: float) -> None:
        if self.choosing:
            self.rounds += 1
            self.arm, self.seen, self.choosing = k, [], False
            self.left = math.ceil(math.sqrt(self.rounds)) - 1
        if k == self.arm:
            low, high = self.values["low"], self.values["high"]
            self.seen.append(float(np.clip((x - low) / (high - low), 0, 1)))


@pytest.mark.parametrize("scenario", ["stationary", "delayed", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [{}, {"eta": 10.0}, {"eta": 0.01, "horizon": 3}, {"eta": 4.0, "low": 0.4, "high": 0.6}, {"horizon": 1}],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    assert check_against_reference("ars-exp3", ReferenceARSEXP3, scenario, horizon=500, arms=4, params=params) == 0


@pytest.mark.parametrize("arms", [1, 2, 6])
def test_matches_reference_with_arms_that_open_and_close(arms: int) -> None:
    world, params = "arm-churn+delayed", {"eta": 3.0}
    assert (
        check_against_reference(
            "ars-exp3", ReferenceARSEXP3, world, horizon=400, arms=arms, params=params, replications=4
        )
        == 0
    )


@pytest.mark.parametrize("horizon", [*range(1, 40), 1000, 9999, 10_000, 123_456])
def test_rounds_that_fit(horizon: int) -> None:
    assert rounds_that_fit(float(horizon)) == count_rounds(horizon)


def test_online_rewards_may_arrive_after_their_round() -> None:
    policy = find_policy("ars-exp3")(arms=3, horizon=1000, eta=5.0, seed=2)
    policy.update_many([0, 1, 2], [0.5, 0.5, 0.5])
    selected = [policy.select() for _ in range(200)]
    assert policy.state()["stats"][1] == [1.0, 1.0, 1.0]
    policy.update_many(selected, [0.1] * 200)
    following = [policy.select() for _ in range(200)]
    assert set(following) == {0, 1, 2}
    assert min(policy.state()["stats"][1]) < 1.0
