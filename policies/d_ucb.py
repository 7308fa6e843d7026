"""Discounted UCB: m_γ + 2·sqrt(ξ·ln ΣN_γ / N_γ), the sum over all arms, also closed ones (Garivier and Moulines 2011).

N_γ of an idle arm shrinks by γ per step, so 1/sqrt(N_γ) grows by 1/sqrt(γ): one multiplication per arm and step
instead of a root and a division. ΣN_γ follows n ← γn + 1 and is at least 1.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.discounting import MEAN, NOTHING, WEIGHT, discount_row, gamma_parameter
from ravenlab.policies.engine.limits import CONSTANT, NONNEGATIVE, Limit
from ravenlab.policies.engine.parameters import ParamContext
from ravenlab.policies.engine.rules import CHANGES_PARAMETER, XI_PARAMETER, first_or_argmax

WIDTH = 3  # row after weight and mean: 1/sqrt(N_γ)
WIDEST = 1e150  # upper limit of 1/sqrt(N_γ), so that scores stay finite
TOTAL, GROWTH = 0, 1  # cells: ΣN_γ and 1/sqrt(γ)
XI, _, GAMMA = range(3)  # parameters


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Compute 1/sqrt(γ)."""
    cells[GROWTH] = 1.0 / sqrt(max(p[GAMMA], 1e-300))


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """An arm whose weight has vanished, else argmax of m_γ + 2·sqrt(ξ·ln n)·(1/sqrt(N_γ))."""
    bonus = 2.0 * sqrt(p[XI] * log(max(1.0, cells[TOTAL])))
    return first_or_argmax(open_, arms, WEIGHT, NOTHING, MEAN, WIDTH, bonus)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Discount all arms and add x to the pulled one."""
    discount_row(WEIGHT, p[GAMMA], arms)
    for j in range(arms.shape[1]):
        arms[WIDTH, j] = min(WIDEST, arms[WIDTH, j] * cells[GROWTH])
    cells[TOTAL] = p[GAMMA] * cells[TOTAL] + 1.0
    arms[WEIGHT, k] += 1.0
    arms[MEAN, k] += (x - arms[MEAN, k]) / arms[WEIGHT, k]
    arms[WIDTH, k] = 1.0 / sqrt(arms[WEIGHT, k])


def discount_for_changes(context: ParamContext) -> float:
    """1 − sqrt(U/T)/4, the choice of Garivier and Moulines for rewards in [0, 1]."""
    return max(0.0, 1.0 - sqrt(context.number("changes") / context.number("horizon")) / 4.0)


class DUCB(Policy):
    r"""UCB1 with rewards discounted by γ per step.

    $$m_\gamma + 2\sqrt{\frac{\xi \ln \sum N_\gamma}{N_\gamma}}$$
    """

    reference = "Garivier and Moulines 2011"
    parameters = (XI_PARAMETER, CHANGES_PARAMETER, gamma_parameter(discount_for_changes))
    row_limits = {WEIGHT: NONNEGATIVE, WIDTH: Limit(0.0, WIDEST)}
    cell_limits = {TOTAL: NONNEGATIVE, GROWTH: CONSTANT}
