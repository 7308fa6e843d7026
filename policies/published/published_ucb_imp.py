"""Improved UCB as in the logistics script: a random active arm, elimination between rounds.

Rounds i = 0 … ⌊½·log₂(T/e)⌋ with Δ = 2^−i, n = ⌈2·ln(TΔ²)/Δ²⌉ and r = sqrt(ln(TΔ²)/(2n)). When all active arms have
N ≥ n: eliminate those with m + r < max(m − r), then Δ ← Δ/2. After the last round nothing is eliminated, because r is
undefined for TΔ² < e.

Active arms are open and not eliminated. An arm that closes is no longer eliminated when it opens again; if all open
arms are eliminated, all become active again.
"""

from math import log

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS
from ravenlab.policies.engine.limits import FLAG, NONNEGATIVE, UNIT
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, MEAN, confidence_radius, pulls_needed, update_mean
from ravenlab.policies.published import PublishedPolicy

ELIMINATED = 2  # row after the mean: 1 if the arm is eliminated
DELTA, ENOUGH, RADIUS = 0, 1, 2  # cells: Δ, n and r of the round; Δ = 0 after the last round


@inlined
def begin_round(delta, cells, horizon):  # type: ignore[no-untyped-def]
    """Set Δ, n and r, or Δ = 0 after the last round."""
    if log(horizon * delta * delta) < 1.0:
        cells[DELTA] = 0.0
        return
    cells[DELTA] = delta
    cells[ENOUGH] = pulls_needed(horizon, delta)
    cells[RADIUS] = confidence_radius(horizon, delta)


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Begin round 0."""
    begin_round(1.0, cells, p[0])


@inlined
def end_round(open_, arms, r):  # type: ignore[no-untyped-def]
    """Eliminate active arms with m + r < max(m − r); return the number of those left."""
    highest = -1e300
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[ELIMINATED, k] == 0.0:
            highest = max(highest, arms[MEAN, k] - r)
    count = 0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[ELIMINATED, k] == 0.0:
            if arms[MEAN, k] + r < highest:
                arms[ELIMINATED, k] = 1.0
            else:
                count += 1
    return count


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A random active arm, after the end of a complete round.

    Rounds end here rather than after a pull, because arms may open and close in between.
    """
    count, fewest = 0, 1e300
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            arms[ELIMINATED, k] = 0.0
        elif arms[ELIMINATED, k] == 0.0:
            count += 1
            fewest = min(fewest, arms[PULLS, k])
    if count == 0:
        for k in range(open_.shape[0]):
            arms[ELIMINATED, k] = 0.0
            if open_[k] != CLOSED:
                count += 1
                fewest = min(fewest, arms[PULLS, k])
    if cells[DELTA] > 0.0 and fewest >= cells[ENOUGH]:
        count = end_round(open_, arms, cells[RADIUS])
        begin_round(0.5 * cells[DELTA], cells, p[0])
    place = int(rng.random() * count)
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[ELIMINATED, k] == 0.0:
            if place == 0:
                return k
            place -= 1
    return -1


class PublishedUCBImp(PublishedPolicy):
    r"""Improved UCB of the logistics script, which pulls active arms at random instead of in turn.

    $$\text{eliminate if } m + r < \max(m - r), \qquad r = \sqrt{\frac{\ln(T\Delta^2)}{2n}}$$
    """

    parameters = (HORIZON_PARAMETER,)
    random = True
    row_limits = {ELIMINATED: FLAG}
    cell_limits = {DELTA: UNIT, ENOUGH: NONNEGATIVE, RADIUS: NONNEGATIVE}
    learn = staticmethod(update_mean)
