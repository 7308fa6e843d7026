"""UCB1-Tuned: m + a·sqrt((ln t / N)·min(¼, V + sqrt(2 ln t / N))), V the biased variance, for rewards of range 1.

Reference: Auer, Cesa-Bianchi and Fischer 2002. With B = 1/sqrt(N), which changes only with a pull, the bonus is
a·sqrt(ln t)·B·sqrt(min(¼, V + sqrt(2 ln t)·B)).
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import PULLS
from ravenlab.policies.engine.index import FEWER, NONE, IndexPolicy
from ravenlab.policies.engine.limits import NONNEGATIVE, UNIT
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import MEAN, SQUARES, add_reward

VARIANCE, WIDTH = 3, 4  # rows after mean and squares: V and B


@inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """ln t."""
    return log(t)


@inlined
def index(k, c, ahead, arms, cells, p):  # type: ignore[no-untyped-def]
    """m + a·sqrt(ln t)·B·sqrt(min(¼, V + sqrt(2 ln t)·B))."""
    width = arms[WIDTH, k]
    return arms[MEAN, k] + p[0] * sqrt(c) * width * sqrt(min(0.25, arms[VARIANCE, k] + sqrt(2.0 * c) * width))


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, V = Q/N and B."""
    add_reward(arms, k, x)
    n = arms[PULLS, k]
    arms[VARIANCE, k] = arms[SQUARES, k] / n
    arms[WIDTH, k] = 1.0 / sqrt(n)
    return NONE


class UCBTuned(IndexPolicy):
    r"""UCB1 with the observed variance of each arm, capped at ¼, the largest variance in [0, 1].

    $$m + a\sqrt{\frac{\ln t}{N} \min\Bigl(\tfrac14, V + \sqrt{\frac{2\ln t}{N}}\Bigr)}$$
    """

    reference = "Auer, Cesa-Bianchi and Fischer 2002 (UCB1-Tuned)"
    parameters = (Param("a", 1.0, 0.01, 10.0, meaning="weight of the bonus"),)
    scalable = False
    row_limits = {SQUARES: NONNEGATIVE, VARIANCE: NONNEGATIVE, WIDTH: UNIT}
    few_arms = FEWER
