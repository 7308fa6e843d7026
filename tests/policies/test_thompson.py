import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.engine.posterior import draw_gaussian_mean
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase, draw_posterior_mean


class ReferenceThompson(ReferenceBase):
    """A draw of θ for every open arm: normal–inverse-gamma, or Beta(1+S, 1+F) on rewards clipped to [0, 1]."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        seen = {k: np.array(self.rewards[k]) for k in open_arms}
        return {k: draw_posterior_mean(np.ones(x.size), x, self.values, self.rng) for k, x in seen.items()}


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"kappa0": 0.001, "b0": 0.001},
        {"mu0": -3.0, "kappa0": 10.0, "a0": 0.25, "b0": 10.0},
        {"likelihood": "bernoulli"},
        {"likelihood": "bernoulli", "low": -1.0, "high": 2.5},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    assert check_against_reference("thompson", ReferenceThompson, scenario, horizon=300, arms=4, params=params) == 0


def test_moments_of_posterior_draws() -> None:
    rng = np.random.default_rng(8)
    n, mean, squares, mu0, kappa0, a0, b0 = 6, 0.4, 2.0, 1.0, 0.5, 1.0, 0.7
    draws = np.array([draw_gaussian_mean(n, mean, squares, mu0, kappa0, a0, b0, rng) for _ in range(20_000)])
    kappa, a = kappa0 + n, a0 + n / 2
    b = b0 + squares / 2 + kappa0 * n * (mean - mu0) ** 2 / (2 * kappa)
    variance = b / (a - 1) / kappa
    assert abs(draws.mean() - (kappa0 * mu0 + n * mean) / kappa) < 5 * math.sqrt(variance / draws.size)
    # θ is Student's t with 2a degrees of freedom, whose kurtosis is 3 + 6/(2a − 4)
    assert abs(draws.var() / variance - 1) < 5 * math.sqrt((2 + 6 / (2 * a - 4)) / draws.size)


def test_statistics_match_numpy() -> None:
    rewards = np.random.default_rng(2).normal(0.5, 0.4, 400)
    gaussian = find_policy("thompson")(arms=1)
    gaussian.update_many([0] * rewards.size, rewards.tolist())
    _, mean, squares = gaussian.state()["stats"]
    assert mean[0] == pytest.approx(rewards.mean(), abs=1e-9)
    assert squares[0] / (rewards.size - 1) == pytest.approx(rewards.var(ddof=1), abs=1e-9)
    bernoulli = find_policy("thompson")(arms=1, likelihood="bernoulli", low=0.1, high=0.6)
    bernoulli.update_many([0] * rewards.size, rewards.tolist())
    assert bernoulli.state()["stats"][1][0] == pytest.approx(np.clip((rewards - 0.1) / 0.5, 0, 1).sum(), abs=1e-9)
