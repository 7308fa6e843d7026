import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.adr_ucb import ALARMS, MONITORED
from ravenlab.policies.engine.simulation import simulate
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceRestart
from tests.policies.test_glr_klucb import splits


class ReferenceADRUCB(ReferenceRestart):
    """UCB1 since the last restart of all arms, which follows a test of all splits; two arms are monitored in blocks."""

    monitored_pulls = 0

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        super().__init__(arms, horizon, values, rng)
        self.arms = arms
        self.forget()

    def forget(self) -> None:
        self.drawn = [0] * self.arms
        self.block, self.now, self.later = 1, -1, -1

    def monitored(self, s: int) -> int:
        return {0: self.now, 1: self.later}.get(s % self.arms, -1)

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        unknown = self.restarted_arm(open_arms)
        if unknown is not None:
            return unknown
        s = t - self.restarted[0]
        if self.monitored(s) >= 0:
            type(self).monitored_pulls += 1
            return self.monitored(s)
        bonus = self.values["xi"] * math.log(s)
        return {k: float(np.mean(self.rewards[k])) + math.sqrt(bonus / len(self.rewards[k])) for k in open_arms}

    def differs(self, z: list[float]) -> bool:
        level, n = math.log(1 / self.values["delta"]) / 2, len(z)
        return any(
            abs(float(np.mean(z[:i]) - np.mean(z[i:]))) > math.sqrt(level / i) + math.sqrt(level / (n - i))
            for i in splits(n)
        )

    def learn(self, t: int, k: int, x: float) -> None:
        s = t - self.restarted[0]
        self.rewards[k].append(self.unit(x))
        self.drawn[k] += self.monitored(s) != k
        if len(self.rewards[k]) % 8 == 0 and self.differs(self.rewards[k]):
            self.restart(t, list(range(self.arms)))
            self.forget()
            return
        length = self.arms * int(self.values["n0"])
        if self.block == 1 and s == length:
            self.now, self.block = int(np.argmax(self.drawn)), 2
        elif self.block > 1 and s == (2**self.block - 2) * length:
            self.later = int(np.argmax(self.drawn))
        elif self.block > 1 and s == (2**self.block - 1) * length:
            self.now, self.later, self.block = self.later, -1, self.block + 1


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "delayed"])
@pytest.mark.parametrize(
    ("params", "alarms"), [({}, False), ({"delta": 0.5, "n0": 2, "xi": 0.05}, True), ({"n0": 5, "xi": 0.01}, False)]
)
def test_matches_reference_implementation(scenario: str, params: dict[str, float], alarms: bool) -> None:
    ReferenceADRUCB.alarms = ReferenceADRUCB.monitored_pulls = 0
    check_against_reference("adr-ucb", ReferenceADRUCB, scenario, horizon=500, arms=4, params=params)
    assert (ReferenceADRUCB.alarms > 0) == alarms
    assert ReferenceADRUCB.monitored_pulls > 0


def test_plays_with_arms_that_open_and_close() -> None:
    run: dict[str, Any] = {"horizon": 600, "arms": 3, "replications": 4, "params": {"n0": 2, "delta": 0.1}}
    assert np.isfinite(simulate("adr-ucb", "arm-churn", **run).regret).all()


def test_monitors_the_most_pulled_arm_and_restarts_all_arms() -> None:
    policy, rng = find_policy("adr-ucb")(arms=2, horizon=1000, n0=4, xi=0.1, delta=1e-4), np.random.default_rng(2)
    for t in range(300):
        arm = policy.select()
        policy.update(arm, float(np.clip(rng.normal((0.9, 0.5)[arm] - 0.7 * (t >= 200) * (arm == 0), 0.05), 0, 1)))
        if t == 199:
            assert policy.state()["cells"][ALARMS] == 0.0
            assert policy.state()["cells"][MONITORED] == 1.0
    assert policy.state()["cells"][ALARMS] >= 1.0


def test_defaults() -> None:
    values = find_policy("adr-ucb").resolve({}, 10, 1000)
    assert values["delta"] == pytest.approx(1e-9)
    assert values["n0"] == 10.0
