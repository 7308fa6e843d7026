import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from ravenlab.policies.engine.simulation import simulate
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase, scores_by_share


class ReferenceTsallisINF(ReferenceBase):
    """p = 4/(η(L − ξ))² with ξ by bisection; L of closed arms relative to the average of the open ones."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.loss = np.zeros(len(self.rewards))
        self.open: list[int] = []
        self.p: dict[int, float] = {}

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        kept = [k for k in self.open if k in open_arms]
        before = np.mean(self.loss[self.open]) if self.open else 0.0
        after = np.mean(self.loss[kept]) if kept else 0.0
        for k in set(self.open) - set(open_arms):
            self.loss[k] -= before
        for k in set(open_arms) - set(self.open):
            self.loss[k] += after
        self.open = list(open_arms)
        rate, loss = 2 * self.values["c"] / math.sqrt(t), self.loss[open_arms]
        lowest, count = loss.min(), len(open_arms)

        def excess(xi: float) -> float:
            return float(np.sum(4 / (rate * (loss - xi)) ** 2)) - 1

        xi = brentq(excess, lowest - 2 * math.sqrt(count) / rate - 1, lowest - 1.999 / rate, xtol=1e-13, rtol=1e-14)
        p = 4 / (rate * (loss - xi)) ** 2
        self.p = dict(zip(open_arms, (p / p.sum()).tolist(), strict=True))
        return scores_by_share(self.p, self.rng.random())

    def learn(self, t: int, k: int, x: float) -> None:
        if self.p:
            low, high = self.values["low"], self.values["high"]
            self.loss[k] += (1 - float(np.clip((x - low) / (high - low), 0, 1))) / self.p[k]
            self.p = {}


@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "bernoulli", "delayed"])
@pytest.mark.parametrize("params", [{}, {"c": 2.0}, {"c": 0.1, "low": 0.2, "high": 0.9}])
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    assert (
        check_against_reference("tsallis-inf", ReferenceTsallisINF, scenario, horizon=300, arms=4, params=params) == 0
    )


def test_regret_grows_sublinearly() -> None:
    run: dict[str, Any] = {"scenario": "bernoulli", "arms": 5, "replications": 40, "seed": 2}
    short, long = (simulate("tsallis-inf", horizon=horizon, **run).regret for horizon in (2000, 8000))
    error = math.hypot(3.0 * short.std(ddof=1), long.std(ddof=1)) / math.sqrt(short.size)
    assert long.mean() < 3.0 * short.mean() - 2.0 * error  # twice as much for √T, four times as much for uniform choice
