import math

import numpy as np
import pytest

from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceUCBV(ReferenceBase):
    """m + sqrt(2V·ζ·ln t / N) + 3c·ζ·ln t / N."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        return {k: self.score(t, self.rewards[k]) for k in open_arms}

    def score(self, t: int, rewards: list[float]) -> float:
        n, bound = len(rewards), self.values["zeta"] * math.log(t)
        return float(np.mean(rewards) + math.sqrt(2 * np.var(rewards) * bound / n) + 3 * self.values["c"] * bound / n)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize("params", [{}, {"zeta": 0.01, "c": 0.01}, {"zeta": 5.0, "c": 0.01}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("ucb-v", ReferenceUCBV, scenario, horizon=400, arms=5, params=params)
    assert ties == 0 or scenario == "bernoulli"


def test_statistics_match_numpy() -> None:
    policy = find_policy("ucb-v")(arms=1)
    rewards = np.random.default_rng(3).normal(1e3, 1.0, 500)
    policy.update_many([0] * rewards.size, rewards.tolist())
    _, mean, squares, spread, width = policy.state()["stats"]
    assert mean[0] == pytest.approx(rewards.mean(), abs=1e-9)
    assert squares[0] / rewards.size == pytest.approx(rewards.var(), abs=1e-9)
    assert spread[0] == pytest.approx(math.sqrt(2 * rewards.var() / rewards.size), abs=1e-9)
    assert width[0] == pytest.approx(3.0 / rewards.size)
