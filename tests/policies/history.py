"""The plain memory of a forgetting twin: everything that happened, looked through anew at each step."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from environments.world import Floats


class History:
    """All pulls in order."""

    def __init__(self) -> None:
        self.pulls: list[tuple[int, float]] = []
        self.own: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)

    def add(self, k: int, x: float) -> None:
        self.own[k].append((len(self.pulls), x))
        self.pulls.append((k, x))

    def window(self, k: int, tau: float) -> list[float]:
        """Rewards of arm k among the last τ of all arms."""
        return [x for arm, x in self.pulls[-int(tau) :] if arm == k]

    def weighted(self, k: int, gamma: float) -> tuple[Floats, Floats]:
        """Weights γ^(steps since) and rewards of arm k; the newest pull of all weighs 1."""
        steps = np.array([step for step, _ in self.own[k]])
        return gamma ** (len(self.pulls) - 1.0 - steps), np.array([x for _, x in self.own[k]])
