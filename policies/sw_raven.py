"""SW-RAVEN: the RAVEN-UCB index on a sliding window; a variant of this project.

M + α_t·sqrt(ln(t+1)/(N+1)) + β₀·sqrt(S²/(N+1) + ε) with α_t = α₀/ln(t+ε), where N, M and S² (unbiased; 0 for one pull)
are those of the last τ rewards of all arms. As in RAVEN-UCB the score is A + c_t·B; A and B change only with the arm's
window. An arm without rewards in the window is pulled immediately, because the formula would assume a mean of 0.
"""

from math import inf, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.index import EVERY, FEWER, IndexPolicy
from ravenlab.policies.engine.limits import NONNEGATIVE
from ravenlab.policies.engine.window import COUNT, MEAN, NEXT, SQUARES, TAU_BY_HORIZON, WindowPolicy, push_reward
from ravenlab.policies.raven_ucb import UNIT_PARAMETER, RavenUCB, decaying_coefficient

LEVEL, WIDTH = 4, 5  # rows after those of `engine/window.py`: A and B
ALPHA0, BETA0, EPSILON, TAU, REWARD_UNIT = range(5)  # parameters


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """c_t."""
    return decaying_coefficient(t, p[ALPHA0], p[EPSILON], p[REWARD_UNIT], 1.0)


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """A + c_t·B; infinite without rewards in the window."""
    return arms[LEVEL, k] + c * arms[WIDTH, k] if arms[COUNT, k] > 0.0 else inf


@inlined
def refresh(k, arms, cells, p):  # type: ignore[no-untyped-def]
    """Compute A and B of an arm whose window has changed."""
    n = arms[COUNT, k]
    variance = arms[SQUARES, k] / ((n - 1.0) * (n + 1.0)) if n > 1.0 else 0.0
    arms[LEVEL, k] = arms[MEAN, k] + p[BETA0] * sqrt(variance + p[EPSILON])
    arms[WIDTH, k] = 1.0 / sqrt(n + 1.0)


@inlined
def least_bonus(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """β₀·sqrt(ε), and c_t·B with more rewards in the window."""
    return p[BETA0] * sqrt(p[EPSILON]), c * (1.0 / sqrt(arms[COUNT, k] + ahead + 1.0))


@inlined
def accumulate(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward to the window; A and B change for two arms, or for all at a wrap-around of the ring."""
    removed = push_reward(k, x, arms, cells, memory, int(p[TAU]))
    if cells[NEXT] == 0.0:
        for j in range(arms.shape[1]):
            refresh(j, arms, cells, p)
        return EVERY
    return removed


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward to the window and compute A and B."""
    changed = accumulate(t, k, x, open_, arms, cells, memory, p, rng)
    refresh(k, arms, cells, p)
    if changed >= 0 and changed != k:
        refresh(changed, arms, cells, p)
    return changed


class SWRaven(IndexPolicy, WindowPolicy):
    r"""RAVEN-UCB on a sliding window, for means and variances that change.

    $$m_\tau + \alpha_t\sqrt{\frac{\ln(t+1)}{N_\tau+1}} + \beta_0\sqrt{\frac{S_\tau^2}{N_\tau+1} + \varepsilon}$$
    """

    reference = "RAVEN-UCB's index on a sliding window; ours"
    parameters = (*RavenUCB.parameters[:3], TAU_BY_HORIZON, UNIT_PARAMETER)
    row_limits = {**WindowPolicy.row_limits, WIDTH: NONNEGATIVE}
    mean_row = MEAN
    few_arms = FEWER
    lookahead = 64  # only the coefficient and rewards that leave the window change an index
