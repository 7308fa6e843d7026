"""ε-decreasing: ε-greedy with ε_t = min(1, r·K / t), K the open arms; r is c/d² of the original.

One uniform decides whether to explore; a second one, drawn only then, names the arm.
"""

from __future__ import annotations

from environments.compiled import inlined
from policies.engine.base import Param, Policy
from policies.engine.rules import best_mean_arm, count_open, uniform_arm, update_mean


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Any open arm with probability ε_t, else argmax m."""
    count = count_open(open_)
    if rng.random() < min(1.0, p[0] * count / t):
        return uniform_arm(open_, count, rng.random())
    return best_mean_arm(open_, arms)


class EpsilonDecreasing(Policy):
    """Explores less and less: right where nothing changes, blind where something does."""

    name = "epsilon-decreasing"
    family = "sampling"
    reference = "Auer, Cesa-Bianchi and Fischer 2002 (ε_n-greedy)"
    parameters = (Param("r", 10.0, 0.01, 1e4, meaning="steps of full exploration per open arm"),)
    random = True
    rows = 2
    choose = staticmethod(select)
    learn = staticmethod(update_mean)
