from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from environments.errors import InputError
from policies import find_policy
from policies.engine.simulation import simulate
from tests.policies.reference import check_against_reference


class ReferenceEpsilonGreedy:
    """With probability ε any open arm, else argmax m."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.epsilon, self.rng = values["epsilon"], rng
        self.rewards: list[list[float]] = [[] for _ in range(arms)]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.rng.random() < self.epsilon:
            return open_arms[int(self.rng.random() * len(open_arms))]
        return {k: float(np.mean(self.rewards[k])) for k in open_arms}

    def learn(self, t: int, k: int, x: float) -> None:
        self.rewards[k].append(x)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("epsilon", [0.1, 0.0, 0.5, 1.0])
def test_matches_reference_implementation(scenario: str, epsilon: float) -> None:
    ties = check_against_reference(
        "epsilon-greedy", ReferenceEpsilonGreedy, scenario, horizon=400, arms=5, params={"epsilon": epsilon}
    )
    assert ties == 0 or scenario == "bernoulli"


def test_explores_uniformly() -> None:
    result = simulate(
        "epsilon-greedy", "stationary", horizon=20_000, arms=4, replications=1, params={"epsilon": 1.0}, pulls=True
    )
    assert result.pulls is not None
    counts = np.bincount(result.pulls[0], minlength=4)
    assert (abs(counts - 5000) < 5 * np.sqrt(20_000 * 0.25 * 0.75)).all()


def test_rejects_invalid_probabilities() -> None:
    with pytest.raises(InputError, match="epsilon"):
        find_policy("epsilon-greedy")(arms=2, epsilon=1.5)
