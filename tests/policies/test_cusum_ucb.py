import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.cusum_ucb import ALARMS, CUSUMUCB
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceRestart, rewards_until_alarm


class ReferenceCUSUMUCB(ReferenceRestart):
    """m + sqrt(ln n / N) since an arm's restart, which follows when a sum of deviations reaches h."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        unknown = self.restarted_arm(open_arms)
        if unknown is not None:
            return unknown
        if self.rng.random() < self.values["a"]:
            return open_arms[int(self.rng.random() * len(open_arms))]
        total = sum(len(rewards) for rewards in self.rewards)
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(self.values["xi"] * math.log(total) / len(self.rewards[k]))
            for k in open_arms
        }

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(self.unit(x))
        first = int(self.values["m"])
        reference = np.mean(self.rewards[k][:first])
        for sign in (1, -1):
            g = 0.0
            for z in self.rewards[k][first:]:
                g = max(0.0, g + sign * (z - float(reference)) - self.values["epsilon"])
            if len(self.rewards[k]) > first and g >= self.values["h"]:
                self.restart(t, [k])
                return


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"m": 10, "h": 1.01, "epsilon": 0.013, "xi": 0.02},
        {"m": 1, "h": 0.35, "epsilon": 0.0, "a": 0.0},
        {"m": 30, "h": 1.57, "a": 1.0, "low": 0.3, "high": 0.8},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    ReferenceCUSUMUCB.alarms = 0
    check_against_reference("cusum-ucb", ReferenceCUSUMUCB, scenario, horizon=400, arms=4, params=params)
    assert ReferenceCUSUMUCB.alarms > 0 or not params


@pytest.mark.parametrize("jump", [0.5, -0.25])
def test_alarm_restarts_only_its_arm(jump: float) -> None:
    policy = find_policy("cusum-ucb")(arms=2, horizon=100, m=20, h=2.0, epsilon=0.125, a=0.0)
    policy.update(1, 0.5)
    assert rewards_until_alarm(policy, 0, [0.5] * 100) is None
    assert rewards_until_alarm(policy, 0, [0.5 + jump] * 100) == math.ceil(2.0 / (abs(jump) - 0.125))
    assert policy.state()["stats"][1] == [0.0, 1.0]
    assert policy.state()["cells"] == [1.0, 1.0]
    assert policy.select() == 0


def test_few_false_alarms_and_changes_detected() -> None:
    """With noise of 0.2 the reference is within 0.02·2.5 = ε of the mean, so h = 6.9 is rarely reached."""
    rng, arms = np.random.default_rng(2), 40
    policy = find_policy("cusum-ucb")(arms=arms, horizon=10_000)
    for k in range(arms):
        policy.update_many([k] * 1000, rng.normal(0.5, 0.2, 1000).tolist())
    assert policy.state()["cells"][ALARMS] <= 2
    before = policy.state()["cells"][ALARMS]
    for k in range(arms):
        policy.update_many([k] * 100, rng.normal(0.7, 0.2, 100).tolist())
    assert policy.state()["cells"][ALARMS] - before >= 0.9 * arms


def test_defaults() -> None:
    values = CUSUMUCB.resolve({}, 10, 10_000)
    assert values["h"] == pytest.approx(math.log(1000))
    assert values["a"] == pytest.approx(math.sqrt(10 * math.log(1000) / 10_000))
    assert CUSUMUCB.resolve({"changes": 20}, 10, 5)["h"] == 1.0
