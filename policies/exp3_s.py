"""EXP3.S: EXP3 with a share of the total weight for every arm (Auer, Cesa-Bianchi, Freund and Schapire 2002).

An arm is drawn with probability p = (1−γ)·w/W + γ/K; then w ← w·exp(γ·x̂/K) + (e·α/K)·W with α = 1/T. x̂ = z/p for the
drawn arm and 0 for the others; z = clip((x − low)/(high − low), 0, 1); W is the sum before the update. The second term
keeps every weight above about e·α/K of the total, so a formerly bad arm can recover quickly. K is the number of open
arms. Opening and closing of arms, and first pulls: `policies/engine/exp3.py`.
"""

from math import e, log, sqrt

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine import exp3
from ravenlab.policies.engine.parameters import Param, ParamContext
from ravenlab.policies.engine.rules import CHANGES_PARAMETER, HORIZON_PARAMETER, to_unit

HORIZON, _, GAMMA, LOW, HIGH = range(5)  # parameters


@inlined
def select(t, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Draw an arm with probability p."""
    return exp3.draw_arm(open_, arms, cells, p[GAMMA], rng)


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Increase the weight of the drawn arm, then add the share of W to all weights."""
    if exp3.claim_draw(arms, k):
        share = e / p[HORIZON] / cells[exp3.COUNT] * cells[exp3.TOTAL]
        exp3.multiply_weight(arms, cells, k, arms[exp3.GAIN, k] * to_unit(x, p[LOW], p[HIGH]))
        for j in range(open_.shape[0]):
            arms[exp3.WEIGHT, j] += share * arms[exp3.ACTIVE, j]
        cells[exp3.TOTAL] += share * cells[exp3.COUNT]
        exp3.normalize_weights(arms, cells)


def rate_for_changes(context: ParamContext) -> float:
    """min(1, sqrt(K·(U·ln(KT) + e) / ((e − 1)·T))), the γ of the regret bound for U changes."""
    horizon, changes, arms = context.number("horizon"), context.number("changes"), context.arms
    return min(1.0, sqrt(arms * (changes * log(arms * horizon) + e) / ((e - 1.0) * horizon)))


class EXP3S(exp3.EXP3Policy):
    r"""EXP3 with a regret guarantee against any sequence of arms with few changes, even for adversarial rewards.

    $$w \leftarrow w e^{\gamma \hat x / K} + \frac{e}{TK} W, \qquad p = (1 - \gamma) \frac{w}{W} + \frac{\gamma}{K}$$
    """

    reference = "Auer, Cesa-Bianchi, Freund and Schapire 2002"
    parameters = (
        HORIZON_PARAMETER,
        CHANGES_PARAMETER,
        Param("gamma", rate_for_changes, 0.001, 1.0, most=1.0, meaning="γ, exploration share and learning rate"),
        *exp3.EXP3Policy.parameters,
    )
