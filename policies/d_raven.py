"""D-RAVEN: the RAVEN-UCB index on discounted statistics; a variant of this project.

M + α_t·sqrt(ln(t+1)/(W+1)) + β₀·sqrt(S²/(W+1) + ε) with α_t = α₀/ln(t+ε). Weights are discounted by γ per step;
W = Σw, and S² = Σw(x − M)² / (W − Σw²/W) is the unbiased weighted variance, or 0 if the denominator is below 1e-9 when
the arm is pulled. An open arm with W < 1e-3 is pulled immediately.

Discounting all arms at every step would take most of the time. W, Q = Σw(x − M)² and P = W² − Σw² are therefore stored
in units of u, u and u², where u = γ^(rewards of all arms so far) is discounted instead: a new reward has weight 1/u. P
is a sum over pairs, so nothing is subtracted and rounding errors are discounted with old rewards. The denominator is
P/W and S² = QW/P, which is constant between pulls of the arm. Before u becomes too small, all arms are converted to
u = 1.
"""

from math import inf, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, OPEN
from ravenlab.policies.engine.discounting import discount_row, gamma_parameter
from ravenlab.policies.engine.index import EVERY, FEWER, LOOKAHEAD, NONE, IndexPolicy
from ravenlab.policies.engine.limits import CONSTANT, FINITE, NONNEGATIVE, UNIT
from ravenlab.policies.raven_ucb import UNIT_PARAMETER, RavenUCB, decaying_coefficient

WEIGHT, MEAN, SQUARES, PAIRS, VARIANCE = 1, 2, 3, 4, 5  # rows: W/u, M, Q/u, P/u² and S²
SCORE = 6  # row for the indices of `select`
LARGEST = 1e300  # replaces an infinite index there
UNIT_OF_WEIGHT, DECAY = 0, 1  # cells: u, and a lower bound of γ^ahead for the next steps, initially LOOKAHEAD
ALPHA0, BETA0, EPSILON, GAMMA, REWARD_UNIT = range(5)  # parameters
FORGOTTEN = 1e-3  # an arm with less weight is pulled immediately
SMALLEST_UNIT = 1e-30
ROUNDING = 1e-12  # relative rounding error of γ^ahead is far smaller


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Set u = 1 and compute γ^LOOKAHEAD."""
    cells[UNIT_OF_WEIGHT] = 1.0
    cells[DECAY] = (1.0 - ROUNDING) * p[GAMMA] ** LOOKAHEAD


@inlined
def prepare(ahead, cells, p):  # type: ignore[no-untyped-def]
    """Compute a lower bound of γ^ahead by repeated squaring; `ahead` is rounded up to a power of two."""
    decay, steps = p[GAMMA], 1
    while steps < ahead:
        decay *= decay
        steps *= 2
    cells[DECAY] = (1.0 - ROUNDING) * decay


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """c_t."""
    return decaying_coefficient(t, p[ALPHA0], p[EPSILON], p[REWARD_UNIT], 1.0)


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """M + c_t/sqrt(W+1) + β₀·sqrt(S²/(W+1) + ε); infinite for a forgotten arm. `ahead` lowers W to its later value."""
    weight = arms[WEIGHT, k] * cells[UNIT_OF_WEIGHT]
    if ahead > 0:
        weight *= cells[DECAY]
    width = 1.0 / sqrt(weight + 1.0)
    score = arms[MEAN, k] + c * width + p[BETA0] * sqrt(arms[VARIANCE, k] * width * width + p[EPSILON])
    return score if weight >= FORGOTTEN else inf


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of the index over the open arms, lowest index on a tie; −1 if all wait for the reward of a forced pull."""
    c = coefficient(t, p)
    for k in range(arms.shape[1]):  # no branches, so that the compiler vectorizes the loop
        arms[SCORE, k] = min(LARGEST, index(k, c, 0, arms, cells, p))
    best, chosen = -LARGEST, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        if arms[SCORE, k] > best and (open_[k] == OPEN or arms[SCORE, k] < LARGEST):
            best, chosen = arms[SCORE, k], k
    return chosen


@inlined
def refresh(k, arms, cells, p):  # type: ignore[no-untyped-def]
    """Compute S² of an arm that has just been pulled."""
    enough = arms[PAIRS, k] * cells[UNIT_OF_WEIGHT] >= 1e-9 * arms[WEIGHT, k]
    arms[VARIANCE, k] = arms[SQUARES, k] * arms[WEIGHT, k] / arms[PAIRS, k] if enough else 0.0


@inlined
def least_bonus(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """c_t/sqrt(W+1) with the weight of more pulls, and β₀·sqrt(ε)."""
    weight = arms[WEIGHT, k] * cells[UNIT_OF_WEIGHT] + ahead
    return c * (1.0 / sqrt(weight + 1.0)), p[BETA0] * sqrt(p[EPSILON])


@inlined
def accumulate(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Discount u and add x with weight 1/u to the pulled arm."""
    changed, unit = NONE, cells[UNIT_OF_WEIGHT] * p[GAMMA]
    if unit < SMALLEST_UNIT:
        discount_row(WEIGHT, unit, arms)
        discount_row(SQUARES, unit, arms)
        discount_row(PAIRS, unit * unit, arms)
        changed, unit = EVERY, 1.0
    cells[UNIT_OF_WEIGHT] = unit
    added = 1.0 / unit
    arms[PAIRS, k] += 2.0 * arms[WEIGHT, k] * added
    arms[WEIGHT, k] += added
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before * (added / arms[WEIGHT, k])
    arms[SQUARES, k] += added * before * (x - arms[MEAN, k])
    return changed


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add x and compute S²."""
    changed = accumulate(t, k, x, open_, arms, cells, memory, p, rng)
    refresh(k, arms, cells, p)
    return changed


class DRaven(IndexPolicy):
    r"""RAVEN-UCB with discounted statistics, for means and variances that change gradually.

    $$m + \alpha_t\sqrt{\frac{\ln(t+1)}{W+1}} + \beta_0\sqrt{\frac{S^2}{W+1} + \varepsilon}, \qquad
    S^2 = \frac{\sum w (x - m)^2}{W - \sum w^2 / W}$$
    """

    reference = "RAVEN-UCB's index on discounted statistics; ours"
    parameters = (*RavenUCB.parameters[:3], gamma_parameter(0.999), UNIT_PARAMETER)
    row_limits = {**dict.fromkeys((WEIGHT, SQUARES, PAIRS, VARIANCE), NONNEGATIVE), SCORE: FINITE}
    cell_limits = {UNIT_OF_WEIGHT: UNIT, DECAY: CONSTANT}
    mean_row = MEAN
    few_arms = FEWER
