"""ARS-UCB: argmax of F/N + sqrt(a·ln t / N), played k steps in a row in its k-th round.

For feedback that comes late, in parts, summed and without a name: an arm is credited (F) with all that is seen
while it is played. What belongs to the arm before it weighs less and less, as rounds grow longer.

The first pull of an arm is its first round. Where an arm opens in the middle of another one's round, its first pull
comes between and the round goes on. Where the arm that is played closes, its round ends there and a new choice is made.
"""

from __future__ import annotations

from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, Param, Policy
from policies.engine.rules import argmax_score
from policies.ucb1 import MEAN, WIDTH, update

ROUNDS = 3
"""Row after those of UCB1, which are F/N and 1/sqrt(N) here: the rounds begun."""

ARM, LEFT = 0, 1
"""Cells: the arm of this round, and how many steps of it are left."""


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """First pulls are made elsewhere, so the next round of each arm is its second."""
    for k in range(arms.shape[1]):
        arms[ROUNDS, k] = 1.0


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The arm of this round, or argmax of F/N + sqrt(a·ln t)·(1/sqrt(N)) for the next."""
    k = int(cells[ARM])
    if cells[LEFT] == 0.0 or open_[k] == CLOSED:
        k = argmax_score(open_, arms, MEAN, WIDTH, sqrt(p[0] * log(t)))
        arms[ROUNDS, k] += 1.0
        cells[ARM] = k
        cells[LEFT] = arms[ROUNDS, k]
    cells[LEFT] -= 1.0
    return k


class ARSUCB(Policy):
    """UCB1 that stays with an arm ever longer, so that late feedback is mostly of the arm that is played."""

    name = "ars-ucb"
    reference = "Wang, Wang and Huang 2021"
    parameters = (Param("a", 4.0, 0.01, 10.0, power=2, meaning="weight of the bonus, inside the root"),)
    rows = 4
    cells = 2
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)
