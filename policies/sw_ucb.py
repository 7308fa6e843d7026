"""Sliding-window UCB: m_τ + sqrt(ξ·ln min(t, τ) / N_τ), over the last τ rewards."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import Policy, Value
from policies.engine.rules import CHANGES_PARAMETER, XI_PARAMETER, first_below_or_argmax
from policies.engine.window import CELLS, COUNT, MEAN, TAU_BY_CHANGES, push_reward

WIDTH = 4
"""Row after those of the window: 1/sqrt(N_τ), which only a change of the window changes."""

XI, _, TAU = range(3)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm with an empty window at once, else argmax of m_τ + sqrt(ξ·ln min(t, τ))·(1/sqrt(N_τ))."""
    bonus = sqrt(p[XI] * log(min(float(t), p[TAU])))
    return first_below_or_argmax(open_, arms, COUNT, 1.0, MEAN, WIDTH, bonus)


@inlined
def refresh(k, arms):  # type: ignore[no-untyped-def]
    """The width of an arm whose window has changed; an empty one has none."""
    arms[WIDTH, k] = 1.0 / sqrt(arms[COUNT, k]) if arms[COUNT, k] > 0.0 else 0.0


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The window moves on; counts change of two arms at most."""
    gone = push_reward(k, x, arms, cells, memory, int(p[TAU]))
    refresh(k, arms)
    if gone >= 0:
        refresh(gone, arms)


class SWUCB(Policy):
    """UCB1 that forgets: only the last τ rewards count, so that it follows means that change."""

    name = "sw-ucb"
    reference = "Garivier and Moulines 2011"
    parameters = (
        XI_PARAMETER,
        CHANGES_PARAMETER,
        TAU_BY_CHANGES,
    )
    rows = 5
    cells = CELLS
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def memory_size(cls, arms: int, values: Mapping[str, Value]) -> int:
        return 2 * int(values["tau"])
