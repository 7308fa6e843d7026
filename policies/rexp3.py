"""Rexp3: EXP3 started again every B steps, that is with all weights 1 at steps 1, B + 1, 2B + 1, …

EXP3: an arm is drawn by p = (1−γ)·w/W + γ/K; then the drawn arm's w ← w·exp(γ·x̂/K), x̂ = z/p,
z = clip((x − low)/(high − low), 0, 1). B is in steps of play, first pulls included; K counts the open arms. Arms
that come and go, and first pulls: `policies/engine/exp3.py`.
"""

from __future__ import annotations

from math import ceil, e, log, sqrt

from environments.compiled import inlined
from policies.engine.base import Param, ParamContext
from policies.engine.exp3 import (
    CELLS,
    GAIN,
    ROWS,
    claim_draw,
    draw_arm,
    multiply_weight,
    normalize_weights,
    reset_weights,
    start,
)
from policies.engine.rules import HORIZON_PARAMETER, UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.engine.window import longest_window

LAST = CELLS
"""Cell after those of EXP3: the last step before it starts again."""

_, _, BATCH, GAMMA, LOW, HIGH = range(6)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Start again if it is time, then draw by p."""
    if t > cells[LAST]:
        reset_weights(arms)
        cells[LAST] = ceil(t / p[BATCH]) * p[BATCH]
    return draw_arm(open_, arms, cells, p[GAMMA], rng)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The drawn arm's weight grows."""
    if claim_draw(arms, k):
        multiply_weight(arms, cells, k, arms[GAIN, k] * to_unit(x, p[LOW], p[HIGH]))
        normalize_weights(arms, cells)


def batch_for_variation(context: ParamContext) -> float:
    """⌈(K ln K)^⅓·(T/v)^⅔⌉, at least one step, and no more than there are."""
    horizon, variation, arms = context.number("horizon"), context.number("variation"), context.arms
    if variation == 0.0:
        return horizon
    return min(horizon, max(1.0, float(ceil((arms * log(arms)) ** (1 / 3) * (horizon / variation) ** (2 / 3)))))


def rate_for_batch(context: ParamContext) -> float:
    """min(1, sqrt(K ln K / ((e − 1)·B)))."""
    return min(1.0, sqrt(context.arms * log(context.arms) / ((e - 1.0) * context.number("batch"))))


class REXP3(UnitPolicy):
    """Forgets by the clock: EXP3 from scratch as often as means that move by v in all call for."""

    name = "rexp3"
    family = "sampling"
    reference = "Besbes, Gur and Zeevi 2014"
    parameters = (
        HORIZON_PARAMETER,
        Param("variation", 1.0, meaning="v, how far the means are expected to move in all, on the scale of z"),
        Param(
            "batch",
            batch_for_variation,
            10.0,
            longest_window,
            least=1.0,
            integer=True,
            meaning="B, steps from one start to the next",
        ),
        Param("gamma", rate_for_batch, most=1.0, meaning="γ, share of pulls of any arm, and rate"),
        *UNIT_PARAMETERS,
    )
    random = True
    rows = ROWS
    cells = CELLS + 1
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)
