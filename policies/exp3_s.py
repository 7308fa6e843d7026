"""EXP3.S: an arm is drawn by p = (1−γ)·w/W + γ/K; then w ← w·exp(γ·x̂/K) + (e·α/K)·W, α = 1/T.

x̂ = z/p for the arm that was drawn, 0 for the others; z = clip((x − low)/(high − low), 0, 1); W is the sum before. The
second term leaves no arm with less than about e·α/K of all weight, so a late favourite has not far to come.
K counts the open arms. Arms that come and go, and first pulls: `policies/engine/exp3.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import e, log, sqrt

from environments.compiled import inlined
from policies.engine.base import Param, ParamContext, Sizes, Value
from policies.engine.exp3 import (
    CELLS,
    COUNT,
    INSIDE,
    ROWS,
    STAKE,
    TOTAL,
    WEIGHT,
    choose,
    keep_in_bounds,
    multiply,
    start,
    was_chosen,
)
from policies.engine.families import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.engine.rules import CHANGES, HORIZON_PARAMETER

HORIZON, _, GAMMA, LOW, HIGH = range(5)
"""Places of the parameters."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Draw by p."""
    return choose(open_, arms, cells, p[GAMMA], rng)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The drawn arm's weight grows, then all get their share of W."""
    if was_chosen(arms, k):
        share = e / p[HORIZON] / cells[COUNT] * cells[TOTAL]
        multiply(arms, cells, k, arms[STAKE, k] * to_unit(x, p[LOW], p[HIGH]))
        for j in range(open_.shape[0]):
            arms[WEIGHT, j] += share * arms[INSIDE, j]
        cells[TOTAL] += share * cells[COUNT]
        keep_in_bounds(arms, cells)


def tuned_to_changes(setting: ParamContext) -> float:
    """min(1, sqrt(K·(U·ln(KT) + e) / ((e − 1)·T))), the γ of the regret bound against U changes."""
    horizon, changes, arms = setting.number("horizon"), setting.number("changes"), setting.arms
    return min(1.0, sqrt(arms * (changes * log(arms * horizon) + e) / ((e - 1.0) * horizon)))


class EXP3S(UnitPolicy):
    """Promises little regret against any sequence of arms that changes a few times, whatever the rewards do."""

    name = "exp3-s"
    family = "sampling"
    reference = "Auer, Cesa-Bianchi, Freund and Schapire 2002"
    parameters = (
        HORIZON_PARAMETER,
        CHANGES,
        Param("gamma", tuned_to_changes, 0.001, 1.0, most=1.0, meaning="γ, share of pulls of any arm, and rate"),
        *UNIT_PARAMETERS,
    )
    random = True
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=ROWS, cells=CELLS)


POLICY = EXP3S
