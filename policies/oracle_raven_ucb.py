"""Restart oracle: RAVEN-UCB that is told when means change; restarts are those of `oracle-ucb1`."""

from ravenlab.policies.engine.base import Policy
from ravenlab.policies.raven_ucb import RavenUCB


class OracleRavenUCB(Policy):
    r"""RAVEN-UCB restarted at the true change points: a benchmark for simulations that cannot be deployed.

    $$m + \alpha_t\sqrt{\frac{\ln(t+1)}{N+1}} + \beta_0\sqrt{\frac{S^2}{N+1} + \varepsilon}, \qquad
    m, S^2, N \text{ and } t \text{ since the last true change}$$
    """

    reference = "RAVEN-UCB with known change points; ours"
    parameters = RavenUCB.parameters
    knows_changes = True
    row_limits = RavenUCB.row_limits
    choose = staticmethod(RavenUCB.choose)
    learn = staticmethod(RavenUCB.learn)
