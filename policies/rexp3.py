"""Rexp3: EXP3 restarted with equal weights every B steps, at steps 1, B + 1, 2B + 1, … (Besbes, Gur and Zeevi 2014).

EXP3: an arm is drawn with probability p = (1−γ)·w/W + γ/K; then w ← w·exp(γ·x̂/K) for the drawn arm, x̂ = z/p,
z = clip((x − low)/(high − low), 0, 1). B counts all steps, first pulls included; K is the number of open arms. Opening
and closing of arms, and first pulls: `policies/engine/exp3.py`.
"""

from math import ceil, e, log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine import exp3
from ravenlab.policies.engine.limits import NONNEGATIVE
from ravenlab.policies.engine.parameters import Param, ParamContext
from ravenlab.policies.engine.rules import HORIZON_PARAMETER, to_unit
from ravenlab.policies.engine.window import longest_window

LAST = exp3.CELLS  # cell after those of EXP3: the last step before the next restart
_, _, BATCH, GAMMA, LOW, HIGH = range(6)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Draw an arm with probability p, after a restart if it is due."""
    if t > cells[LAST]:
        exp3.reset_weights(arms)
        cells[LAST] = ceil(t / p[BATCH]) * p[BATCH]
    return exp3.draw_arm(open_, arms, cells, p[GAMMA], rng)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Increase the weight of the drawn arm."""
    if exp3.claim_draw(arms, k):
        exp3.multiply_weight(arms, cells, k, arms[exp3.GAIN, k] * to_unit(x, p[LOW], p[HIGH]))
        exp3.normalize_weights(arms, cells)


def batch_for_variation(context: ParamContext) -> float:
    """⌈(K ln K)^⅓·(T/v)^⅔⌉, from 1 to T steps."""
    horizon, variation, arms = context.number("horizon"), context.number("variation"), context.arms
    if variation == 0.0:
        return horizon
    return min(horizon, max(1.0, float(ceil((arms * log(arms)) ** (1 / 3) * (horizon / variation) ** (2 / 3)))))


def rate_for_batch(context: ParamContext) -> float:
    """min(1, sqrt(K ln K / ((e − 1)·B)))."""
    return min(1.0, sqrt(context.arms * log(context.arms) / ((e - 1.0) * context.number("batch"))))


class REXP3(exp3.EXP3Policy):
    r"""EXP3 restarted at fixed intervals, as often as an expected total variation of the means requires.

    $$w \leftarrow w e^{\gamma \hat x / K}, \qquad w \leftarrow 1 \text{ every } B \text{ steps}$$
    """

    reference = "Besbes, Gur and Zeevi 2014"
    parameters = (
        HORIZON_PARAMETER,
        Param("variation", 1.0, meaning="v, expected total variation of the means on the scale of z"),
        Param(
            "batch",
            batch_for_variation,
            10.0,
            longest_window,
            least=1.0,
            integer=True,
            meaning="B, steps between restarts",
        ),
        Param("gamma", rate_for_batch, most=1.0, meaning="γ, exploration share and learning rate"),
        *exp3.EXP3Policy.parameters,
    )
    cell_limits = {**exp3.EXP3Policy.cell_limits, LAST: NONNEGATIVE}
