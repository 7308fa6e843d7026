"""UCB1: argmax of m + sqrt(c·ln t / N) (Auer, Cesa-Bianchi and Fischer 2002)."""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import PULLS
from ravenlab.policies.engine.index import NONE, IndexPolicy
from ravenlab.policies.engine.limits import UNIT
from ravenlab.policies.engine.parameters import Param

MEAN, WIDTH = 1, 2  # rows: m and 1/sqrt(N)


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """sqrt(c·ln t)."""
    return sqrt(p[0] * log(t))


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """m + sqrt(c·ln t)·(1/sqrt(N))."""
    return arms[MEAN, k] + c * arms[WIDTH, k]


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and 1/sqrt(N); 1/N is computed while the reward is, which a division by N would await."""
    inverse = 1.0 / arms[PULLS, k]
    arms[MEAN, k] += (x - arms[MEAN, k]) * inverse
    arms[WIDTH, k] = sqrt(inverse)
    return NONE


class UCB1(IndexPolicy):
    r"""Optimism in the face of uncertainty: the mean plus a bonus that shrinks with the pulls of the arm.

    $$m + \sqrt{\frac{c \ln t}{N}}$$
    """

    reference = "Auer, Cesa-Bianchi and Fischer 2002"
    parameters = (Param("c", 2.0, 0.001, 10.0, power=2, meaning="weight of the bonus, inside the root"),)
    row_limits = {WIDTH: UNIT}
