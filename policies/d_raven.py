"""D-RAVEN: the RAVEN-UCB index on discounted statistics; a variant of this project.

M + α_t·sqrt(ln(t+1)/(W+1)) + β₀·sqrt(S²/(W+1) + ε) with α_t = α₀/ln(t+ε). Weights are discounted by γ per step;
W = Σw, and S² = Σw(x − M)² / (W − Σw²/W) is the unbiased weighted variance, or 0 if the denominator is below 1e-9. An
open arm with W < 1e-3 is pulled immediately.

With P = W² − Σw² the denominator is P/W and S² = QW/P. Q, W and P are discounted by γ, γ and γ², so S² is constant
between pulls of the arm.
"""

from __future__ import annotations

from math import sqrt

from environments.compiled import inlined
from policies.engine.base import CLOSED, OPEN, Policy
from policies.engine.discounting import (
    MEAN,
    PAIRS,
    ROW_LIMITS,
    SQUARES,
    WEIGHT,
    add_reward,
    discount_row,
    gamma_parameter,
)
from policies.engine.limits import NONNEGATIVE
from policies.raven_ucb import RavenUCB, decaying_coefficient

VARIANCE, SCORE = 5, 6  # rows after those of `engine/discounting.py`: QW/P, and the score at the last selection
ALPHA0, BETA0, EPSILON, GAMMA = range(4)  # parameters
FORGOTTEN = 1e-3  # an arm with less weight is pulled immediately


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A forgotten arm, else argmax of the score, which is recomputed because all weights have changed."""
    c, beta0, epsilon = decaying_coefficient(t, p[ALPHA0], p[EPSILON], 1.0), p[BETA0], p[EPSILON]
    # no branches, so that the compiler vectorizes the loop
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
    """Discount all arms and add x to the pulled one."""
    discount_row(WEIGHT, p[GAMMA], arms)
    discount_row(SQUARES, p[GAMMA], arms)
    discount_row(PAIRS, p[GAMMA] * p[GAMMA], arms)
    arms[PAIRS, k] += 2.0 * arms[WEIGHT, k]
    add_reward(k, x, arms)
    arms[VARIANCE, k] = arms[SQUARES, k] * arms[WEIGHT, k] / arms[PAIRS, k] if arms[PAIRS, k] > 0.0 else 0.0


class DRaven(Policy):
    r"""RAVEN-UCB with discounted statistics, for means and variances that change gradually.

    $$m + \alpha_t\sqrt{\frac{\ln(t+1)}{W+1}} + \beta_0\sqrt{\frac{S^2}{W+1} + \varepsilon}, \qquad
    S^2 = \frac{\sum w (x - m)^2}{W - \sum w^2 / W}$$
    """

    name = "d-raven"
    reference = "RAVEN-UCB's index on discounted statistics; ours"
    parameters = (*RavenUCB.parameters[:3], gamma_parameter(0.999))
    rows = 7
    row_limits = {**ROW_LIMITS, VARIANCE: NONNEGATIVE}
    choose = staticmethod(select)
    learn = staticmethod(update)
