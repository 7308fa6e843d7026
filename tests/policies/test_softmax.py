import json

import numpy as np
import pytest

from ravenlab.policies import find_policy
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase, scores_by_share


class ReferenceSoftmax(ReferenceBase):
    """p ∝ exp(m / τ); see `scores_by_share` for the scores."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        means = np.array([np.mean(self.rewards[k]) for k in open_arms])
        weights = np.exp((means - means.max()) / self.values["tau"])
        return scores_by_share(dict(zip(open_arms, weights / weights.sum(), strict=True)), self.rng.random())


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "incremental-drift", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("tau", [0.1, 0.001, 1.0, 1e-6])
def test_matches_reference_implementation(scenario: str, tau: float) -> None:
    check_against_reference("softmax", ReferenceSoftmax, scenario, horizon=400, arms=5, params={"tau": tau})


def test_state_stays_finite_for_any_reward_scale() -> None:
    policy = find_policy("softmax")(arms=4, tau=1e-9, seed=1)
    for step, scale in enumerate([1.0, -1e6, 1e12, -1e12, 0.0] * 20):
        policy.update(step % 4, scale)
        if step == 50:
            policy.close(2)
        if step == 50 or step % 4 == 1:
            policy.open(2)
        assert 0 <= policy.select() < 4
    json.dumps(policy.state(), allow_nan=False)
