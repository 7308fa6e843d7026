"""ε-greedy: with probability ε any open arm, uniformly; else argmax m.

One uniform decides which; a second one, drawn only to explore, names the arm.
"""

from __future__ import annotations

from environments.compiled import inlined
from policies.engine.base import Param, Policy
from policies.engine.rules import best_mean_arm, count_open, uniform_arm, update_mean


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Any open arm with probability ε, else argmax m."""
    if rng.random() < p[0]:
        return uniform_arm(open_, count_open(open_), rng.random())
    return best_mean_arm(open_, arms)


class EpsilonGreedy(Policy):
    """Explores at a constant rate, so it never stops noticing, and never stops paying for it."""

    name = "epsilon-greedy"
    family = "sampling"
    reference = "Sutton and Barto 1998"
    parameters = (Param("epsilon", 0.1, 0.001, 0.5, most=1.0, meaning="ε, the share of steps that explore"),)
    random = True
    rows = 2
    choose = staticmethod(select)
    learn = staticmethod(update_mean)
