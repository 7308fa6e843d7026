"""UCB-V: m + sqrt(2V·ζ·ln t / N) + 3c·ζ·ln t / N, V the biased variance, for rewards of range 1.

Reference: Audibert, Munos and Szepesvári 2009. With L = ζ·ln t the score is m + sqrt(L)·B + L·C, where B = sqrt(2V/N)
and C = 3c/N change only with a pull of the arm.
"""

from __future__ import annotations

from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS, Param, Policy
from policies.engine.limits import NONNEGATIVE
from policies.engine.rules import MEAN, SQUARES, add_reward

SPREAD, WIDTH = 3, 4  # rows after mean and squares: B and C
ZETA, C = range(2)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(L)·B + L·C."""
    level = p[ZETA] * log(t)
    root = sqrt(level)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[MEAN, k] + root * arms[SPREAD, k] + level * arms[WIDTH, k]
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, B and C."""
    add_reward(arms, k, x)
    n = arms[PULLS, k]
    arms[SPREAD, k] = sqrt(2.0 * arms[SQUARES, k]) / n
    arms[WIDTH, k] = 3.0 * p[C] / n


class UCBV(Policy):
    r"""UCB with an empirical Bernstein bound: arms with a small variance are explored less.

    $$m + \sqrt{\frac{2V\zeta\ln t}{N}} + \frac{3c \zeta\ln t}{N}$$
    """

    name = "ucb-v"
    reference = "Audibert, Munos and Szepesvári 2009"
    parameters = (
        Param("zeta", 1.2, 0.01, 5.0, meaning="ζ, weight of ln t"),
        Param("c", 1.0, 0.01, 5.0, power=1, meaning="weight of the term without the variance"),
    )
    rows = 5
    row_limits = {SQUARES: NONNEGATIVE, SPREAD: NONNEGATIVE, WIDTH: NONNEGATIVE}
    choose = staticmethod(select)
    learn = staticmethod(update)
