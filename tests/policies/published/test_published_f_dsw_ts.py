from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.policies import PublishedFDSWTS
from ravenlab.policies.engine.posterior import draw_beta
from tests.policies.reference import check_against_reference


class ReferencePublishedFDSWTS:
    """Each step all a, b ← γ·(a, b); θ = min of two draws from Beta(a, b); the pulled arm adds z, 1 − z."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.gamma, self.rng = values["gamma"], rng
        self.a, self.b = [1.0] * arms, [1.0] * arms
        self.discounted = 0

    def discount(self, t: int) -> None:
        while self.discounted < t:
            self.a, self.b = [self.gamma * a for a in self.a], [self.gamma * b for b in self.b]
            self.discounted += 1

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        self.discount(t)
        scores: dict[int, float] = {}
        for k in open_arms:
            best = max(scores.values(), default=-1.0)
            if best == 1.0:
                break  # no score can be larger, so no more is drawn
            a, b = self.a[k], self.b[k]
            if a + b < 1e-13:
                scores[k] = float(self.rng.random() < (a / (a + b)) ** 2)
                continue
            scores[k] = draw_beta(a, b, self.rng)
            if scores[k] > best:  # otherwise the minimum of two draws is not the largest either
                scores[k] = min(scores[k], draw_beta(a, b, self.rng))
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        self.discount(t)
        self.a[k] += x
        self.b[k] += 1 - x


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli", "delayed"])
@pytest.mark.parametrize("gamma", [0.99, 0.9, 0.5])
def test_matches_reference_implementation(scenario: str, gamma: float) -> None:
    check_against_reference(
        "published-f-dsw-ts", ReferencePublishedFDSWTS, scenario, horizon=600, arms=6, params={"gamma": gamma}
    )


def test_small_beta_parameters_give_a_bernoulli_draw() -> None:
    """Just above the limit all draws are 0 or 1, in the ratio of a and b."""
    rng = np.random.default_rng(5)
    draws = np.array([draw_beta(1.5e-13, 0.5e-13, rng) for _ in range(4000)])
    assert set(draws) == {0.0, 1.0}
    assert abs(draws.mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / draws.size)


def test_rejects_online_use() -> None:
    with pytest.raises(InputError, match="published-f-dsw-ts"):
        PublishedFDSWTS(arms=2)
