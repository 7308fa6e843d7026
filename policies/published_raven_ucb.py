"""RAVEN-UCB as the logistics script ran it: α₀ 0.5, β₀ 1, ε 1e-6, variance accumulated, ln t under the first root."""

from __future__ import annotations

from collections.abc import Mapping

from policies.base import Param, Policy, Sizes, Value
from policies.raven_ucb import ESTIMATORS, RavenUCB, select, start, update


class PublishedRavenUCB(Policy):
    """The rules of raven-ucb with the numbers behind the paper's Table 3."""

    name = "published-raven-ucb"
    family = "published"
    reference = "RAVEN-UCB, logistics script"
    parameters = (
        Param("alpha0", 0.5, meaning="α₀, weight of the decaying bonus"),
        Param("beta0", 1.0, meaning="β₀, weight of the variance bonus"),
        Param("epsilon", 1e-6, meaning="ε, floor of the variance bonus"),
        Param("variance", "accumulated", choices=ESTIMATORS, meaning="how S² is estimated"),
        Param("logarithm", "t", choices=("t+1", "t"), meaning="ln(t+1) or ln t under the first root"),
    )
    start = staticmethod(start)
    choose = staticmethod(select)
    learn = staticmethod(update)

    @classmethod
    def sizes(cls, arms: int, values: Mapping[str, Value]) -> Sizes:
        return RavenUCB.sizes(arms, values)


POLICY = PublishedRavenUCB
