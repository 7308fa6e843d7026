"""EXP3's weights as multiples of the average over the open arms, brought back to that after every change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.policies.slow_draw import by_share


class SlowWeights:
    """A closed arm keeps its multiple, a new one begins with 1; the arms that stay are averaged anew."""

    def __init__(self, arms: int) -> None:
        self.multiple = [1.0] * arms
        self.open: list[int] = []

    def shares(self, open_arms: list[int]) -> dict[int, float]:
        """w/W of the arms that are open now."""
        self.average([k for k in self.open if k in open_arms])
        self.open = list(open_arms)
        total = sum(self.multiple[k] for k in open_arms)
        return {k: self.multiple[k] / total for k in open_arms}

    def average(self, these: list[int]) -> None:
        if these:
            average = float(np.mean([self.multiple[k] for k in these]))
            for k in these:
                self.multiple[k] /= average


class SlowEXP3:
    """p = (1−γ)w/W + γ/K, w ← w·exp(γ·x̂/K); a pull without a draw, the first of an arm, teaches nothing."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.weights = SlowWeights(arms)
        self.p: dict[int, float] | None = None

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        gamma = self.values["gamma"]
        shares = self.weights.shares(open_arms)
        self.p = {k: (1 - gamma) * share + gamma / len(open_arms) for k, share in shares.items()}
        return by_share(self.p, self.rng.random())

    def learn(self, t: int, k: int, x: float) -> None:
        if self.p is None:
            return
        low, high = self.values["low"], self.values["high"]
        estimate = float(np.clip((x - low) / (high - low), 0, 1)) / self.p[k]
        self.grow(k, float(np.exp(self.values["gamma"] * estimate / len(self.p))))
        self.weights.average(self.weights.open)
        self.p = None

    def grow(self, k: int, factor: float) -> None:
        self.weights.multiple[k] *= factor
