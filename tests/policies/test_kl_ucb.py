import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ravenlab.policies import find_policy
from ravenlab.policies.kl_ucb import negative_entropy, upper_bound
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase, bisect_bound


class ReferenceKLUCB(ReferenceBase):
    """The largest q with N·d(m, q) ≤ ln t."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            x, level = np.array(self.rewards[k]), math.log(t) / len(self.rewards[k])
            if self.values["likelihood"] == "gaussian":
                scores[k] = float(x.mean()) + math.sqrt(2 * self.values["s2"] * level)
            else:
                low, high = self.values["low"], self.values["high"]
                scores[k] = bisect_bound(float(np.clip((x - low) / (high - low), 0.0, 1.0).mean()), level)
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"s2": 1e-4},
        {"s2": 1.0},
        {"likelihood": "bernoulli"},
        {"likelihood": "bernoulli", "low": -1.0, "high": 2.5},
        {"likelihood": "bernoulli", "low": 0.5, "high": 0.6},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    check_against_reference("kl-ucb", ReferenceKLUCB, scenario, horizon=300, arms=5, params=params, replications=1)


LOGS = st.floats(-17.0, 4.0).map(lambda x: 10.0**x)
MEANS = st.floats(0.0, 1.0) | LOGS.map(lambda x: min(x, 1.0)) | LOGS.map(lambda x: max(1 - x, 0.0))


@settings(max_examples=300)
@given(MEANS, LOGS, st.floats(0, 1))
def test_upper_bound_matches_bisection(m: float, level: float, guess: float) -> None:
    """Newton's method from any guess agrees with bisection, also for extreme means and levels."""
    q = float(upper_bound(m, negative_entropy(m), level, guess))
    assert m <= q <= 1.0
    exact = bisect_bound(m, level)
    # Near m, where d is flat, a rounding error δ of d moves the solution by about sqrt(δ).
    assert abs(q - exact) <= 1e-9 or abs(q - m) + abs(exact - m) <= 2e-7


def test_upper_bound_in_closed_form() -> None:
    assert upper_bound(0.0, 0.0, 0.7, 0.3) == pytest.approx(1 - math.exp(-0.7), abs=1e-15)
    assert upper_bound(1.0, 0.0, 0.7, 0.3) == 1.0
    assert upper_bound(0.4, negative_entropy(0.4), 0.0, 0.9) == 0.4


def test_ties_of_perfect_arms_go_to_the_lowest_index() -> None:
    policy = find_policy("kl-ucb")(arms=3, likelihood="bernoulli")
    for _ in range(30):
        policy.update_many([0, 1, 2], [0.0, 1.0, 1.0])
        assert policy.select() == 1
        policy.update(1, 1.0)
