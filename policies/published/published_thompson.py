"""Thompson sampling as the logistics script ran it: Beta(1 + Σz, 1 + Σ(1−z)), its parameters at least 1e-6.

z = clip((x − μ_min)/(μ_max − μ_min + 1e-6), 0, 1) with the true smallest and largest current mean: the
loop computes it (`peeks`) and hands it over in place of the reward. Starting from 1 and growing, the
parameters never come near 1e-6.
"""

from __future__ import annotations

from collections.abc import Mapping

from environments.compiled import inlined
from policies.engine.base import CLOSED, Sizes, Value
from policies.engine.families import PublishedPolicy, draw_beta

WON, LOST = 1, 2
"""Rows: the parameters of Beta, 1 + Σz and 1 + Σ(1−z)."""


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Beta(1, 1)."""
    for k in range(arms.shape[1]):
        arms[WON, k] = 1.0
        arms[LOST, k] = 1.0


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The largest draw, arm by arm in index order."""
    best, chosen = -1.0, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            theta = draw_beta(arms[WON, k], arms[LOST, k], rng)
            if theta > best:
                best, chosen = theta, k
    return chosen


@inlined
def update(t, k, z, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """z to the one, 1 − z to the other."""
    arms[WON, k] += z
    arms[LOST, k] += 1.0 - z


class PublishedThompson(PublishedPolicy):
    """Beta Thompson sampling on rewards scaled by the true means: for the paper's table only."""

    name = "published-thompson"
    random = True
    slow = True
    uses_true_means = True
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=3)


POLICY = PublishedThompson
