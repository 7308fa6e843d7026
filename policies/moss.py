"""MOSS: argmax of m + sqrt(c·max(0, ln(T/(K·N))) / N) (Audibert and Bubeck 2009, with c = 1).

The bonus of an arm depends on its own pulls, not on the step, and is 0 once the arm has its share T/K of the pulls.
"""

from math import log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, PULLS, Policy
from ravenlab.policies.engine.limits import NONNEGATIVE, UNIT
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, count_open

MEAN, SHARE, LOGARITHM = 1, 2, 3  # rows: m, 1/N and ln N
HORIZON, C = range(2)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of m + sqrt(c·max(0, ln(T/K) − ln N)·(1/N))."""
    level = log(p[HORIZON] / count_open(open_))
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] == CLOSED:
            continue
        score = arms[MEAN, k] + sqrt(p[C] * max(0.0, level - arms[LOGARITHM, k]) * arms[SHARE, k])
        if score > best:
            best, chosen = score, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update m, 1/N and ln N."""
    n = arms[PULLS, k]
    arms[MEAN, k] += (x - arms[MEAN, k]) / n
    arms[SHARE, k] = 1.0 / n
    arms[LOGARITHM, k] = log(n)


class MOSS(Policy):
    r"""UCB for a known horizon: the bonus of an arm vanishes once it has its share of all pulls.

    $$m + \sqrt{\frac{c}{N} \max\Bigl(0, \ln\frac{T}{K N}\Bigr)}$$
    """

    reference = "Audibert and Bubeck 2009"
    parameters = (
        HORIZON_PARAMETER,
        Param("c", 1.0, 0.001, 10.0, power=2, meaning="weight of the bonus, inside the root"),
    )
    row_limits = {SHARE: UNIT, LOGARITHM: NONNEGATIVE}
