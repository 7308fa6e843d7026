import math
from typing import Any

import pytest

from ravenlab.policies.engine.simulation import simulate
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceKalmanTS(ReferenceBase):
    """Thompson sampling from the posterior of random walks, with one prediction per arm and step."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.mean = [self.values["mu0"]] * len(self.rewards)
        self.variance = [self.values["v0"]] * len(self.rewards)
        self.step = 0

    def predict(self, t: int) -> None:
        for _ in range(self.step, t):
            self.variance = [v + self.values["q"] for v in self.variance]
        self.step = t

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        self.predict(t)
        return {k: self.mean[k] + math.sqrt(self.variance[k]) * self.rng.standard_normal() for k in open_arms}

    def learn(self, t: int, k: int, x: float) -> None:
        self.predict(t)
        precision = 1 / self.variance[k] + 1 / self.values["r"]
        self.mean[k] = (self.mean[k] / self.variance[k] + x / self.values["r"]) / precision
        self.variance[k] = 1 / precision


@pytest.mark.parametrize("scenario", ["stationary", "random-walk", "arm-churn", "delayed"])
@pytest.mark.parametrize("params", [{}, {"mu0": 0.5, "v0": 0.1, "r": 0.05, "q": 0.0}, {"r": 0.01, "q": 0.01}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("kalman-ts", ReferenceKalmanTS, scenario, horizon=400, arms=5, params=params)


def test_adapts_to_random_walks() -> None:
    run: dict[str, Any] = {"scenario": "random-walk", "settings": {"deviation": 1.0}, "horizon": 4000, "arms": 5}
    adaptive, fixed = (
        simulate("kalman-ts", params={"r": 0.05, "q": q}, replications=30, seed=1, **run).regret for q in (2.5e-4, 0.0)
    )
    gain = fixed - adaptive
    assert gain.mean() > 5 * gain.std(ddof=1) / math.sqrt(gain.size)
