"""Thompson sampling with discounting: the posterior given rewards that lose weight by γ a step."""

from __future__ import annotations

from environments.compiled import inlined
from policies.engine.discounting import SQUARES, WEIGHT, add_reward, discount_row, gamma_parameter
from policies.engine.posterior import PRIOR_PARAMETERS, ForgettingTS, transform_reward

GAMMA = 7
"""Place of γ, after the prior."""


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """All arms discount_row; the pulled one takes in x."""
    discount_row(WEIGHT, p[GAMMA], arms)
    discount_row(SQUARES, p[GAMMA], arms)
    add_reward(k, transform_reward(x, p), arms)


class DTS(ForgettingTS):
    """Thompson sampling that forgets little by little, so that idle arms are drawn from ever nearer the prior."""

    name = "d-ts"
    reference = "Raj and Kalyani 2017"
    parameters = (*PRIOR_PARAMETERS, gamma_parameter(0.99))
    learn = staticmethod(update)
