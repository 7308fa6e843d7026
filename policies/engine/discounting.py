"""Weight, mean and sum of squared deviations of each arm, discounted by γ per step.

At every step the statistics of all arms are discounted, then the pulled arm adds its reward with weight 1:

    W ← γW, Q ← γQ        (the mean m stays)
    W ← W + 1, m ← m + (x − m)/W, Q ← Q + (x − m_old)(x − m_new)

Hence W = Σw, m = Σwx/W and Q = Σw(x − m)² with w = γ^(age in steps).
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.parameters import Number, Param

WEIGHT, MEAN, SQUARES = 1, 2, 3  # rows of `arms`: W, m and Q
NOTHING = 1e-280  # smaller weights become 0, before they are denormal numbers, which are inexact and slow


@inlined
def discount_row(row, factor, arms):  # type: ignore[no-untyped-def]
    """Multiply one row of all arms by a factor."""
    for j in range(arms.shape[1]):
        value = arms[row, j] * factor
        arms[row, j] = value if value >= NOTHING else 0.0


@inlined
def add_reward(k, x, arms):  # type: ignore[no-untyped-def]
    """Update W, m and Q of the pulled arm; call `discount_row` first."""
    arms[WEIGHT, k] += 1.0
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / arms[WEIGHT, k]
    arms[SQUARES, k] += before * (x - arms[MEAN, k])


def gamma_parameter(default: Number) -> Param:
    """Return the parameter γ with the search range that all discounted policies share."""
    return Param("gamma", default, 1e-5, 0.3, scale="one-minus", most=1.0, meaning="γ, discount per step")
