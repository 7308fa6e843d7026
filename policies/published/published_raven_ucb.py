"""RAVEN-UCB as in the logistics script: α₀ = 0.5, β₀ = 1, ε = 1e-6, accumulated variance, ln t under the first root."""

from dataclasses import replace

from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.raven_ucb import RavenUCB

NUMBERS: dict[str, Value] = {
    "alpha0": 0.5,
    "beta0": 1.0,
    "epsilon": 1e-6,
    "variance": "accumulated",
    "logarithm": "t",
    "unit": 1.0,
}


class PublishedRavenUCB(RavenUCB):
    r"""RAVEN-UCB with the parameters and estimators behind Table 3 of the paper.

    $$m + \alpha_t\sqrt{\frac{\ln t}{N+1}} + \beta_0\sqrt{\frac{S^2}{N+1} + \varepsilon}$$
    """

    family = "published"
    reference = "RAVEN-UCB, logistics script"
    parameters = tuple(
        replace(param, default=NUMBERS[param.name], low=None, high=None) for param in RavenUCB.parameters
    )
