import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.raven_auto import CHOSEN, RATE
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceRavenAuto(ReferenceBase):
    """Averages are computed from lists of differences; every expert tracks the arms in a plain loop."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        super().__init__(arms, horizon, values, rng)
        self.tau = np.array([math.inf, *(10.0 * 4.0**j for j in range(6))])
        self.scores, self.chosen, self.scored, self.redrawn = np.zeros(7), 0, 0, 0.0
        self.mean, self.uncertainty, self.step = np.zeros((7, arms)), np.zeros((7, arms)), np.zeros(arms)
        self.differences: list[list[float]] = [[] for _ in range(arms)]
        self.all_differences: list[float] = []
        self.first_differences: list[float] = []

    @staticmethod
    def average(differences: list[float], memory: float, prior: float, weight: float) -> float:
        """Return the discounted average of squared differences with a prior of some weight."""
        w = (1.0 - 1.0 / memory) ** np.arange(len(differences))[::-1]
        return float((w @ np.array(differences) + weight * prior) / (w.sum() + weight))

    def known(self) -> bool:
        """Whether v is an average of enough differences."""
        return float(((1.0 - 1.0 / 90.0) ** np.arange(len(self.all_differences))).sum()) >= 60.0

    def pooled(self) -> float:
        first = float(np.mean(self.first_differences)) if self.first_differences else 0.0
        return self.average(self.all_differences, 90.0, first, 2.0)

    def growth(self, t: int, k: int) -> Floats:
        """Return by how much P of an arm has grown since its last reward by the assumption of every expert."""
        x = (t - self.step[k]) / self.tau
        return np.asarray(self.pooled() * x * (1.0 + x) / self.tau)

    def unobserved(self, t: int, k: int) -> float:
        """Return the growth with the share of steps since the last reward."""
        share = (t - self.step[k]) / (t + 30.0 * len(self.rewards))
        return float(self.redrawn * share**2)

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        scores, count = {}, len(self.rewards)
        x = (t / count * (count + 30.0) / (40.0 * count)) ** 2
        level = math.log(1.0 + t / count) * x / (1.0 + x)
        for k in open_arms:
            n, j = len(self.rewards[k]), self.chosen
            p = self.uncertainty[j, k] if n > 1 or self.known() else self.pooled()
            p += self.growth(t, k)[j] + self.unobserved(t, k)
            scores[k] = float(self.mean[j, k] + math.sqrt((0.45 + 0.7 / n) * p * level))
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        before, was_known = self.rewards[k], self.known()
        if before:
            self.differences[k].append((x - before[-1]) ** 2 / 2)
            self.all_differences.append((x - before[-1]) ** 2 / 2)
        elif self.history.pulls:
            self.first_differences.append((x - self.history.pulls[-1][1]) ** 2 / 2)
        s2, n = self.average(self.differences[k], 100.0, self.pooled(), 20.0), len(before) + 1
        grown = self.uncertainty[:, k] + self.growth(t, k)
        grown[1:] += self.unobserved(t, k)  # with τ = ∞ only in the index
        self.step[k] = t
        super().learn(t, k, x)
        if self.known() and not was_known:
            self.uncertainty[:, [len(rewards) == 1 for rewards in self.rewards]] = self.pooled()
        if n == 1 or s2 == 0.0:
            self.mean[:, k], self.uncertainty[:, k] = x, s2
        else:
            grown = np.full(7, s2 / (n - 1)) if n <= 3 and not self.known() else grown
            residual = (x - self.mean[:, k]) ** 2 / (grown + s2)
            self.scores -= 0.5 * (np.log((grown + s2) / s2) + np.minimum(6.0, residual))
            self.mean[:, k] += grown / (grown + s2) * (x - self.mean[:, k])
            self.uncertainty[:, k] = 1.0 / (1.0 / grown + 1.0 / s2)
        if n > 1:
            self.scored += 1
            if self.scored % 8 == 0:
                self.compare()

    def compare(self) -> None:
        self.chosen = int(self.scores.argmax())
        means = [self.mean[self.chosen, k] for k, rewards in enumerate(self.rewards) if rewards]
        spread = float(np.var(means, ddof=1)) if len(means) > 1 else 0.0
        r = spread / (spread + self.pooled()) if self.pooled() > 0.0 else 0.0
        self.redrawn = 8.0 * spread * r / len(self.rewards)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli", "delayed"])
def test_matches_reference_implementation(scenario: str) -> None:
    check_against_reference("raven-auto", ReferenceRavenAuto, scenario, horizon=500, arms=3)


def test_matches_reference_implementation_with_many_arms() -> None:
    check_against_reference("raven-auto", ReferenceRavenAuto, "localized-jump", horizon=800, arms=40)


def test_pulls_do_not_depend_on_the_scale_of_the_rewards() -> None:
    rng = np.random.default_rng(3)
    policies = [find_policy("raven-auto")(arms=3) for _ in range(2)]
    for t in range(400):
        arms = [policy.select() for policy in policies]
        assert arms[0] == arms[1]
        x = float(rng.normal((0.2, 0.5, 0.4)[arms[0]] - 0.4 * (t > 200) * (arms[0] == 1), 0.1))
        policies[0].update(arms[0], x)
        policies[1].update(arms[1], 1024.0 * x)


def test_learns_the_rate_of_change() -> None:
    """τ = ∞ has the best score on constant means, a short memory on frequent jumps."""
    rates = []
    for jumps in (False, True):
        policy, rng = find_policy("raven-auto")(arms=2), np.random.default_rng(1)
        for t in range(1500):
            arm = policy.select()
            best = t // 40 % 2 if jumps else 0
            policy.update(arm, float(rng.normal(0.8 if arm == best else 0.2, 0.1)))
        cells = policy.state()["cells"]
        rates.append(cells[RATE + int(cells[CHOSEN])])
    assert rates[0] == 0.0
    assert rates[1] >= 1.0 / 40.0


def test_equal_rewards_are_no_error() -> None:
    policy = find_policy("raven-auto")(arms=3)
    for _ in range(50):
        policy.update(policy.select(), 0.5)
    assert np.isfinite(policy.state()["cells"]).all()
