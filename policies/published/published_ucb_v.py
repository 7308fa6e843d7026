"""UCB-V as the logistics script ran it: m + sqrt(S²)·sqrt(2·ln t / (N+1)) + 3·ln t / (N+1), S² accumulated.

S² ← S² + (x − m_old)(x − m_new)/(n − 1) for n > 1 grows like σ²·ln n: it is no variance.
"""

from __future__ import annotations

from math import log, sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS
from policies.published import PublishedPolicy
from policies.raven_ucb import ACCUMULATED, next_variance

MEAN, VARIANCE, SPREAD, SHARE = 1, 2, 3, 4
"""Rows: m, S², and what only a pull changes: sqrt(S²)/sqrt(N+1) and 1/(N+1)."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(2·ln t)·sqrt(S²/(N+1)) + 3·ln t·(1/(N+1))."""
    slow = sqrt(2.0 * log(t))
    fast = 3.0 * log(t)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        score = arms[MEAN, k] + slow * arms[SPREAD, k] + fast * arms[SHARE, k]
        if open_[k] != CLOSED and score > best:
            best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """m, S², and the arm's two widths."""
    n = arms[PULLS, k]
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / n
    arms[VARIANCE, k] = next_variance(arms[VARIANCE, k], before * (x - arms[MEAN, k]), n, ACCUMULATED)
    arms[SPREAD, k] = sqrt(arms[VARIANCE, k] / (n + 1.0))
    arms[SHARE, k] = 1.0 / (n + 1.0)


class PublishedUCBV(PublishedPolicy):
    """UCB-V with N+1 for N and a variance that grows for ever, untuned."""

    name = "published-ucb-v"
    rows = 5
    choose = staticmethod(select)
    learn = staticmethod(update)
