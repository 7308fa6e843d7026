"""Rexp3: EXP3 started again every B steps, that is with all weights 1 at steps 1, B + 1, 2B + 1, …

EXP3: an arm is drawn by p = (1−γ)·w/W + γ/K; then the drawn arm's w ← w·exp(γ·x̂/K), x̂ = z/p,
z = clip((x − low)/(high − low), 0, 1). B is in steps of play, first pulls included; K counts the open arms. Arms
that come and go, and first pulls: `policies/engine/exp3.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, e, log, sqrt

from environments.compiled import inlined
from policies.engine.base import Param, ParamContext, Sizes, Value
from policies.engine.exp3 import CELLS, ROWS, STAKE, all_alike, choose, keep_in_bounds, multiply, start, was_chosen
from policies.engine.families import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.engine.rules import HORIZON_PARAMETER
from policies.engine.window import longest

LAST = CELLS
"""Cell after those of EXP3: the last step before it starts again."""

_, _, BATCH, GAMMA, LOW, HIGH = range(6)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Start again if it is time, then draw by p."""
    if t > cells[LAST]:
        all_alike(arms)
        cells[LAST] = ceil(t / p[BATCH]) * p[BATCH]
    return choose(open_, arms, cells, p[GAMMA], rng)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The drawn arm's weight grows."""
    if was_chosen(arms, k):
        multiply(arms, cells, k, arms[STAKE, k] * to_unit(x, p[LOW], p[HIGH]))
        keep_in_bounds(arms, cells)


def tuned_to_variation(setting: ParamContext) -> float:
    """⌈(K ln K)^⅓·(T/v)^⅔⌉, at least one step, and no more than there are."""
    horizon, variation, arms = setting.number("horizon"), setting.number("variation"), setting.arms
    if variation == 0.0:
        return horizon
    return min(horizon, max(1.0, float(ceil((arms * log(arms)) ** (1 / 3) * (horizon / variation) ** (2 / 3)))))


def tuned_to_batch(setting: ParamContext) -> float:
    """min(1, sqrt(K ln K / ((e − 1)·B)))."""
    return min(1.0, sqrt(setting.arms * log(setting.arms) / ((e - 1.0) * setting.number("batch"))))


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
            tuned_to_variation,
            10.0,
            longest,
            least=1.0,
            integer=True,
            meaning="B, steps from one start to the next",
        ),
        Param("gamma", tuned_to_batch, most=1.0, meaning="γ, share of pulls of any arm, and rate"),
        *UNIT_PARAMETERS,
    )
    random = True
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=ROWS, cells=CELLS + 1)


POLICY = REXP3
