"""Improved UCB: pull all active arms equally often, eliminate bad ones, refine the resolution (Auer and Ortner 2010).

Rounds i = 0 … ⌊½·log₂(T/e)⌋ with Δ = 2^(−i): pull the active arms in turn until each has n = ⌈2·ln(TΔ²)/Δ²⌉ pulls, then
eliminate those with m + a·r < max(m − a·r), r = sqrt(ln(TΔ²)/(2n)). A single active arm is pulled for good; after the
last round the active arm with the best mean is pulled.

When an arm opens or the last active arm closes, the algorithm restarts with all open arms, Δ = 1 and empty statistics.
The first pull of a new arm, made before `select` is called, is the first pull after the restart.
"""

from math import e

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS, WAITING, Policy
from ravenlab.policies.engine.limits import COUNT_OF_PULLS, FLAG, NONNEGATIVE, UNIT
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, confidence_radius, pulls_needed

COUNT, MEAN, ACTIVE, WAS_OPEN = 1, 2, 3, 4
"""Rows: pulls and mean since the restart, 1 if the arm is active, 1 if it was open at the last selection."""

DELTA, NEEDED = 0, 1  # cells: Δ and n; 0 before the first selection
HORIZON, A = range(2)  # parameters


@inlined
def rounds_left(horizon, delta):  # type: ignore[no-untyped-def]
    """Whether the round of Δ is played, TΔ² ≥ e."""
    return horizon * delta * delta >= e


@inlined
def begin_round(cells, horizon, delta):  # type: ignore[no-untyped-def]
    """Set Δ and n; after the last round one pull suffices for a mean."""
    cells[DELTA] = delta
    cells[NEEDED] = 1.0
    if rounds_left(horizon, delta):
        cells[NEEDED] = pulls_needed(horizon, delta)


@inlined
def restart(open_, arms, cells, horizon):  # type: ignore[no-untyped-def]
    """Make all open arms active and clear their statistics."""
    for k in range(open_.shape[0]):
        is_open = 1.0 if open_[k] != CLOSED else 0.0
        arms[COUNT, k] = 0.0
        arms[MEAN, k] = 0.0
        arms[ACTIVE, k] = is_open
        arms[WAS_OPEN, k] = is_open
    begin_round(cells, horizon, 1.0)


@inlined
def needs_restart(open_, arms):  # type: ignore[no-untyped-def]
    """Register arms that opened or closed; return whether the algorithm must restart.

    An open arm without rewards is passed as closed during online use, so it is not registered as closed.
    """
    opened, active = False, 0
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            if arms[WAS_OPEN, k] == 1.0 and arms[PULLS, k] > 0.0:
                arms[WAS_OPEN, k] = 0.0
                arms[ACTIVE, k] = 0.0
        elif arms[WAS_OPEN, k] == 0.0:
            opened = True
        elif arms[ACTIVE, k] == 1.0:
            active += 1
    return opened or active == 0


@inlined
def next_in_turn(open_, arms, needed):  # type: ignore[no-untyped-def]
    """The active arm with the fewest pulls if these are fewer than needed, else −1.

    Arms that wait for a reward are skipped while another arm needs a pull.
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
def eliminate(open_, arms, cells, p):  # type: ignore[no-untyped-def]
    """Eliminate active arms with m + a·r < max(m − a·r)."""
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
    """The next active arm in turn; ends as many rounds as are complete."""
    if needs_restart(open_, arms):
        restart(open_, arms, cells, p[HORIZON])
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
        eliminate(open_, arms, cells, p)
        begin_round(cells, p[HORIZON], 0.5 * cells[DELTA])


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update the mean; the first pull of an arm that has opened causes a restart."""
    if open_[k] != CLOSED and arms[WAS_OPEN, k] == 0.0:
        restart(open_, arms, cells, p[HORIZON])
    arms[COUNT, k] += 1.0
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[COUNT, k]


class UCBImp(Policy):
    r"""Successive elimination in rounds of increasing resolution (improved UCB).

    $$\text{eliminate if } m + a r < \max(m - a r), \qquad r = \sqrt{\frac{\ln(T\Delta^2)}{2n}}, \quad
    n = \Bigl\lceil \frac{2\ln(T\Delta^2)}{\Delta^2} \Bigr\rceil$$
    """

    reference = "Auer and Ortner 2010"
    parameters = (
        HORIZON_PARAMETER,
        Param("a", 1.0, 0.01, 10.0, power=1, meaning="factor of the confidence radius r"),
    )
    row_limits = {COUNT: COUNT_OF_PULLS, ACTIVE: FLAG, WAS_OPEN: FLAG}
    cell_limits = {DELTA: UNIT, NEEDED: NONNEGATIVE}
