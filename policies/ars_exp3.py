"""ARS-EXP3: EXP3 over rounds, the j-th of ⌈√j⌉ steps; x̄, the mean of what is seen in a round, is its reward.

An arm is drawn by p = w/W; after its round w ← w·exp(−λ·(1 − x̄)/p), λ = η·sqrt(ln K / (K·J)), J the rounds that
fit into T. Each x counts as clip((x − low)/(high − low), 0, 1). This is EXP3 on losses: without a share of pulls for
any arm, rewards over p would let the one lucky draw of an unlikely arm decide everything.

First pulls are no rounds and change no weight; one that comes in the middle of a round is no part of it. Where the arm
that is played closes, its round ends there, with what was seen so far, and the next begins; so it does online for
rewards that come later than that. K counts the open arms. Arms that come and go: `policies/engine/exp3.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, log, sqrt

from environments.checks import MAX_STEPS
from environments.compiled import inlined
from policies.engine.base import CLOSED, Param, Sizes, Value
from policies.engine.exp3 import CELLS, COUNT, ROWS, STAKE, all_alike, draw, keep_in_bounds, look, multiply, probability
from policies.engine.families import UNIT_PARAMETERS, UnitPolicy, to_unit
from policies.engine.rules import HORIZON_PARAMETER

ROUNDS, ARM, LEFT, SEEN, MEAN, FIT = range(CELLS, CELLS + 6)
"""Cells after those of EXP3: rounds begun, the arm of this one, its steps left, rewards seen in it, x̄, and J."""

HORIZON, ETA, LOW, HIGH = range(4)
"""Places of the parameters."""


@inlined
def rounds_that_fit(horizon):  # type: ignore[no-untyped-def]
    """The largest J with ⌈√1⌉ + … + ⌈√J⌉ ≤ T: length i comes 2i − 1 times."""
    left, rounds, length = horizon, 0.0, 1.0
    while left >= length * (2.0 * length - 1.0):
        left -= length * (2.0 * length - 1.0)
        rounds += 2.0 * length - 1.0
        length += 1.0
    return rounds + left // length


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """All weights are 1."""
    all_alike(arms)
    cells[FIT] = rounds_that_fit(p[HORIZON])


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The arm of this round; or learn from the round and draw the next."""
    k = int(cells[ARM])
    if cells[LEFT] == 0.0 or open_[k] == CLOSED:
        if cells[SEEN] > 0.0:
            multiply(arms, cells, k, -arms[STAKE, k] * (1.0 - cells[MEAN]))
            keep_in_bounds(arms, cells)
        look(open_, arms, cells)
        k = draw(arms, cells, 0.0, rng.random())
        rate = p[ETA] * sqrt(log(cells[COUNT]) / (cells[COUNT] * cells[FIT]))
        arms[STAKE, k] = rate / probability(arms, cells, k, 0.0)
        cells[ROUNDS] += 1.0
        cells[ARM] = k
        cells[LEFT] = ceil(sqrt(cells[ROUNDS]))
        cells[SEEN] = 0.0
        cells[MEAN] = 0.0
    cells[LEFT] -= 1.0
    return k


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """x̄ of the round, if there is one and it is this arm's."""
    if cells[ROUNDS] > 0.0 and k == int(cells[ARM]):
        cells[SEEN] += 1.0
        cells[MEAN] += (to_unit(x, p[LOW], p[HIGH]) - cells[MEAN]) / cells[SEEN]


class ARSEXP3(UnitPolicy):
    """EXP3 that stays with an arm ever longer, so that late feedback is mostly of the arm that is played."""

    name = "ars-exp3"
    family = "sampling"
    reference = "Wang, Wang and Huang 2021"
    parameters = (
        replace(HORIZON_PARAMETER, most=float(MAX_STEPS)),
        Param("eta", 1.0, 0.01, 10.0, meaning="η, weight of the learning rate"),
        *UNIT_PARAMETERS,
    )
    random = True
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return Sizes(rows=ROWS, cells=CELLS + 6)


POLICY = ARSEXP3
