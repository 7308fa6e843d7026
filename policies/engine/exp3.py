"""Weights of the EXP3 family, and the draw of an arm with p = (1−γ)·w/W + γ/K, W the sum of w over the K open arms.

Scale: p does not depend on a common factor of the weights. When W leaves [1e-20, 1e20], the weights of the open arms
are divided by their average. A weight below 1e-200 of the average is raised to that, so weights neither vanish nor
overflow.

Opening and closing: a closed arm stores its weight relative to the average when it closed, and is multiplied by the
average at the time when it opens again. A new arm starts with the average.

Importance weighting: the estimate x/p requires the probability p of the draw. Rewards without a draw, such as those of
first pulls, leave the weights unchanged.
"""

from math import exp

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED
from ravenlab.policies.engine.limits import COUNT_OF_ARMS, COUNT_OF_STEPS, FLAG, LARGEST_SQUARES, NONNEGATIVE, Limit
from ravenlab.policies.engine.rules import UnitPolicy

WEIGHT, ACTIVE, GAIN, PENDING = 1, 2, 3, 4
"""Rows: w (relative to the average while closed), 1 if the arm was open at the last draw, the learning rate
divided by p of the latest draw, and the number of draws without a reward yet."""

TOTAL, COUNT = 0, 1  # cells: W and K
CELLS = 2

LARGEST_TOTAL = 1e20
SMALLEST_WEIGHT = 1e-200


@inlined
def reset_weights(arms):  # type: ignore[no-untyped-def]
    """Set all weights to 1, also those of closed arms."""
    arms[WEIGHT] = 1.0


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Start with equal weights."""
    reset_weights(arms)


@inlined
def rescale_changed_arms(open_, arms):  # type: ignore[no-untyped-def]
    """Rescale the weights of arms that were opened or closed since the last draw."""
    total_before, count_before, total_kept, count_kept = 0.0, 0.0, 0.0, 0.0
    for k in range(open_.shape[0]):
        if arms[ACTIVE, k] == 1.0:
            total_before += arms[WEIGHT, k]
            count_before += 1.0
            if open_[k] != CLOSED:
                total_kept += arms[WEIGHT, k]
                count_kept += 1.0
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED and arms[ACTIVE, k] == 1.0:
            arms[WEIGHT, k] *= count_before / total_before
            arms[ACTIVE, k] = 0.0
            arms[PENDING, k] = 0.0
        elif open_[k] != CLOSED and arms[ACTIVE, k] == 0.0:
            if count_kept > 0.0:
                arms[WEIGHT, k] *= total_kept / count_kept
            arms[ACTIVE, k] = 1.0


@inlined
def refresh_totals(open_, arms, cells):  # type: ignore[no-untyped-def]
    """Update W and K for the arms that are open now."""
    changed = False
    for k in range(open_.shape[0]):
        changed |= (open_[k] != CLOSED) != (arms[ACTIVE, k] == 1.0)
    if changed:
        rescale_changed_arms(open_, arms)
    total, count = 0.0, 0.0
    for k in range(open_.shape[0]):
        total += arms[ACTIVE, k] * arms[WEIGHT, k]
        count += arms[ACTIVE, k]
    cells[TOTAL] = total
    cells[COUNT] = count


@inlined
def probability(arms, cells, k, gamma):  # type: ignore[no-untyped-def]
    """p of an open arm."""
    return (1.0 - gamma) * arms[WEIGHT, k] / cells[TOTAL] + gamma / cells[COUNT]


@inlined
def draw_by_weight(arms, cells, gamma, u):  # type: ignore[no-untyped-def]
    """The first open arm at which the running sum of p exceeds a uniform u; call `refresh_totals` first."""
    slope, floor = (1.0 - gamma) / cells[TOTAL], gamma / cells[COUNT]
    running, chosen = 0.0, -1
    for k in range(arms.shape[1]):
        if arms[ACTIVE, k] == 1.0:
            running += slope * arms[WEIGHT, k] + floor
            chosen = k
            if running > u:
                break
    return chosen


@inlined
def draw_arm(open_, arms, cells, gamma, rng):  # type: ignore[no-untyped-def]
    """Draw an arm with probability p; its reward x will multiply its weight by exp(γ·(x/p)/K) = exp(gain·x)."""
    refresh_totals(open_, arms, cells)
    k = draw_by_weight(arms, cells, gamma, rng.random())
    arms[GAIN, k] = gamma / (cells[COUNT] * probability(arms, cells, k, gamma))
    arms[PENDING, k] += 1.0
    return k


@inlined
def claim_draw(arms, k):  # type: ignore[no-untyped-def]
    """Whether a draw of arm k waits for a reward; if so, mark it as rewarded."""
    if arms[PENDING, k] == 0.0:
        return False
    arms[PENDING, k] -= 1.0
    return True


@inlined
def multiply_weight(arms, cells, k, exponent):  # type: ignore[no-untyped-def]
    """Multiply w of an open arm by exp(exponent), exponent ≤ 1."""
    before = arms[WEIGHT, k]
    arms[WEIGHT, k] = max(before * exp(exponent), SMALLEST_WEIGHT * cells[TOTAL])
    cells[TOTAL] = max(0.0, cells[TOTAL] - before) + arms[WEIGHT, k]


@inlined
def normalize_weights(arms, cells):  # type: ignore[no-untyped-def]
    """Divide the weights by their average if W is out of bounds.

    The sum is recomputed: after a dominant weight has dropped, the running W has lost the small ones to rounding.
    """
    if not 1.0 / LARGEST_TOTAL <= cells[TOTAL] <= LARGEST_TOTAL:
        total = 0.0
        for k in range(arms.shape[1]):
            total += arms[ACTIVE, k] * arms[WEIGHT, k]
        for k in range(arms.shape[1]):
            if arms[ACTIVE, k] == 1.0:
                arms[WEIGHT, k] = max(arms[WEIGHT, k] * (cells[COUNT] / total), SMALLEST_WEIGHT)
        cells[TOTAL] = cells[COUNT]


class EXP3Policy(UnitPolicy):
    """A policy that draws arms by weights."""

    family = "sampling"
    row_limits = {WEIGHT: Limit(1e-300, LARGEST_SQUARES), ACTIVE: FLAG, GAIN: NONNEGATIVE, PENDING: COUNT_OF_STEPS}
    cell_limits = {TOTAL: NONNEGATIVE, COUNT: COUNT_OF_ARMS}
