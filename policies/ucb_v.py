"""UCB-V: m + sqrt(2V·ζ·ln t / N) + 3c·ζ·ln t / N, V the biased variance, for rewards of range 1.

Reference: Audibert, Munos and Szepesvári 2009. With L = ζ·ln t the score is m + sqrt(L)·B + L·C, where B = sqrt(2V/N)
and C = 3c/N change only with a pull of the arm.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import PULLS
from ravenlab.policies.engine.index import NONE, IndexPolicy
from ravenlab.policies.engine.limits import NONNEGATIVE
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import MEAN, SQUARES

SPREAD, WIDTH = 3, 4  # rows after mean and squares: B and C
ZETA, C = range(2)  # parameters


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """L = ζ·ln t."""
    return p[ZETA] * log(t)


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """m + sqrt(L)·B + L·C."""
    return arms[MEAN, k] + sqrt(c) * arms[SPREAD, k] + c * arms[WIDTH, k]


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, Q = NV, B = sqrt(2Q)/N and C; 1/N is computed while the reward is, which divisions by N would await."""
    inverse = 1.0 / arms[PULLS, k]
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before * inverse
    arms[SQUARES, k] += before * (x - arms[MEAN, k])
    arms[SPREAD, k] = sqrt(2.0 * arms[SQUARES, k]) * inverse
    arms[WIDTH, k] = 3.0 * p[C] * inverse
    return NONE


class UCBV(IndexPolicy):
    r"""UCB with an empirical Bernstein bound: arms with a small variance are explored less.

    $$m + \sqrt{\frac{2V\zeta\ln t}{N}} + \frac{3c \zeta\ln t}{N}$$
    """

    reference = "Audibert, Munos and Szepesvári 2009"
    parameters = (
        Param("zeta", 1.2, 0.01, 5.0, meaning="ζ, weight of ln t"),
        Param("c", 1.0, 0.01, 5.0, power=1, meaning="weight of the term without the variance"),
    )
    row_limits = {SQUARES: NONNEGATIVE, SPREAD: NONNEGATIVE, WIDTH: NONNEGATIVE}
