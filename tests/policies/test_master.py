import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.master import RESTARTS
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceRestart


class Instance:
    """An instance of UCB1 that exists from reward `begin` to reward `end` of a block."""

    def __init__(self, begin: int, order: int, arms: int) -> None:
        self.begin, self.end, self.order = begin, begin + 2**order - 1, order
        self.rewards: list[list[float]] = [[] for _ in range(arms)]


class ReferenceMASTER(ReferenceRestart):
    """All instances of a block in a list; the shortest one that exists plays."""

    def __init__(self, arms: int, horizon: int, values: Any, rng: np.random.Generator) -> None:
        super().__init__(arms, horizon, values, rng)
        self.arms, self.bonus = arms, values["xi"] * math.log(values["horizon"])
        self.block = -1
        self.open_arms = list(range(arms))
        self.new_block(0)

    def rho(self, i: int) -> float:
        count = len(self.open_arms)
        return math.sqrt(count / i) + count / i

    def new_block(self, order: int) -> None:
        self.block, self.z, self.f, self.instances = order, list[float](), list[float](), list[Instance]()
        self.started = False

    def start_instances(self) -> None:
        if self.started:
            return
        seen, self.started = len(self.z), True
        for order in range(self.block, -1, -1):
            if seen % 2**order == 0 and (
                order == self.block or self.rng.random() < self.rho(2**self.block) / self.rho(2**order)
            ):
                self.instances.append(Instance(seen + 1, order, self.arms))

    def active(self) -> Instance:
        now = len(self.z) + 1
        return min((i for i in self.instances if i.begin <= now <= i.end), key=lambda i: i.order)

    def index(self, rewards: list[float]) -> float:
        return float(np.mean(rewards)) + math.sqrt(self.bonus / len(rewards))

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if set(open_arms) == set(self.open_arms):
            self.start_instances()
        rewards = self.active().rewards
        for k in open_arms:
            if not rewards[k]:
                return k
        return {k: self.index(rewards[k]) for k in open_arms}

    def learn(self, t: int, k: int, x: float) -> None:
        self.start_instances()
        played = self.active()
        bounds = [self.index(played.rewards[j]) if played.rewards[j] else 1.0 for j in self.open_arms]
        self.f.append(min(1.0, max(bounds)))
        self.z.append(self.unit(x))
        played.rewards[k].append(self.z[-1])
        i, h = len(self.z), self.values["h"]
        changed = float(np.mean(np.array(self.f) - self.z)) >= h * self.rho(i)
        for instance in self.instances:
            if instance.end == i:
                gained = float(np.mean(self.z[instance.begin - 1 :]))
                changed |= gained >= min(self.f) + 3 * h * self.rho(2**instance.order)
        if changed:
            type(self).alarms += 1
            self.new_block(0)
        elif i == 2**self.block:
            self.new_block(self.block + 1)
        else:
            self.started = False


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "delayed"])
@pytest.mark.parametrize(("params", "alarms"), [({}, False), ({"xi": 0.02, "h": 0.5}, True), ({"h": 0.2}, True)])
def test_matches_reference_implementation(scenario: str, params: dict[str, float], alarms: bool) -> None:
    ReferenceMASTER.alarms = 0
    check_against_reference("master", ReferenceMASTER, scenario, horizon=600, arms=4, params=params)
    assert (ReferenceMASTER.alarms > 0) == alarms


def test_published_threshold_is_never_reached() -> None:
    """What the tests compare is in [0, 1], and even after T steps with two arms the published threshold exceeds 1."""
    for horizon in 10.0 ** np.arange(1, 10):
        published = 18.0 * (math.log2(horizon) + 1) * math.log(horizon**2)
        assert published * math.sqrt(2 / horizon) > 1.0


def test_restarts_after_a_change() -> None:
    policy = find_policy("master")(arms=2, horizon=4000, seed=1, xi=0.02, h=2.5)
    rng = np.random.default_rng(5)
    restarts = []
    for t in range(2000):
        arm = policy.select()
        means = (0.9, 0.6) if t < 1000 else (0.2, 0.6)
        policy.update(arm, float(np.clip(rng.normal(means[arm], 0.1), 0, 1)))
        restarts.append(policy.state()["cells"][RESTARTS])
    assert restarts[999] == 0.0
    assert restarts[-1] >= 1.0
