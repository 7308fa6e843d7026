"""CCB: argmax of m + a·(Δ/2)·sqrt(sqrt(T/N)), with Δ halved at deadlines (Liu and Tsuruoka 2016).

Δ starts at 1. With n_Δ = ⌈2·ln(TΔ²)/Δ²⌉, the first deadline is D = n_Δ·K. At a step t ≥ D, count the open arms with
m + r ≥ max(m − r), r = sqrt(ln(TΔ²)/(2n_Δ)); then Δ ← Δ/2 and D ← t + n_Δ·count. Halving stops once TΔ² ≤ e.
"""

from math import e, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS, Policy
from ravenlab.policies.engine.limits import FINITE_NONNEGATIVE, NONNEGATIVE, UNIT
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, argmax_score, confidence_radius, count_open, pulls_needed

MEAN, WIDTH = 1, 2  # rows: m and sqrt(sqrt(T/N))
DELTA, DEADLINE = 0, 1  # cells: Δ, and D; D is 0 until the first call of `select`
HORIZON, A = range(2)  # parameters
NEVER = 1e300  # the deadline after the last halving


@inlined
def set_deadline(cells, horizon, after, count):  # type: ignore[no-untyped-def]
    """D = after + n_Δ·count, or NEVER after the last halving."""
    delta = cells[DELTA]
    if horizon * delta * delta > e:
        cells[DEADLINE] = after + pulls_needed(horizon, delta) * count
    else:
        cells[DEADLINE] = NEVER


@inlined
def count_competitive(open_, arms, horizon, delta):  # type: ignore[no-untyped-def]
    """Number of open arms with m + r ≥ max(m − r)."""
    r = confidence_radius(horizon, delta)
    best = -1e300
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            best = max(best, arms[MEAN, k] - r)
    count = 0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED and arms[MEAN, k] + r >= best:
            count += 1
    return count


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Set Δ = 1."""
    cells[DELTA] = 1.0


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + a·(Δ/2)·sqrt(sqrt(T/N)), after halving Δ at a deadline."""
    if cells[DEADLINE] == 0.0:
        set_deadline(cells, p[HORIZON], 0.0, count_open(open_))
    if t >= cells[DEADLINE]:
        count = count_competitive(open_, arms, p[HORIZON], cells[DELTA])
        cells[DELTA] *= 0.5
        set_deadline(cells, p[HORIZON], t, count)
    bonus = p[A] * 0.5 * cells[DELTA]
    return argmax_score(open_, arms, MEAN, WIDTH, bonus)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and sqrt(sqrt(T/N))."""
    n = arms[PULLS, k]
    arms[MEAN, k] += (x - arms[MEAN, k]) / n
    arms[WIDTH, k] = sqrt(sqrt(p[HORIZON] / n))


class CCB(Policy):
    r"""UCB with a bonus that is halved in stages, each long enough to separate the remaining arms.

    $$m + a \frac{\Delta}{2}\sqrt{\sqrt{T/N}}$$
    """

    reference = "Liu and Tsuruoka 2016"
    scalable = False
    parameters = (
        HORIZON_PARAMETER,
        Param("a", 1.0, 0.01, 10.0, meaning="weight of the bonus"),
    )
    row_limits = {WIDTH: NONNEGATIVE}
    cell_limits = {DELTA: UNIT, DEADLINE: FINITE_NONNEGATIVE}
