"""ε-greedy as the logistics script ran it: with probability 0.1 any open arm, uniformly; else argmax m.

Two uniforms at most: the first says whether to explore, the second, drawn only then, which arm.
"""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.base import CLOSED, PULLS, Policy, Sizes, Value

MEAN = 1
"""Row: the mean."""

EPSILON = 0.1


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A coin, then a random arm or the best mean."""
    if rng.random() < EPSILON:
        count = 0
        for k in range(open_.shape[0]):
            if open_[k] != CLOSED:
                count += 1
        place = int(rng.random() * count)
        for k in range(open_.shape[0]):
            if open_[k] != CLOSED:
                if place == 0:
                    return k
                place -= 1
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[MEAN, k] > best:
            best, chosen = arms[MEAN, k], k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Running mean."""
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[PULLS, k]


class PublishedEpsilonGreedy(Policy):
    """ε-greedy with ε 0.1, untuned."""

    name = "published-epsilon-greedy"
    family = "published"
    scalable = False
    reference = "RAVEN-UCB, logistics script"
    random = True
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=2)


POLICY = PublishedEpsilonGreedy
