"""ε-decreasing: ε-greedy with ε_t = min(1, r·K / t), K the open arms (Auer, Cesa-Bianchi and Fischer 2002; r = c/d²).

One random number decides whether to explore; a second one, drawn only then, selects the arm.
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import MEAN, argmax_row, count_open, uniform_arm, update_mean


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """A uniform open arm with probability ε_t, else argmax m."""
    count = count_open(open_)
    if rng.random() < min(1.0, p[0] * count / t):
        return uniform_arm(open_, count, rng.random())
    return argmax_row(open_, arms, MEAN)


class EpsilonDecreasing(Policy):
    r"""ε-greedy with an exploration probability that decreases as 1/t; suited to stationary rewards.

    $$\varepsilon_t = \min\Bigl(1, \frac{rK}{t}\Bigr)$$
    """

    family = "sampling"
    reference = "Auer, Cesa-Bianchi and Fischer 2002 (ε_n-greedy)"
    parameters = (Param("r", 10.0, 0.01, 1e4, meaning="steps of pure exploration per open arm"),)
    rows = 2
    learn = staticmethod(update_mean)
