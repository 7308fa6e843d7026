"""ε-greedy as the logistics script ran it: with probability 0.1 any open arm, uniformly; else argmax m.

Two uniforms at most: the first says whether to explore, the second, drawn only then, which arm.
"""

from __future__ import annotations

from environments.compiled import inlined
from policies.engine.rules import best_mean_arm, count_open, uniform_arm, update_mean
from policies.published import PublishedPolicy

EPSILON = 0.1


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A coin, then a random arm or the best mean."""
    if rng.random() < EPSILON:
        return uniform_arm(open_, count_open(open_), rng.random())
    return best_mean_arm(open_, arms)


class PublishedEpsilonGreedy(PublishedPolicy):
    """ε-greedy with ε 0.1, untuned."""

    name = "published-epsilon-greedy"
    random = True
    rows = 2
    choose = staticmethod(select)
    learn = staticmethod(update_mean)
