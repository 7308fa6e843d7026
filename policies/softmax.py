"""Softmax (Boltzmann exploration): an open arm is drawn with probability p ∝ exp(m / τ) (Sutton and Barto 1998).

A pull changes the weight of one arm only, so weights w = exp((m − μ)/τ) are stored, where μ is the largest mean when
they were last computed together. They are recomputed when the largest weight leaves [1e-20, 1e20]; until then, weights
that underflow are negligible.
"""

from math import exp

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS, Policy
from ravenlab.policies.engine.limits import FINITE_NONNEGATIVE
from ravenlab.policies.engine.parameters import Param

MEAN, WEIGHT = 1, 2  # rows: m and w
REFERENCE = 0  # cell: μ
LARGEST_EXPONENT = 700.0  # upper limit of the exponent, so that weights stay finite


@inlined
def update_weight(arms, k, reference, tau):  # type: ignore[no-untyped-def]
    """Compute w of one arm."""
    arms[WEIGHT, k] = exp(min(LARGEST_EXPONENT, (arms[MEAN, k] - reference) / tau))


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """The first open arm at which the running sum of w exceeds u·Σw, for one uniform u."""
    largest, total = 0.0, 0.0
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            largest = max(largest, arms[WEIGHT, k])
            total += arms[WEIGHT, k]
    if not 1e-20 <= largest <= 1e20:
        reference = -1e300
        for k in range(open_.shape[0]):
            if open_[k] != CLOSED:
                reference = max(reference, arms[MEAN, k])
        cells[REFERENCE] = reference
        total = 0.0
        for k in range(open_.shape[0]):
            update_weight(arms, k, reference, p[0])
            if open_[k] != CLOSED:
                total += arms[WEIGHT, k]
    point = rng.random() * total
    running, chosen = 0.0, -1
    for k in range(open_.shape[0]):
        # an arm without weight is never drawn, even if rounding puts the point at the end
        if open_[k] != CLOSED and arms[WEIGHT, k] > 0.0:
            running += arms[WEIGHT, k]
            chosen = k
            if running > point:
                break
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m and w of the arm."""
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[PULLS, k]
    update_weight(arms, k, cells[REFERENCE], p[0])


class Softmax(Policy):
    r"""Draws arms with probabilities that increase exponentially with their means.

    $$p \propto e^{m/\tau}$$
    """

    family = "sampling"
    reference = "Sutton and Barto 1998 (Boltzmann exploration)"
    parameters = (Param("tau", 0.1, 0.001, 1.0, least=1e-9, power=1, meaning="τ, temperature"),)
    row_limits = {WEIGHT: FINITE_NONNEGATIVE}
    cells = 1
