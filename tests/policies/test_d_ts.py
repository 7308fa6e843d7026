from typing import Any

import numpy as np
import pytest

from ravenlab.policies.d_ts import DTS
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase, draw_posterior_mean


class ReferenceDTS(ReferenceBase):
    """Thompson sampling on discounted rewards."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {
            k: draw_posterior_mean(*self.history.weighted(k, self.values["gamma"]), self.values, self.rng)
            for k in open_arms
        }


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"gamma": 0.7, "mu0": 2.0, "kappa0": 0.001, "b0": 0.001},
        {"gamma": 1.0},
        {"gamma": 0.95, "likelihood": "bernoulli"},
        {"gamma": 0.99999, "likelihood": "bernoulli", "low": 0.2, "high": 0.9},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    check_against_reference("d-ts", ReferenceDTS, scenario, horizon=400, arms=5, params=params)


def test_idle_arm_returns_to_the_prior() -> None:
    policy = DTS(2, gamma=0.5, mu0=-50.0, a0=10.0, seed=3)
    policy.update(0, 0.5)
    for _ in range(3000):
        policy.update(1, 0.5)
    assert np.isfinite(policy._stats).all()
    assert {policy.select() for _ in range(50)} == {1}
