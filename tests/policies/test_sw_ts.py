from typing import Any

import numpy as np
import pytest

from ravenlab.policies.sw_ts import SWTS
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase, draw_posterior_mean


class ReferenceSWTS(ReferenceBase):
    """Thompson sampling on the last τ rewards."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        seen = {k: np.array(self.history.window(k, self.values["tau"])) for k in open_arms}
        return {k: draw_posterior_mean(np.ones(len(seen[k])), seen[k], self.values, self.rng) for k in open_arms}


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"tau": 1},
        {"tau": 50, "mu0": 2.0, "kappa0": 0.001, "b0": 0.001},
        {"tau": 80, "likelihood": "bernoulli"},
        {"tau": 9999, "likelihood": "bernoulli", "low": 0.2, "high": 0.9},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    check_against_reference("sw-ts", ReferenceSWTS, scenario, horizon=400, arms=5, params=params)


def test_arm_outside_the_window_is_drawn_from_the_prior() -> None:
    policy = SWTS(2, tau=5, mu0=-50.0, a0=10.0, seed=3)
    for arm in (0, 1, 1, 1, 1, 1):
        policy.update(arm, 0.5)
    assert {policy.select() for _ in range(50)} == {1}
