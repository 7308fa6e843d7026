"""Softmax: an open arm is pulled with probability p ∝ exp(m / τ).

A pull changes the weight of one arm only, so weights w = exp((m − μ)/τ) are kept from step to step,
μ being the largest mean of the moment they were last computed together. They are computed anew when
the largest of them leaves [1e-20, 1e20]: before that, a weight that underflows is no loss.
"""

from __future__ import annotations

from math import exp

from environments.compiled import inlined
from policies.engine.base import CLOSED, PULLS, Param, Policy

MEAN, WEIGHT = 1, 2
"""Rows: m and w."""

REFERENCE = 0
"""Cell of μ."""

STEEPEST = 700.0
"""Largest exponent that is taken: e to it is still finite."""


@inlined
def weigh(arms, k, reference, tau):  # type: ignore[no-untyped-def]
    """w of one arm."""
    arms[WEIGHT, k] = exp(min(STEEPEST, (arms[MEAN, k] - reference) / tau))


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
            weigh(arms, k, reference, p[0])
            if open_[k] != CLOSED:
                total += arms[WEIGHT, k]
    point = rng.random() * total
    running, chosen = 0.0, -1
    for k in range(open_.shape[0]):
        # an arm without weight is never chosen, not even where rounding puts the point at the very end
        if open_[k] != CLOSED and arms[WEIGHT, k] > 0.0:
            running += arms[WEIGHT, k]
            chosen = k
            if running > point:
                break
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Running mean, and the weight of this arm."""
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[PULLS, k]
    weigh(arms, k, cells[REFERENCE], p[0])


class Softmax(Policy):
    """Pulls better arms more often, and the much worse ones hardly ever."""

    name = "softmax"
    family = "sampling"
    reference = "Sutton and Barto 1998 (Boltzmann exploration)"
    parameters = (
        Param("tau", 0.1, 0.001, 1.0, least=1e-9, power=1, meaning="τ, temperature: how much worse an arm may look"),
    )
    random = True
    rows = 3
    cells = 1
    choose = staticmethod(select)
    learn = staticmethod(update)
