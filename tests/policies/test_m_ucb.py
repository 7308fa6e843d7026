import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.m_ucb import ALARMS, MUCB
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceRestart, forced_arm, rewards_until_alarm


class ReferenceMUCB(ReferenceRestart):
    """m + sqrt(ξ·ln(t − τ) / N) since a restart of all arms, which follows a difference of half windows above b."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        unknown = self.restarted_arm(open_arms)
        if unknown is not None:
            return unknown
        since = t - self.restarted[0]
        turn = forced_arm(since, open_arms, self.values["gamma"])
        if turn is not None:
            return turn
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(self.values["xi"] * math.log(since) / len(self.rewards[k]))
            for k in open_arms
        }

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(self.unit(x))
        half = int(self.values["w"]) // 2
        if len(self.rewards[k]) >= 2 * half:
            earlier, later = self.rewards[k][-2 * half : -half], self.rewards[k][-half:]
            if abs(math.fsum(later) - math.fsum(earlier)) > self.values["b"]:
                self.restart(t, list(range(len(self.rewards))))


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"w": 20, "b": 2.6, "gamma": 0.3, "xi": 0.03},
        {"w": 7, "b": 1.25, "gamma": 0.0},
        {"w": 2, "b": 0.7, "gamma": 1.0},
        {"w": 50, "b": 3.2, "low": 0.3, "high": 0.8},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    ReferenceMUCB.alarms = 0
    check_against_reference("m-ucb", ReferenceMUCB, scenario, horizon=600, arms=5, params=params)
    assert ReferenceMUCB.alarms > 0 or not params or "high" in params


def test_alarm_restarts_all_arms() -> None:
    policy = find_policy("m-ucb")(arms=3, w=20, b=5.0, gamma=0.0)
    policy.update_many([1, 2], [0.5, 0.5])
    assert rewards_until_alarm(policy, 0, [0.25] * 100) is None
    # Seven rewards of 1 give a difference of 7·0.75 = 5.25 > 5.
    assert rewards_until_alarm(policy, 0, [1.0] * 100) == 7
    assert policy.state()["stats"][1] == [0.0, 0.0, 0.0]
    assert [policy.select() for _ in range(3)] == [0, 1, 2]


def test_sliding_window_keeps_precision() -> None:
    policy, rng = find_policy("m-ucb")(arms=1, w=30, b=100.0), np.random.default_rng(5)
    rewards = [*rng.random(100).tolist(), *[0.0] * 100]
    for i, x in enumerate(rewards):
        policy.update(0, x)
        if i >= 29:
            expected = sum(rewards[i - 14 : i + 1]) - sum(rewards[i - 29 : i - 14])
            assert policy.state()["stats"][4][0] == pytest.approx(expected, abs=1e-13)


def test_few_false_alarms() -> None:
    """For b = sqrt(w·ln(2KT²)/2) each of T tests has an error probability of at most 1/(KT²)."""
    rng = np.random.default_rng(1)
    for factor, alarms in ((1.0, False), (0.3, True)):
        policy = find_policy("m-ucb")(arms=1, horizon=20_000, w=40, b=factor * math.sqrt(20 * math.log(2 * 20_000**2)))
        policy.update_many([0] * 20_000, (rng.random(20_000) < 0.5).astype(float).tolist())
        assert (policy.state()["cells"][ALARMS] > 0) == alarms


def test_default_threshold() -> None:
    values = MUCB.resolve({"w": 50}, 10, 1000)
    assert values["b"] == pytest.approx(math.sqrt(50 * math.log(2 * 10 * 1000**2) / 2))
