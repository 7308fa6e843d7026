import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference


class ReferenceCCB:
    """m + a·(Δ/2)·sqrt(sqrt(T/N)), Δ halved at deadlines."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.horizon, self.a = values["horizon"], values["a"]
        self.delta = 1.0
        self.deadline: float | None = None
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def pulls(self) -> int:
        return math.ceil(2 * math.log(self.horizon * self.delta**2) / self.delta**2)

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        means = {k: float(np.mean(self.rewards[k])) for k in open_arms}
        if self.deadline is None:
            self.deadline = self.pulls() * len(open_arms)
        if t >= self.deadline and self.horizon * self.delta**2 > math.e:
            r = math.sqrt(math.log(self.horizon * self.delta**2) / (2 * self.pulls()))
            rivals = [k for k in open_arms if means[k] + r >= max(m - r for m in means.values())]
            self.delta /= 2
            self.deadline = t + self.pulls() * len(rivals)
        return {
            k: means[k] + self.a * self.delta / 2 * math.sqrt(math.sqrt(self.horizon / len(self.rewards[k])))
            for k in open_arms
        }

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize(
    "params", [{}, {"a": 0.01}, {"a": 10.0, "horizon": 5000}, {"horizon": 60}, {"horizon": 3}, {"horizon": 1}]
)
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("ccb", ReferenceCCB, scenario, horizon=500, arms=4, params=params)
    assert ties == 0 or scenario == "bernoulli"


def test_delta_is_halved_while_the_logarithm_is_above_1() -> None:
    policy = find_policy("ccb")(arms=2, horizon=100)
    deltas = []
    for _ in range(3000):
        arm = policy.select()
        policy.update(arm, float(arm))
        deltas.append(policy.state()["cells"][0])
    # 100·Δ² is larger than e for Δ = 1/4, but not for 1/8.
    assert sorted(set(deltas), reverse=True) == [1.0, 0.5, 0.25, 0.125]


def test_requires_a_horizon() -> None:
    with pytest.raises(InputError, match="horizon"):
        find_policy("ccb")(arms=2)
