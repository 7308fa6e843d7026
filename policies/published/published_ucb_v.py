"""UCB-V as in the logistics script: m + sqrt(S²)·sqrt(2·ln t / (N+1)) + 3·ln t / (N+1), S² accumulated.

S² ← S² + (x − m_old)(x − m_new)/(n − 1) for n > 1 grows like σ²·ln n; it does not estimate the variance.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS
from ravenlab.policies.engine.limits import NONNEGATIVE, UNIT
from ravenlab.policies.published import PublishedPolicy
from ravenlab.policies.raven_ucb import ACCUMULATED, next_variance

MEAN, VARIANCE, SPREAD, SHARE = 1, 2, 3, 4  # rows: m, S², sqrt(S²/(N+1)) and 1/(N+1)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(2·ln t)·sqrt(S²/(N+1)) + 3·ln t·(1/(N+1))."""
    root = sqrt(2.0 * log(t))
    linear = 3.0 * log(t)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        score = arms[MEAN, k] + root * arms[SPREAD, k] + linear * arms[SHARE, k]
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, S² and the terms of the bonus."""
    n = arms[PULLS, k]
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / n
    arms[VARIANCE, k] = next_variance(arms[VARIANCE, k], before * (x - arms[MEAN, k]), n, ACCUMULATED)
    arms[SPREAD, k] = sqrt(arms[VARIANCE, k] / (n + 1.0))
    arms[SHARE, k] = 1.0 / (n + 1.0)


class PublishedUCBV(PublishedPolicy):
    r"""UCB-V of the logistics script, with N + 1 instead of N and an accumulated variance that keeps growing.

    $$m + \sqrt{S^2}\sqrt{\frac{2\ln t}{N+1}} + \frac{3\ln t}{N+1}$$
    """

    row_limits = {VARIANCE: NONNEGATIVE, SPREAD: NONNEGATIVE, SHARE: UNIT}
