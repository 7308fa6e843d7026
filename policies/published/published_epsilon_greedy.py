"""ε-greedy as the logistics script ran it: with probability 0.1 any open arm, uniformly; else argmax m.

Two uniforms at most: the first says whether to explore, the second, drawn only then, which arm.
"""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.engine.base import Sizes, Value
from policies.engine.families import PublishedPolicy
from policies.engine.rules import any_arm, best_arm, count_open, learn_mean

EPSILON = 0.1


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A coin, then a random arm or the best mean."""
    if rng.random() < EPSILON:
        return any_arm(open_, count_open(open_), rng.random())
    return best_arm(open_, arms)


class PublishedEpsilonGreedy(PublishedPolicy):
    """ε-greedy with ε 0.1, untuned."""

    name = "published-epsilon-greedy"
    random = True
    choose = staticmethod(select)
    learn = staticmethod(learn_mean)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=2)


POLICY = PublishedEpsilonGreedy
