from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from environments.world import Floats
from policies import find_policy
from policies.engine.simulation import simulate
from policies.raven_auto import CHOSEN, MEMORY
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceRavenAuto(ReferenceBase):
    """All averages are computed from lists of rewards, their steps and their variances."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        super().__init__(arms, horizon, values, rng)
        self.memories = [math.inf, *(10.0 * arms * 4.0**j for j in range(5))]
        self.scores, self.chosen, self.scored = np.zeros(6), 0, 0
        self.variances: list[list[float]] = [[] for _ in range(arms)]
        self.differences: list[list[float]] = [[] for _ in range(arms)]
        self.all_differences: list[float] = []
        self.first_differences: list[float] = []

    @staticmethod
    def average(differences: list[float], memory: float, prior: float, weight: float) -> float:
        """Return the discounted average of squared differences with a prior of some weight."""
        w = (1.0 - 1.0 / memory) ** np.arange(len(differences))[::-1]
        return float((w @ np.array(differences) + weight * prior) / (w.sum() + weight))

    def pooled(self) -> float:
        first = float(np.mean(self.first_differences)) if self.first_differences else 0.0
        return self.average(self.all_differences, 90.0, first, 2.0)

    def weights(self, k: int, memory: float) -> Floats:
        """Return the weights of the rewards of an arm; the most recent reward of any arm has weight 1."""
        steps = np.array([step for step, _ in self.history.by_arm[k]])
        return np.asarray((1.0 - 1.0 / memory) ** (len(self.history.pulls) - 1.0 - steps))

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        memory = self.memories[self.chosen]
        scores = {}
        for k in open_arms:
            w, n = self.weights(k, memory), len(self.rewards[k])
            if w.sum() < 1e-3:
                return k
            v = float(np.average(self.variances[k], weights=w)) if n > 1 else self.pooled()
            bonus = (0.4 + 0.6 / n) * v * math.log(1.0 + min(t, memory) / len(self.rewards)) / w.sum()
            scores[k] = float(np.average(self.rewards[k], weights=w)) + math.sqrt(bonus)
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        before = self.rewards[k]
        if before:
            self.differences[k].append((x - before[-1]) ** 2 / 2)
            self.all_differences.append((x - before[-1]) ** 2 / 2)
        elif self.history.pulls:
            self.first_differences.append((x - self.history.pulls[-1][1]) ** 2 / 2)
        s2 = self.average(self.differences[k], 30.0, self.pooled(), 60.0)
        if before:
            for j, memory in enumerate(self.memories):
                w = self.weights(k, memory)
                spread = 1.0 + 1.0 / max(float(w.sum()), 0.05)
                residual = (x - float(np.average(before, weights=w))) ** 2 / (s2 * spread) if s2 > 0 else 0.0
                self.scores[j] -= 0.5 * (math.log(spread) + min(6.0, residual))
            self.scored += 1
            if self.scored % 8 == 0:
                self.chosen = int(self.scores.argmax())
        super().learn(t, k, x)
        count = len(self.rewards[k])
        self.variances[k] = [s2] * count if count <= 3 else [*self.variances[k], s2]


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli", "delayed"])
def test_matches_reference_implementation(scenario: str) -> None:
    check_against_reference("raven-auto", ReferenceRavenAuto, scenario, horizon=500, arms=3)


def test_statistics_survive_a_change_of_the_unit_of_weight() -> None:
    """The shortest memory of two arms is 20 rewards, so its unit is converted after 1,347 steps: 0.95^1347 < 1e-30."""
    run: dict[str, Any] = {"horizon": 1400, "arms": 2, "replications": 1}
    assert check_against_reference("raven-auto", ReferenceRavenAuto, "periodic", **run) == 0


def test_pulls_do_not_depend_on_the_scale_of_the_rewards() -> None:
    rng = np.random.default_rng(3)
    policies = [find_policy("raven-auto")(arms=3) for _ in range(2)]
    for t in range(400):
        arms = [policy.select() for policy in policies]
        assert arms[0] == arms[1]
        x = float(rng.normal((0.2, 0.5, 0.4)[arms[0]] - 0.4 * (t > 200) * (arms[0] == 1), 0.1))
        policies[0].update(arms[0], x)
        policies[1].update(arms[1], 1024.0 * x)


def test_learns_the_memory() -> None:
    """An expert without forgetting has the best score on constant means, one with a short memory on frequent jumps."""
    memories = []
    for jumps in (False, True):
        policy, rng = find_policy("raven-auto")(arms=2), np.random.default_rng(1)
        for t in range(1500):
            arm = policy.select()
            best = t // 40 % 2 if jumps else 0
            policy.update(arm, float(rng.normal(0.8 if arm == best else 0.2, 0.1)))
        cells = policy.state()["cells"]
        memories.append(cells[MEMORY + int(cells[CHOSEN])])
    assert memories[0] == 0.0
    assert 0.0 < memories[1] <= 80.0


def test_equal_rewards_are_no_error() -> None:
    policy = find_policy("raven-auto")(arms=3)
    for _ in range(50):
        policy.update(policy.select(), 0.5)
    assert np.isfinite(policy.state()["cells"]).all()


def test_better_than_defaults_of_raven_ucb_on_jumps() -> None:
    run: dict[str, Any] = {"scenario": "localized-jump", "horizon": 4000, "arms": 5, "replications": 60, "seed": 5}
    gain = simulate("raven-ucb", **run).regret - simulate("raven-auto", **run).regret
    assert gain.mean() > 3 * gain.std(ddof=1) / math.sqrt(gain.size)
