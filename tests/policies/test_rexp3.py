import math
from typing import Any

import pytest

from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceEXP3


class ReferenceREXP3(ReferenceEXP3):
    """EXP3 that resets all weights to 1 at steps 1, B + 1, 2B + 1, …"""

    batch_before = -1

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        batch = (t - 1) // int(self.values["batch"])
        if batch > self.batch_before:
            self.weights.multiple = [1.0] * len(self.weights.multiple)
        self.batch_before = batch
        return super().decide(t, open_arms)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli", "delayed"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"batch": 50},
        {"batch": 1, "gamma": 0.1},
        {"batch": 1000, "gamma": 0.05},
        {"batch": 33, "gamma": 1.0, "low": -1.0, "high": 2.0},
        {"batch": 3, "gamma": 0.5, "low": 0.4, "high": 0.6},
        {"gamma": 0.0},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    assert check_against_reference("rexp3", ReferenceREXP3, scenario, horizon=300, arms=4, params=params) == 0


def test_defaults_follow_expected_variation() -> None:
    values = find_policy("rexp3").resolve({"variation": 3}, 5, 3000)
    batch = math.ceil((5 * math.log(5)) ** (1 / 3) * 1000 ** (2 / 3))
    assert values["batch"] == batch
    assert values["gamma"] == pytest.approx(math.sqrt(5 * math.log(5) / ((math.e - 1) * batch)))
    assert find_policy("rexp3").resolve({"batch": 2}, 5, 3000)["gamma"] == 1.0
    stationary = find_policy("rexp3").resolve({"variation": 0}, 5, 3000)
    assert stationary["batch"] == 3000
    assert find_policy("rexp3").resolve({}, 1, 3000)["batch"] == 1


def test_restarts_on_time() -> None:
    policy = find_policy("rexp3")(arms=2, horizon=100, batch=20, gamma=0.5, seed=1)
    for step in range(1, 61):
        arm = policy.select()
        weights = policy.state()["stats"][1]
        # The first two pulls are not drawn.
        if step in (3, 21, 41):
            assert weights == [1.0, 1.0]
        elif step > 3:
            assert max(weights) > 1.0
        policy.update(arm, 1.0)
