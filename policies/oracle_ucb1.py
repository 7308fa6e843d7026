"""Restart oracle: UCB1 that is told when means change.

When the mean of an arm jumps, its statistics are cleared and it is pulled again; when all arms jump, the step t of the
index starts again as well. Blips are two changes. Slopes, seasons, gradual drifts and random walks have no change
points, so there the policy is UCB1. The loop over simulated worlds makes the restarts (`knows_changes`).
"""

from ravenlab.policies.engine.base import Policy
from ravenlab.policies.ucb1 import UCB1


class OracleUCB1(Policy):
    r"""UCB1 restarted at the true change points: a benchmark for simulations that cannot be deployed.

    $$m + \sqrt{\frac{c \ln t}{N}}, \qquad m, N \text{ and } t \text{ since the last true change}$$
    """

    reference = "UCB1 with known change points; ours"
    parameters = UCB1.parameters
    knows_changes = True
    row_limits = UCB1.row_limits
    choose = staticmethod(UCB1.choose)
    learn = staticmethod(UCB1.learn)
