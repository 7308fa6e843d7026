"""A plain policy: a random arm with probability start/√t, otherwise the arm with the highest mean."""

import random

import ravenlab


class FallingGreedy:
    parameters = (ravenlab.Param("start", default=1.0, low=0.01, high=10.0),)

    def __init__(self, arms: int, seed: int, start: float) -> None:
        self.random, self.start = random.Random(seed), start
        self.pulls, self.means, self.steps = [0] * arms, [0.0] * arms, 0

    def select(self) -> int:
        self.steps += 1
        if 0 in self.pulls:
            return self.pulls.index(0)
        if self.random.random() < self.start / self.steps**0.5:
            return self.random.randrange(len(self.pulls))
        return self.means.index(max(self.means))

    def update(self, arm: int, reward: float) -> None:
        self.pulls[arm] += 1
        self.means[arm] += (reward - self.means[arm]) / self.pulls[arm]
