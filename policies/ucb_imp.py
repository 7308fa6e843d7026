"""Improved UCB: pull all active arms equally often, drop the bad ones, look closer.

Rounds m = 0 … ⌊½·log₂(T/e)⌋ with Δ = 2^(−m): pull the active arms in turn until each has
n_m = ⌈2·ln(TΔ²)/Δ²⌉ pulls, then drop those with m + a·r < max(m − a·r), r = sqrt(ln(TΔ²)/(2n_m)). A
single active arm is simply pulled; after the last round, the active one with the best mean is.

When an arm opens or the last active one closes, all starts again with all open arms, Δ = 1 and nothing
known. The first pull of a new arm, which is made before `select` is asked, is the first of the new start.
"""

from __future__ import annotations

from math import e

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS, WAITING, Param, Policy
from policies.engine.rules import HORIZON_PARAMETER, confidence_radius, pulls_needed

COUNT, MEAN, ACTIVE, SEEN = 1, 2, 3, 4
"""Rows: pulls and mean since the start, 1 where an arm is active, 1 where it was open when last looked at."""

DELTA, NEEDED = 0, 1
"""Cells: Δ, and n_m; 0 before the first start."""

HORIZON, A = range(2)
"""Places of the parameters."""


@inlined
def rounds_left(horizon, delta):  # type: ignore[no-untyped-def]
    """Whether the round of Δ is played: m ≤ ½·log₂(T/e) says TΔ² ≥ e."""
    return horizon * delta * delta >= e


@inlined
def begin_round(cells, horizon, delta):  # type: ignore[no-untyped-def]
    """Δ and n_m; after the last round one pull is enough, so that a mean is known."""
    cells[DELTA] = delta
    cells[NEEDED] = 1.0
    if rounds_left(horizon, delta):
        cells[NEEDED] = pulls_needed(horizon, delta)


@inlined
def begin(open_, arms, cells, horizon):  # type: ignore[no-untyped-def]
    """All open arms are active, and nothing is known of them."""
    for k in range(open_.shape[0]):
        is_open = 1.0 if open_[k] != CLOSED else 0.0
        arms[COUNT, k] = 0.0
        arms[MEAN, k] = 0.0
        arms[ACTIVE, k] = is_open
        arms[SEEN, k] = is_open
    begin_round(cells, horizon, 1.0)


@inlined
def look(open_, arms):  # type: ignore[no-untyped-def]
    """Take note of arms that opened or closed; True where that means a new start.

    An arm without a single reward is not offered here even while it is open, so it has not closed.
    """
    opened, active = False, 0
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            if arms[SEEN, k] == 1.0 and arms[PULLS, k] > 0.0:
                arms[SEEN, k] = 0.0
                arms[ACTIVE, k] = 0.0
        elif arms[SEEN, k] == 0.0:
            opened = True
        elif arms[ACTIVE, k] == 1.0:
            active += 1
    return opened or active == 0


@inlined
def next_in_turn(open_, arms, needed):  # type: ignore[no-untyped-def]
    """The active arm with the fewest pulls if these are fewer than needed, else −1.

    One whose reward is still to come is passed over while another one needs a pull.
    """
    fewest, chosen, fewest_waiting, waiting = needed, -1, needed, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED or arms[ACTIVE, k] == 0.0:
            continue
        if open_[k] == WAITING:
            if arms[COUNT, k] < fewest_waiting:
                fewest_waiting, waiting = arms[COUNT, k], k
        elif arms[COUNT, k] < fewest:
            fewest, chosen = arms[COUNT, k], k
    return chosen if chosen >= 0 else waiting


@inlined
def drop(open_, arms, cells, p):  # type: ignore[no-untyped-def]
    """Drop active arms with m + a·r < max(m − a·r)."""
    width = p[A] * confidence_radius(p[HORIZON], cells[DELTA])
    best = -1e300
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[ACTIVE, k] == 1.0:
            best = max(best, arms[MEAN, k] - width)
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[MEAN, k] + width < best:
            arms[ACTIVE, k] = 0.0


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The next active arm in turn, through as many ends of rounds as it takes."""
    if look(open_, arms):
        begin(open_, arms, cells, p[HORIZON])
    while True:
        active, best, chosen = 0, -1e300, -1
        for k in range(open_.shape[0]):
            if open_[k] != CLOSED and arms[ACTIVE, k] == 1.0:
                active += 1
                if arms[MEAN, k] > best:
                    best, chosen = arms[MEAN, k], k
        if active == 1:
            return chosen
        turn = next_in_turn(open_, arms, cells[NEEDED])
        if turn >= 0:
            return turn
        if not rounds_left(p[HORIZON], cells[DELTA]):
            return chosen
        drop(open_, arms, cells, p)
        begin_round(cells, p[HORIZON], 0.5 * cells[DELTA])


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Mean since the start; a pull of an arm that was not open before is the first of a new one."""
    if arms[SEEN, k] == 0.0:
        begin(open_, arms, cells, p[HORIZON])
    arms[COUNT, k] += 1.0
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[COUNT, k]


class UCBImp(Policy):
    """Improved UCB: successive elimination in rounds of ever finer resolution."""

    name = "ucb-imp"
    reference = "Auer and Ortner 2010"
    parameters = (
        HORIZON_PARAMETER,
        Param("a", 1.0, 0.01, 10.0, power=1, meaning="weight of the width r"),
    )
    rows = 5
    cells = 2
    choose = staticmethod(select)
    learn = staticmethod(update)
