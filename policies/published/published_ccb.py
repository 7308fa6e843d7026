"""CCB as in the logistics script: argmax of m + (Δ/2)·sqrt(sqrt(T/(N + 1e-6))).

Initially Δ = 1 and M = 0. After each pull, if N of the pulled arm ≥ M: Δ ← Δ/2, then M ← M + ⌈2·ln(TΔ²)/Δ²⌉. Once
TΔ² < 1 that term is negative, so M decreases, and every further pull halves Δ. Halving stops below 1e-150, where the
bonus is negligible, so that Δ² does not underflow.
"""

from math import sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import PULLS
from ravenlab.policies.engine.limits import FINITE, NONNEGATIVE, UNIT
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, argmax_score, pulls_needed
from ravenlab.policies.published import PublishedPolicy

MEAN, WIDTH = 1, 2  # rows: m and (N + 1e-6)^(−1/4)
DELTA, ENOUGH, BONUS = 0, 1, 2  # cells: Δ, M and (Δ/2)·T^(1/4)
SMALLEST = 1e-150  # of Δ


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Set Δ = 1 and M = 0."""
    cells[DELTA] = 1.0
    cells[BONUS] = 0.5 * sqrt(sqrt(p[0]))


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + (Δ/2)·T^(1/4)·(N + 1e-6)^(−1/4)."""
    return argmax_score(open_, arms, MEAN, WIDTH, cells[BONUS])


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, then Δ and M if the arm has enough pulls."""
    n = arms[PULLS, k]
    arms[MEAN, k] += (x - arms[MEAN, k]) / n
    arms[WIDTH, k] = 1.0 / sqrt(sqrt(n + 1e-6))
    if n >= cells[ENOUGH] and cells[DELTA] >= SMALLEST:
        delta = 0.5 * cells[DELTA]
        cells[DELTA] = delta
        cells[ENOUGH] += pulls_needed(p[0], delta)
        cells[BONUS] = 0.5 * delta * sqrt(sqrt(p[0]))


class PublishedCCB(PublishedPolicy):
    r"""CCB of the logistics script, untuned, with a deadline counted in pulls of the arm just pulled.

    $$m + \frac{\Delta}{2}\sqrt{\sqrt{T/(N + 10^{-6})}}$$
    """

    parameters = (HORIZON_PARAMETER,)
    row_limits = {WIDTH: UNIT}
    cell_limits = {DELTA: UNIT, ENOUGH: FINITE, BONUS: NONNEGATIVE}
