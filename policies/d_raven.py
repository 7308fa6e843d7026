"""RAVEN-UCB with discounting: M + α_t·sqrt(ln(t+1)/(W+1)) + β₀·sqrt(S²/(W+1) + ε), α_t = α₀/ln(t+ε).

A reward loses weight by γ a step: W = Σw, S² = Σw(x − M)² / (W − Σw²/W), the unbiased variance under
weights, and 0 where that denominator is under 1e-9. An open arm with W < 1e-3 is pulled at once.

With P = W² − Σw² the denominator is P/W, and S² = QW/P: as Q, W and P discount_row by γ, γ and γ², S² stays
until the arm is pulled again.
"""

from __future__ import annotations

from math import sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, OPEN, Policy
from policies.engine.discounting import MEAN, PAIRS, SQUARES, WEIGHT, add_reward, discount_row, gamma_parameter
from policies.raven_ucb import RavenUCB, decaying_coefficient

VARIANCE, SCORE = 5, 6
"""Rows after those of the discount: QW/P, and the score as of the last choice."""

ALPHA0, BETA0, EPSILON, GAMMA = range(4)
"""Places of the parameters."""

FORGOTTEN = 1e-3
"""An arm with less weight than this is pulled at once."""


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A forgotten arm at once, else argmax of the score: all weights have faded, so all roots are taken anew."""
    c, beta0, epsilon = decaying_coefficient(t, p[ALPHA0], p[EPSILON], 1.0), p[BETA0], p[EPSILON]
    # without branches, so that several arms are scored at once
    for k in range(arms.shape[1]):
        variance = arms[VARIANCE, k] if arms[PAIRS, k] >= 1e-9 * arms[WEIGHT, k] else 0.0
        width = 1.0 / sqrt(arms[WEIGHT, k] + 1.0)
        arms[SCORE, k] = arms[MEAN, k] + c * width + beta0 * sqrt(variance * width * width + epsilon)
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[WEIGHT, k] < FORGOTTEN:
            if open_[k] == OPEN:
                return k
            continue
        if arms[SCORE, k] > best:
            best, chosen = arms[SCORE, k], k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """All arms discount_row; the pulled one takes in x."""
    discount_row(WEIGHT, p[GAMMA], arms)
    discount_row(SQUARES, p[GAMMA], arms)
    discount_row(PAIRS, p[GAMMA] * p[GAMMA], arms)
    arms[PAIRS, k] += 2.0 * arms[WEIGHT, k]
    add_reward(k, x, arms)
    arms[VARIANCE, k] = arms[SQUARES, k] * arms[WEIGHT, k] / arms[PAIRS, k] if arms[PAIRS, k] > 0.0 else 0.0


class DRaven(Policy):
    """RAVEN-UCB that forgets little by little: its index on discounted statistics."""

    name = "d-raven"
    reference = "RAVEN-UCB's index on discounted statistics; ours"
    parameters = (*RavenUCB.parameters[:3], gamma_parameter(0.999))
    rows = 7
    choose = staticmethod(select)
    learn = staticmethod(update)
