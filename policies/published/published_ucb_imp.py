"""UCB-improved as the logistics script ran it: a random active arm, elimination between rounds.

Rounds m = 0 … ⌊½·log₂(T/e)⌋ with Δ = 2^−m, n_m = ⌈2·ln(TΔ²)/Δ²⌉ and r = sqrt(ln(TΔ²)/(2·n_m)). When
all active arms have N ≥ n_m: drop those with m + r < max(m − r), Δ ← Δ/2. After the last round nothing
is dropped any more, since r would not be defined (TΔ² < e).

Active is what is open and was not dropped. An arm that closes is forgotten as dropped, so when it
opens again it is active; where every open arm was dropped, all of them are active again.
"""

from __future__ import annotations

from math import log

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS
from policies.engine.rules import HORIZON_PARAMETER, MEAN, confidence_radius, pulls_needed, update_mean
from policies.published import PublishedPolicy

DROPPED = 2
"""Row after the mean: 1 where the arm was dropped."""

DELTA, ENOUGH, RADIUS = 0, 1, 2
"""Cells: Δ, n_m and r of the round; Δ = 0 after the last one."""


@inlined
def begin_round(delta, cells, horizon):  # type: ignore[no-untyped-def]
    """Δ, n_m and r, or the end of all rounds."""
    if log(horizon * delta * delta) < 1.0:
        cells[DELTA] = 0.0
        return
    cells[DELTA] = delta
    cells[ENOUGH] = pulls_needed(horizon, delta)
    cells[RADIUS] = confidence_radius(horizon, delta)


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Round 0."""
    begin_round(1.0, cells, p[0])


@inlined
def end_round(open_, arms, r):  # type: ignore[no-untyped-def]
    """Drop the active arms with m + r < max(m − r); gives how many are left."""
    highest = -1e300
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[DROPPED, k] == 0.0:
            highest = max(highest, arms[MEAN, k] - r)
    count = 0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[DROPPED, k] == 0.0:
            if arms[MEAN, k] + r < highest:
                arms[DROPPED, k] = 1.0
            else:
                count += 1
    return count


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """End the round if all have their pulls, then any active arm.

    What follows a pull is done here, before the next one, because arms may open and close between.
    """
    count, fewest = 0, 1e300
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            arms[DROPPED, k] = 0.0
        elif arms[DROPPED, k] == 0.0:
            count += 1
            fewest = min(fewest, arms[PULLS, k])
    if count == 0:
        for k in range(open_.shape[0]):
            arms[DROPPED, k] = 0.0
            if open_[k] != CLOSED:
                count += 1
                fewest = min(fewest, arms[PULLS, k])
    if cells[DELTA] > 0.0 and fewest >= cells[ENOUGH]:
        count = end_round(open_, arms, cells[RADIUS])
        begin_round(0.5 * cells[DELTA], cells, p[0])
    place = int(rng.random() * count)
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[DROPPED, k] == 0.0:
            if place == 0:
                return k
            place -= 1
    return -1


class PublishedUCBImp(PublishedPolicy):
    """UCB-improved that pulls active arms at random instead of in turn, untuned."""

    name = "published-ucb-imp"
    parameters = (HORIZON_PARAMETER,)
    random = True
    rows = 3
    cells = 3
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update_mean)
