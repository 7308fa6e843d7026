"""RAVEN-UCB: M + α_t·sqrt(ln(t+1)/(N+1)) + β₀·sqrt(S²/(N+1) + ε) with α_t = α₀/ln(t+ε).

Reference: Fang, Chen, Chen and Zhang 2025, Algorithm 1 and Proposition 1. With c_t = α₀·sqrt(ln(t+1))/ln(t+ε) the score
of an arm is A + c_t·B, where A = M + β₀·sqrt(S²/(N+1) + ε) and B = 1/sqrt(N+1) change only with a pull of the arm.

The paper's numbers use three variance estimators. With d = (x − M_old)(x − M_new) and n the count after the update,
for n > 1:

- welford: S² ← ((n−2)·S² + d)/(n−1), the unbiased sample variance (Proposition 1);
- printed: S² ← (S² + d)/(n−1), as in Algorithm 1;
- accumulated: S² ← S² + d/(n−1), as in the logistics script.
"""

from math import log, sqrt
from typing import ClassVar

from ravenlab.common.compiled import inlined, inner_inlined
from ravenlab.environments.world import Floats, Worlds
from ravenlab.policies.engine.base import PULLS, Policy
from ravenlab.policies.engine.limits import NONNEGATIVE, UNIT
from ravenlab.policies.engine.parameters import Param
from ravenlab.policies.engine.rules import argmax_score

MEAN, VARIANCE, LEVEL, WIDTH = 1, 2, 3, 4  # rows: M, S², A and B
ALPHA0, BETA0, EPSILON, ESTIMATOR, LOGARITHM, REWARD_UNIT = range(6)  # parameters

ESTIMATORS = ("welford", "printed", "accumulated")
WELFORD, PRINTED, ACCUMULATED = 0.0, 1.0, 2.0


@inner_inlined
def decaying_coefficient(t, alpha0, epsilon, unit, shift):  # type: ignore[no-untyped-def]
    """c_t = α₀·sqrt(ln(t + shift))/ln(t + ε/u²), where u is the unit of the rewards."""
    return alpha0 * sqrt(log(t + shift)) / log(t + epsilon / (unit * unit))


@inner_inlined
def coefficient(t, p):  # type: ignore[no-untyped-def]
    """c_t with ln(t+1) or, for the published variant, ln t under the root."""
    return decaying_coefficient(t, p[ALPHA0], p[EPSILON], p[REWARD_UNIT], 1.0 if p[LOGARITHM] == 0.0 else 0.0)


@inner_inlined
def next_variance(variance, d, n, estimator):  # type: ignore[no-untyped-def]
    """S² after the n-th reward."""
    if n < 2.0:
        return 0.0
    if estimator == WELFORD:
        return ((n - 2.0) * variance + d) / (n - 1.0)
    if estimator == PRINTED:
        return (variance + d) / (n - 1.0)
    return variance + d / (n - 1.0)


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """argmax of A + c_t·B."""
    return argmax_score(open_, arms, LEVEL, WIDTH, coefficient(t, p))


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Update M, S², A and B."""
    n = arms[PULLS, k]
    before = x - arms[MEAN, k]
    arms[MEAN, k] += before / n
    d = before * (x - arms[MEAN, k])
    arms[VARIANCE, k] = next_variance(arms[VARIANCE, k], d, n, p[ESTIMATOR])
    arms[LEVEL, k] = arms[MEAN, k] + p[BETA0] * sqrt(arms[VARIANCE, k] / (n + 1.0) + p[EPSILON])
    arms[WIDTH, k] = 1.0 / sqrt(n + 1.0)


UNIT_PARAMETER = Param(
    "unit", 1.0, least=1e-100, power=1, meaning="unit u of the rewards: ln(t + ε/u²) replaces ln(t + ε)"
)


class RavenUCB(Policy):
    r"""UCB with a bonus that decays with time and a bonus that adapts to the variance of each arm.

    $$m + \alpha_t\sqrt{\frac{\ln(t+1)}{N+1}} + \beta_0\sqrt{\frac{S^2}{N+1} + \varepsilon}, \qquad
    \alpha_t = \frac{\alpha_0}{\ln(t+\varepsilon)}$$

    ε is a variance in the second bonus and a number of steps in the logarithm. For rewards in another unit u, such as
    minutes, the policy plays this formula on rewards divided by u: α₀·u, ε·u² and `unit` u give the same pulls.
    """

    reference = "Fang, Chen, Chen and Zhang 2025, Algorithm 1 and Proposition 1"
    parameters: ClassVar[tuple[Param, ...]] = (
        Param("alpha0", 1.0, 0.01, 10.0, power=1, meaning="α₀, weight of the decaying bonus"),
        Param("beta0", 1.0, 0.01, 10.0, meaning="β₀, weight of the variance bonus"),
        Param("epsilon", 0.1, 0.001, 0.5, power=2, meaning="ε, floor of the variance bonus"),
        Param("variance", "welford", choices=ESTIMATORS, meaning="estimator of S²"),
        Param("logarithm", "t+1", choices=("t+1", "t"), meaning="ln(t+1) or ln t under the first root"),
        UNIT_PARAMETER,
    )
    row_limits = {VARIANCE: NONNEGATIVE, WIDTH: UNIT}

    @classmethod
    def compile_fast(cls, worlds: Worlds, candidates: Floats) -> None:
        """Compile the kernel of `evaluate_fast` for arguments of these types (see `policies.engine.ahead`)."""
        from ravenlab.policies.engine.leader_run import compile_kernel

        compile_kernel(worlds, candidates)

    @classmethod
    def evaluate_fast(cls, worlds: Worlds, candidates: Floats, mark: int) -> Floats | None:
        from ravenlab.policies.engine.leader_run import leader_run

        return leader_run(worlds, candidates, mark)
