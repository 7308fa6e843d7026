import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.engine.simulation import simulate
from tests.policies.reference import check_against_reference


class ReferenceUCBImp:
    """Rounds of equal pulls and eliminations, restarted when an arm opens or the last active one closes."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.horizon, self.a = values["horizon"], values["a"]
        self.history: list[tuple[int, int, float]] = []
        self.open_before: list[int] = []
        self.active: list[int] = []
        self.round, self.started = 0, 1

    def rewards(self, k: int) -> list[float]:
        return [x for t, arm, x in self.history if arm == k and t >= self.started]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        new = [k for k in open_arms if k not in self.open_before]
        self.active = [k for k in self.active if k in open_arms]
        if new or not self.active:
            # An arm that was never pulled is pulled when it opens, and the restart begins with that pull.
            first_pulls = [min((s for s, arm, _ in self.history if arm == k), default=t) for k in new]
            self.started = min(first_pulls, default=t)
            self.active, self.round = list(open_arms), 0
        self.open_before = list(open_arms)
        while True:
            if len(self.active) == 1:
                return self.active[0]
            if self.round > math.floor(0.5 * math.log2(self.horizon / math.e)):
                unknown = [k for k in self.active if not self.rewards(k)]
                return unknown[0] if unknown else {k: float(np.mean(self.rewards(k))) for k in self.active}
            delta = 2.0**-self.round
            needed = math.ceil(2 * math.log(self.horizon * delta**2) / delta**2)
            counts = {k: len(self.rewards(k)) for k in self.active}
            if min(counts.values()) < needed:
                return min(self.active, key=lambda k: (counts[k], k))
            means = {k: float(np.mean(self.rewards(k))) for k in self.active}
            r = math.sqrt(math.log(self.horizon * delta**2) / (2 * needed))
            threshold = max(m - self.a * r for m in means.values())
            self.active = [k for k in self.active if means[k] + self.a * r >= threshold]
            self.round += 1

    def learn(self, t: int, k: int, x: float) -> None:
        self.history.append((t, k, x))


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize("params", [{}, {"a": 0.01}, {"a": 0.3}, {"a": 10.0, "horizon": 40}, {"horizon": 2}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("ucb-imp", ReferenceUCBImp, scenario, horizon=400, arms=4, params=params)


@pytest.mark.parametrize("arms", [1, 2, 7])
def test_restarts_when_arms_open_and_close(arms: int) -> None:
    check_against_reference(
        "ucb-imp", ReferenceUCBImp, "arm-churn", horizon=400, arms=arms, params={"a": 0.05}, replications=4
    )


def test_restart_pulls_all_open_arms_equally() -> None:
    horizon = 3000
    result = simulate("ucb-imp", "arm-churn", horizon=horizon, arms=3, replications=1, params={"a": 0.05}, pulls=True)
    assert result.pulls is not None
    needed = math.ceil(2 * math.log(horizon))
    opened = int(np.argmax(result.pulls[0] == 3))
    after = result.pulls[0, opened : opened + 4 * needed]
    assert np.bincount(after, minlength=4).tolist() == [needed] * 4


def run_policy(policy: Any, means: list[float], steps: int) -> list[int]:
    pulled = []
    for _ in range(steps):
        arm = policy.select()
        policy.update(arm, means[arm])
        pulled.append(arm)
    return pulled


def test_reopened_arm_causes_a_restart() -> None:
    policy = find_policy("ucb-imp")(arms=3, horizon=1000, a=0.1)
    means = [0.1, 0.9, 0.5]
    needed = math.ceil(2 * math.log(1000))
    assert run_policy(policy, means, 3 * needed) == [0, 1, 2] * needed
    assert set(run_policy(policy, means, 20)) == {1}
    policy.close(1)
    # The last active arm is closed, so all open arms become active.
    assert run_policy(policy, means, 2 * needed) == [0, 2] * needed
    assert set(run_policy(policy, means, 20)) == {2}
    policy.open(1)
    assert run_policy(policy, means, 3 * needed) == [0, 1, 2] * needed
    assert set(run_policy(policy, means, 20)) == {1}


def test_late_rewards_do_not_block_the_turns() -> None:
    policy = find_policy("ucb-imp")(arms=3, horizon=1000)
    assert [policy.select() for _ in range(3)] == [0, 1, 2]
    policy.update(0, 0.5)
    policy.select()
    policy.update(1, 0.4)
    policy.update(2, 0.3)
    # Rewards that arrive while others are outstanding are counted.
    assert [int(n) for n in policy.state()["stats"][1]] == [1, 1, 1]
    policy.update(0, 0.5)
    waiting = [policy.select() for _ in range(3)]
    assert sorted(waiting) == [0, 1, 2]
