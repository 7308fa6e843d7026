"""Discounted UCB: m_γ + 2·sqrt(ξ·ln ΣN_γ / N_γ), the sum over all arms, closed ones too.

An idle arm's N_γ shrinks by γ a step, so its width 1/sqrt(N_γ) grows by 1/sqrt(γ): a product instead of
a root and a division for each arm and step. ΣN_γ obeys n ← γn + 1 and is never below 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import ParamContext, Policy, Sizes, Value
from policies.engine.discounting import MEAN, NOTHING, WEIGHT, fade, gamma
from policies.engine.rules import CHANGES, XI_PARAMETER, unknown_or_best_line

WIDTH = 3
"""Row after weight and mean: 1/sqrt(N_γ)."""

WIDEST = 1e150
"""No width is larger, so that no score is infinite; reached only where N_γ is all but gone."""

TOTAL, GROWTH = 0, 1
"""Cells: ΣN_γ, and 1/sqrt(γ)."""

XI, _, GAMMA = range(3)
"""Places of the parameters."""


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Nothing is known."""
    cells[GROWTH] = 1.0 / sqrt(max(p[GAMMA], 1e-300))


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm whose weight is gone at once, else argmax of m_γ + 2·sqrt(ξ·ln n)·(1/sqrt(N_γ))."""
    bonus = 2.0 * sqrt(p[XI] * log(max(1.0, cells[TOTAL])))
    return unknown_or_best_line(open_, arms, WEIGHT, NOTHING, MEAN, WIDTH, bonus)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """All arms fade; the pulled one takes in x."""
    fade(WEIGHT, p[GAMMA], arms)
    for j in range(arms.shape[1]):
        arms[WIDTH, j] = min(WIDEST, arms[WIDTH, j] * cells[GROWTH])
    cells[TOTAL] = p[GAMMA] * cells[TOTAL] + 1.0
    arms[WEIGHT, k] += 1.0
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[WEIGHT, k]
    arms[WIDTH, k] = 1.0 / sqrt(arms[WEIGHT, k])


def tuned_to_changes(setting: ParamContext) -> float:
    """1 − sqrt(U/T)/4, Garivier and Moulines' choice for rewards in [0, 1]."""
    return max(0.0, 1.0 - sqrt(setting.number("changes") / setting.number("horizon")) / 4.0)


class DUCB(Policy):
    """UCB1 that forgets little by little: a reward loses weight by γ a step."""

    name = "d-ucb"
    reference = "Garivier and Moulines 2011"
    parameters = (
        XI_PARAMETER,
        CHANGES,
        gamma(tuned_to_changes),
    )
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=4, cells=2)


POLICY = DUCB
