"""RAVEN-UCB on a sliding window: M + α_t·sqrt(ln(t+1)/(N+1)) + β₀·sqrt(S²/(N+1) + ε), α_t = α₀/ln(t+ε).

N, M and S² (unbiased; 0 with one pull) are those of the last τ rewards; both logarithms keep t. As in
RAVEN-UCB the score is A + c_t·B, where A = M + β₀·sqrt(S²/(N+1) + ε) and B = 1/sqrt(N+1) change only
with the arm's window. An arm with nothing in the window is pulled at once: the formula would score
it as if its mean were 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from environments.compiled import inlined
from policies.engine.base import Policy, Value
from policies.engine.rules import first_below_or_argmax
from policies.engine.window import CELLS, COUNT, MEAN, NEXT, SQUARES, TAU_BY_HORIZON, push_reward
from policies.raven_ucb import RavenUCB, decaying_coefficient

LEVEL, WIDTH = 4, 5
"""Rows after those of the window: A and B."""

ALPHA0, BETA0, EPSILON, TAU = range(4)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm with an empty window at once, else argmax of A + c_t·B."""
    return first_below_or_argmax(
        open_, arms, COUNT, 1.0, LEVEL, WIDTH, decaying_coefficient(t, p[ALPHA0], p[EPSILON], 1.0)
    )


@inlined
def refresh(k, arms, p):  # type: ignore[no-untyped-def]
    """The line of an arm whose window has changed."""
    n = arms[COUNT, k]
    variance = arms[SQUARES, k] / (n - 1.0) if n > 1.0 else 0.0
    arms[LEVEL, k] = arms[MEAN, k] + p[BETA0] * sqrt(variance / (n + 1.0) + p[EPSILON])
    arms[WIDTH, k] = 1.0 / sqrt(n + 1.0)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The window moves on, and with it the lines of two arms, or of all after a turn of the ring."""
    gone = push_reward(k, x, arms, cells, memory, int(p[TAU]))
    if cells[NEXT] == 0.0:
        for j in range(arms.shape[1]):
            refresh(j, arms, p)
    else:
        refresh(k, arms, p)
        if gone >= 0:
            refresh(gone, arms, p)


class SWRaven(Policy):
    """RAVEN-UCB that forgets: its index on the last τ rewards, for means and variances that change."""

    name = "sw-raven"
    reference = "RAVEN-UCB's index on a sliding window; ours"
    parameters = (*RavenUCB.parameters[:3], TAU_BY_HORIZON)
    rows = 6
    cells = CELLS
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def memory_size(cls, arms: int, values: Mapping[str, Value]) -> int:
        return 2 * int(values["tau"])
