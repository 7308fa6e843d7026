"""Sliding-window Thompson sampling: the posterior given the last τ rewards of all arms.

Reference: Trovò, Paladino, Restelli and Gatti 2020. An arm without rewards in the window is drawn from the prior.
"""

from ravenlab.common.compiled import inlined
from ravenlab.policies.engine.posterior import PRIOR_PARAMETERS, ForgettingTS, transform_reward
from ravenlab.policies.engine.rules import CHANGES_PARAMETER
from ravenlab.policies.engine.window import TAU_BY_CHANGES, WindowPolicy, push_reward

TAU = 8  # parameter after those of the prior and U


@inlined
def update(t, k, x, open_, arms, cells, memory, p, rng):  # type: ignore[no-untyped-def]
    """Add the reward to the window."""
    push_reward(k, transform_reward(x, p), arms, cells, memory, int(p[TAU]))


class SWTS(WindowPolicy, ForgettingTS):
    r"""Thompson sampling on a sliding window of recent rewards.

    $$\theta \sim p(\theta \mid x_{t-\tau}, \dots, x_{t-1})$$
    """

    reference = "Trovò, Paladino, Restelli and Gatti 2020"
    parameters = (*PRIOR_PARAMETERS, CHANGES_PARAMETER, TAU_BY_CHANGES)
