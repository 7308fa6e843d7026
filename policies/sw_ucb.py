"""Sliding-window UCB: m_τ + sqrt(ξ·ln min(t, τ) / N_τ) over the last τ rewards (Garivier and Moulines 2011)."""

from math import inf, log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.index import EVERY, FEWER, IndexPolicy
from ravenlab.policies.engine.limits import NONNEGATIVE
from ravenlab.policies.engine.rules import CHANGES_PARAMETER, XI_PARAMETER
from ravenlab.policies.engine.window import COUNT, MEAN, NEXT, TAU_BY_CHANGES, WindowPolicy, push_reward

WIDTH = 4  # row after those of `engine/window.py`: 1/sqrt(N_τ)
XI, _, TAU = range(3)  # parameters


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """sqrt(ξ·ln min(t, τ))."""
    return sqrt(p[XI] * log(min(float(t), p[TAU])))


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """m_τ + sqrt(ξ·ln min(t, τ))·(1/sqrt(N_τ)); infinite without rewards in the window."""
    return arms[MEAN, k] + c * arms[WIDTH, k] if arms[COUNT, k] > 0.0 else inf


@inlined
def set_width(k, arms):  # type: ignore[no-untyped-def]
    """Update 1/sqrt(N_τ) of an arm whose window has changed; 0 for an empty window."""
    arms[WIDTH, k] = 1.0 / sqrt(arms[COUNT, k]) if arms[COUNT, k] > 0.0 else 0.0


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward to the window; the counts of at most two arms change."""
    removed = push_reward(k, x, arms, cells, memory, int(p[TAU]))
    set_width(k, arms)
    if removed >= 0:
        set_width(removed, arms)
    return EVERY if cells[NEXT] == 0.0 else removed


class SWUCB(IndexPolicy, WindowPolicy):
    r"""UCB1 on a sliding window of recent rewards, for means that change.

    $$m_\tau + \sqrt{\frac{\xi \ln\min(t, \tau)}{N_\tau}}$$
    """

    reference = "Garivier and Moulines 2011"
    parameters = (XI_PARAMETER, CHANGES_PARAMETER, TAU_BY_CHANGES)
    row_limits = {**WindowPolicy.row_limits, WIDTH: NONNEGATIVE}
    few_arms = FEWER
