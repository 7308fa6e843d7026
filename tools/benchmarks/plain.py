"""Plain NumPy policies for comparison: arrays over arms, all scores recomputed at every step."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any


class Plain:
    """Base class with counts, means and squared deviations of all arms; subclasses define the scores."""

    def __init__(self, arms: int, horizon: int) -> None:
        self.arms = arms
        self.horizon = horizon
        self.n, self.mean, self.squares = np.zeros(arms), np.zeros(arms), np.zeros(arms)
        self.rng = np.random.default_rng(1)

    def scores(self, t: int) -> Array:
        raise NotImplementedError

    def select(self, t: int) -> int:
        return int(np.argmax(self.scores(t)))

    def learn(self, t: int, k: int, x: float) -> None:
        self.n[k] += 1
        deviation = x - self.mean[k]
        self.mean[k] += deviation / self.n[k]
        self.squares[k] += deviation * (x - self.mean[k])

    @property
    def variance(self) -> Array:
        return np.where(self.n > 1, self.squares / np.maximum(self.n - 1, 1), 0.0)


Make = Callable[[int, int], Plain]
"""A function that creates a policy from the number of arms and the horizon."""


def plain_loop(make: Make, means: Array, sigma: Array, horizon: int, steps: int) -> float:
    """Return the regret over the first steps of a stationary world."""
    policy = make(means.size, horizon)
    rng = np.random.default_rng(2)
    best = means.max()
    regret = 0.0
    for t in range(1, steps + 1):
        k = t - 1 if t <= means.size else policy.select(t)
        policy.learn(t, k, rng.normal(means[k], sigma[k]))
        regret += best - means[k]
    return float(regret)
