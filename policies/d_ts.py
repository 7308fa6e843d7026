"""Discounted Thompson sampling: the posterior given rewards discounted by γ per step (Raj and Kalyani 2017)."""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.discounting import SQUARES, WEIGHT, add_reward, discount_row, gamma_parameter
from ravenlab.policies.engine.posterior import PRIOR_PARAMETERS, ForgettingTS, transform_reward

GAMMA = 7  # parameter after those of the prior


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Discount all arms and add x to the pulled one."""
    discount_row(WEIGHT, p[GAMMA], arms)
    discount_row(SQUARES, p[GAMMA], arms)
    add_reward(k, transform_reward(x, p), arms)


class DTS(ForgettingTS):
    r"""Thompson sampling with discounted rewards: the posterior of an idle arm returns to the prior.

    $$w_i = \gamma^{t - t_i}, \qquad \theta \sim p(\theta \mid w, x)$$
    """

    reference = "Raj and Kalyani 2017"
    parameters = (*PRIOR_PARAMETERS, gamma_parameter(0.99))
