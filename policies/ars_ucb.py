"""ARS-UCB: argmax of F/N + sqrt(a·ln t / N), played k steps in a row in round k of an arm (Wang, Wang and Huang 2021).

For aggregated, anonymous, delayed feedback: F is the sum of all rewards observed while the arm is played. Rewards of
the previous arm matter less and less as rounds get longer.

The first pull of an arm is its first round. If an arm opens during a round, its first pull is inserted and the round
continues. If the current arm closes, the round ends and a new arm is selected.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, Policy
from ravenlab.policies.engine.limits import ARM_INDEX, UNIT, Limit
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import argmax_score
from ravenlab.policies.ucb1 import MEAN, WIDTH, update

ROUNDS = 3  # row after those of UCB1, which hold F/N and 1/sqrt(N): rounds started
ARM, LEFT = 0, 1  # cells: arm of the current round, and its remaining steps


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Count the first pull of each arm as its first round."""
    arms[ROUNDS] = 1.0


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The arm of the current round, or argmax of F/N + sqrt(a·ln t)·(1/sqrt(N)) for the next round."""
    k = int(cells[ARM])
    if cells[LEFT] == 0.0 or open_[k] == CLOSED:
        k = argmax_score(open_, arms, MEAN, WIDTH, sqrt(p[0] * log(t)))
        arms[ROUNDS, k] += 1.0
        cells[ARM] = k
        cells[LEFT] = arms[ROUNDS, k]
    cells[LEFT] -= 1.0
    return k


class ARSUCB(Policy):
    r"""UCB1 that keeps an arm for longer and longer rounds, so that delayed rewards mostly belong to the current arm.

    $$\frac{F}{N} + \sqrt{\frac{a \ln t}{N}}$$
    """

    reference = "Wang, Wang and Huang 2021"
    parameters = (Param("a", 4.0, 0.01, 10.0, power=2, meaning="weight of the bonus, inside the root"),)
    row_limits = {WIDTH: UNIT, ROUNDS: Limit(1.0, whole=True)}
    cell_limits = {ARM: ARM_INDEX, LEFT: Limit(0.0, whole=True)}
    learn = staticmethod(update)
