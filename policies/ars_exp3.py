"""ARS-EXP3: EXP3 in rounds of increasing length, for delayed feedback (Wang, Wang and Huang 2021).

Round j lasts ⌈√j⌉ steps with one arm, drawn with probability p = w/W. After the round, with x̄ the mean reward observed
in it, w ← w·exp(−λ·(1 − x̄)/p), λ = η·sqrt(ln K / (K·J)), where J is the number of rounds that fit into T. Rewards are
scaled to z = clip((x − low)/(high − low), 0, 1). The update uses losses 1 − x̄: without uniform exploration, dividing
rewards by a small p would let a single lucky draw dominate.

First pulls belong to no round and change no weight. A round ends early when its arm closes; rewards observed so far
are used. K is the number of open arms. Opening and closing of arms: `policies/engine/exp3.py`.
"""

from dataclasses import replace
from math import ceil, log, sqrt

from ravenlab.common.checks import MAX_STEPS
from ravenlab.common.compiled import inlined
from ravenlab.policies.engine import exp3
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.limits import ARM_INDEX, CONSTANT, COUNT_OF_STEPS, UNIT
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, to_unit

ROUNDS, ARM, LEFT, OBSERVED, MEAN, FIT = range(exp3.CELLS, exp3.CELLS + 6)
"""Cells after those of EXP3: rounds started, current arm, steps left, rewards observed in the round, x̄, and J."""

HORIZON, ETA, LOW, HIGH = range(4)  # parameters


@inlined
def rounds_that_fit(horizon):  # type: ignore[no-untyped-def]
    """The largest J with ⌈√1⌉ + … + ⌈√J⌉ ≤ T; length i occurs 2i − 1 times."""
    left, rounds, length = horizon, 0.0, 1.0
    while left >= length * (2.0 * length - 1.0):
        left -= length * (2.0 * length - 1.0)
        rounds += 2.0 * length - 1.0
        length += 1.0
    return rounds + left // length


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Start with equal weights."""
    exp3.reset_weights(arms)
    cells[FIT] = rounds_that_fit(p[HORIZON])


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The arm of the current round; at its end, update the weight and draw the next arm."""
    k = int(cells[ARM])
    if cells[LEFT] == 0.0 or open_[k] == CLOSED:
        if cells[OBSERVED] > 0.0:
            exp3.multiply_weight(arms, cells, k, -arms[exp3.GAIN, k] * (1.0 - cells[MEAN]))
            exp3.normalize_weights(arms, cells)
        exp3.refresh_totals(open_, arms, cells)
        k = exp3.draw_by_weight(arms, cells, 0.0, rng.random())
        rate = p[ETA] * sqrt(log(cells[exp3.COUNT]) / (cells[exp3.COUNT] * cells[FIT]))
        arms[exp3.GAIN, k] = rate / exp3.probability(arms, cells, k, 0.0)
        cells[ROUNDS] += 1.0
        cells[ARM] = k
        cells[LEFT] = ceil(sqrt(cells[ROUNDS]))
        cells[OBSERVED] = 0.0
        cells[MEAN] = 0.0
    cells[LEFT] -= 1.0
    return k


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update x̄ if the reward belongs to the current round."""
    if cells[ROUNDS] > 0.0 and k == int(cells[ARM]):
        cells[OBSERVED] += 1.0
        cells[MEAN] += (to_unit(x, p[LOW], p[HIGH]) - cells[MEAN]) / cells[OBSERVED]


class ARSEXP3(exp3.EXP3Policy):
    r"""EXP3 that keeps an arm for longer and longer rounds, so that delayed rewards mostly belong to the current arm.

    $$w \leftarrow w \exp\Bigl(-\eta\sqrt{\frac{\ln K}{K J}} \frac{1 - \bar x}{p}\Bigr)$$
    """

    reference = "Wang, Wang and Huang 2021"
    parameters = (
        replace(HORIZON_PARAMETER, most=float(MAX_STEPS)),
        Param("eta", 1.0, 0.01, 10.0, meaning="η, factor of the learning rate"),
        *exp3.EXP3Policy.parameters,
    )
    cell_limits = {
        **exp3.EXP3Policy.cell_limits,
        ROUNDS: COUNT_OF_STEPS,
        ARM: ARM_INDEX,
        LEFT: COUNT_OF_STEPS,
        OBSERVED: COUNT_OF_STEPS,
        MEAN: UNIT,
        FIT: CONSTANT,
    }
