"""Weight, mean and squared deviations of each arm where a reward loses weight by γ a step.

At every step all arms fade, then the pulled one takes in its reward with weight 1:

    W ← γW, Q ← γQ, P ← γ²P        (the mean m stays)
    P ← P + 2W, W ← W + 1, m ← m + (x − m)/W, Q ← Q + (x − m_old)(x − m_new)

so that W = Σw, m = Σwx/W and Q = Σw(x − m)² with w = γ^(steps since). P = W² − Σw² is kept in place of Σw²,
as the sum over pairs that it is: nothing is ever subtracted, and old rounding fades with old rewards.
"""

from __future__ import annotations

from environments.compiled import inlined
from policies.engine.base import Number, Param

WEIGHT, MEAN, SQUARES, PAIRS = 1, 2, 3, 4
"""Rows of `arms`: W, m, Q, and P for those that need it."""

NOTHING = 1e-280
"""A weight below this is none: well before numbers get so small that they lose digits and speed."""


@inlined
def fade(row, factor, arms):  # type: ignore[no-untyped-def]
    """One row of all arms times a factor."""
    for j in range(arms.shape[1]):
        value = arms[row, j] * factor
        arms[row, j] = value if value >= NOTHING else 0.0


@inlined
def take_in(k, x, arms):  # type: ignore[no-untyped-def]
    """W, m and Q of the pulled arm, after all have faded."""
    arms[WEIGHT, k] += 1.0
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / arms[WEIGHT, k]
    arms[SQUARES, k] += before * (x - arms[MEAN, k])


def gamma(default: Number) -> Param:
    """γ with the range that is searched for all who discount."""
    return Param(
        "gamma", default, 1e-5, 0.3, scale="one-minus", most=1.0, meaning="γ, what is left of a weight a step later"
    )
