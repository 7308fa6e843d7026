import math

import numpy as np
import pytest

from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceUCBTuned(ReferenceBase):
    """m + a·sqrt((ln t / N)·min(¼, V + sqrt(2 ln t / N)))."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            x, n = np.array(self.rewards[k]), len(self.rewards[k])
            spread = min(0.25, float(x.var()) + math.sqrt(2 * math.log(t) / n))
            scores[k] = float(x.mean()) + self.values["a"] * math.sqrt(math.log(t) / n * spread)
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("params", [{}, {"a": 0.1}, {"a": 10.0}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("ucb-tuned", ReferenceUCBTuned, scenario, horizon=500, arms=5, params=params)
    assert ties == 0 or scenario == "bernoulli"


def test_variance_matches_numpy() -> None:
    rewards = np.random.default_rng(4).normal(50.0, 0.2, 300)
    policy = find_policy("ucb-tuned")(arms=1)
    policy.update_many([0] * rewards.size, rewards.tolist())
    _, mean, _, variance, _ = policy.state()["stats"]
    assert mean[0] == pytest.approx(rewards.mean(), abs=1e-9)
    assert variance[0] == pytest.approx(rewards.var(), abs=1e-9)
