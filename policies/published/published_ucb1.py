"""UCB1 as in the logistics script: argmax of m + sqrt(2·ln t / (N+1))."""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import PULLS
from ravenlab.policies.engine.limits import UNIT
from ravenlab.policies.engine.rules import argmax_score
from ravenlab.policies.published import PublishedPolicy

MEAN, WIDTH = 1, 2  # rows: m and 1/sqrt(N+1)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(2·ln t)·(1/sqrt(N+1))."""
    return argmax_score(open_, arms, MEAN, WIDTH, sqrt(2.0 * log(t)))


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and 1/sqrt(N+1)."""
    n = arms[PULLS, k]
    arms[MEAN, k] += (x - arms[MEAN, k]) / n
    arms[WIDTH, k] = 1.0 / sqrt(n + 1.0)


class PublishedUCB1(PublishedPolicy):
    r"""UCB1 of the logistics script, with N + 1 instead of N.

    $$m + \sqrt{\frac{2\ln t}{N + 1}}$$
    """

    row_limits = {WIDTH: UNIT}
