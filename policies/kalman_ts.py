"""Kalman Thompson sampling: a Kalman filter per arm for means that follow random walks (Granmo and Berg 2010).

The mean of every arm changes by N(0, q) per step and is observed with noise N(0, r). Given its rewards, the mean of an
arm at step t is N(m, v + q·(t − s)), where s is the step of its last reward (0 initially). The policy draws θ of every
open arm from this distribution and pulls argmax θ. A reward x at step t gives, with v' = v + q·(t − s),

    g = v'/(v' + r),  m ← m + g·(x − m),  v ← (1 − g)·v',  s ← t.

The prior is N(μ₀, v₀).
"""

import math
from math import sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.base import CLOSED, Policy
from ravenlab.policies.engine.limits import COUNT_OF_STEPS, NONNEGATIVE
from ravenlab.policies.engine.parameters import Param

MEAN, VARIANCE, LAST = 1, 2, 3  # rows: m, v and s
MU0, V0, NOISE, WALK = range(4)  # parameters


@inlined
def start(arms, cells, memory, p):  # type: ignore[no-untyped-def]
    """Start with the prior."""
    arms[MEAN] = p[MU0]
    arms[VARIANCE] = p[V0]


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax θ; draws are made arm by arm."""
    best, chosen = -1e300, -1
    for k in range(open_.shape[0]):
        if open_[k] != CLOSED:
            variance = arms[VARIANCE, k] + p[WALK] * (t - arms[LAST, k])
            theta = arms[MEAN, k] + sqrt(variance) * rng.standard_normal()
            if chosen < 0 or theta > best:
                best, chosen = theta, k
    return chosen


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """One step of the Kalman filter of the pulled arm."""
    variance = arms[VARIANCE, k] + p[WALK] * (t - arms[LAST, k])
    gain = variance / (variance + p[NOISE])
    arms[MEAN, k] += gain * (x - arms[MEAN, k])
    arms[VARIANCE, k] = (1.0 - gain) * variance
    arms[LAST, k] = t


class KalmanTS(Policy):
    r"""Thompson sampling for means that follow random walks.

    $$\theta \sim \mathcal N(m, v + q (t - s)), \qquad g = \frac{v'}{v' + r}, \quad
    m \leftarrow m + g (x - m), \quad v \leftarrow (1 - g) v'$$
    """

    family = "sampling"
    reference = "Granmo and Berg 2010"
    parameters = (
        Param("mu0", 0.0, least=-math.inf, power=1, meaning="μ₀, prior mean"),
        Param("v0", 1.0, least=1e-12, power=2, meaning="v₀, prior variance"),
        Param("r", 0.25, 0.0001, 10.0, least=1e-12, power=2, meaning="r, variance of the noise"),
        Param("q", 0.0001, 1e-9, 0.1, power=2, meaning="q, variance of the change of a mean per step"),
    )
    row_limits = {VARIANCE: NONNEGATIVE, LAST: COUNT_OF_STEPS}
