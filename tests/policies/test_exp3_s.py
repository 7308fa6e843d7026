import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceEXP3


class ReferenceEXP3S(ReferenceEXP3):
    """EXP3 that adds (e·α/K)·W to the weight of each open arm, where W is the sum before the step."""

    def grow(self, k: int, factor: float) -> None:
        open_arms, before = self.weights.open, list(self.weights.multiple)
        share = math.e / self.values["horizon"] / len(open_arms) * sum(before[j] for j in open_arms)
        for j in open_arms:
            self.weights.multiple[j] = before[j] * (factor if j == k else 1.0) + share


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli", "delayed"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"gamma": 0.001},
        {"gamma": 0.05, "horizon": 1},
        {"gamma": 0.9, "horizon": 1_000_000, "low": 0.4, "high": 0.6},
        {"gamma": 0.0},
        {"gamma": 1.0, "low": -1.0, "high": 2.0},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    assert check_against_reference("exp3-s", ReferenceEXP3S, scenario, horizon=300, arms=4, params=params) == 0


def test_matches_reference_with_arms_that_open_and_close() -> None:
    check_against_reference(
        "exp3-s", ReferenceEXP3S, "arm-churn+localized-jump", horizon=800, arms=3, params={"gamma": 0.3}
    )


def test_default_rate_follows_expected_changes() -> None:
    values = find_policy("exp3-s").resolve({"changes": 4}, 5, 3000)
    assert values["gamma"] == pytest.approx(math.sqrt(5 * (4 * math.log(15000) + math.e) / ((math.e - 1) * 3000)))
    assert find_policy("exp3-s").resolve({}, 50, 10)["gamma"] == 1.0


def test_frequencies_match_the_formula() -> None:
    policy = find_policy("exp3-s")(arms=3, horizon=1000, gamma=0.4, seed=4)
    policy.update_many([0, 1, 2], [1.0, 1.0, 1.0])
    weights = np.ones(3)
    for _ in range(30):
        p = 0.6 * weights / weights.sum() + 0.4 / 3
        arm, reward = policy.select(), 0.8
        policy.update(arm, reward)
        before = weights.sum()
        weights[arm] *= math.exp(0.4 * reward / p[arm] / 3)
        weights += math.e / 1000 / 3 * before
    p = 0.6 * weights / weights.sum() + 0.4 / 3
    counts = np.bincount([policy.select() for _ in range(4000)], minlength=3)
    assert np.all(np.abs(counts / 4000 - p) < 5 * np.sqrt(p * (1 - p) / 4000))
