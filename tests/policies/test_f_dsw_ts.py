import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.engine.posterior import draw_beta
from tests.policies.reference import check_against_reference

COMBINE: dict[str, Callable[[float, float], float]] = {
    "min": lambda x, y: min(x, y),
    "mean": lambda x, y: (x + y) / 2,
    "max": lambda x, y: max(x, y),
}


class ReferenceFDSWTS:
    """θ = g(draw Beta(S+1, F+1), draw Beta(1+s, 1+f)); the first is drawn only if it can change the choice."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.values, self.rng = values, rng
        self.g = COMBINE[values["g"]]
        self.rewards: list[list[tuple[int, float]]] = [[] for _ in range(arms)]

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores: dict[int, float] = {}
        for k in open_arms:
            steps, z = np.array(self.rewards[k]).T
            window = z[-int(self.values["n"]) :]
            hot = float(draw_beta(1.0 + window.sum(), 1.0 + (1 - window).sum(), self.rng))
            if self.g(1.0, hot) <= max(scores.values(), default=-1.0):
                scores[k] = -1.0
                continue
            weights = self.values["gamma"] ** (t - 1 - steps)
            cold = float(draw_beta((weights * z).sum() + 1.0, (weights * (1 - z)).sum() + 1.0, self.rng))
            scores[k] = self.g(cold, hot)
        return scores

    def learn(self, t: int, k: int, x: float) -> None:
        low, high = self.values["low"], self.values["high"]
        self.rewards[k].append((t, float(np.clip((x - low) / (high - low), 0.0, 1.0))))


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"g": "mean", "n": 10},
        {"g": "max", "n": 1, "gamma": 0.7},
        {"gamma": 1.0, "n": 2, "low": -1.0, "high": 2.0},
        {"gamma": 0.0, "n": 1000, "low": 0.4, "high": 0.6},
    ],
)
def test_matches_reference_implementation(scenario: str, params: dict[str, Any]) -> None:
    assert check_against_reference("f-dsw-ts", ReferenceFDSWTS, scenario, horizon=300, arms=4, params=params) == 0


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_window_and_discounted_sums(n: int) -> None:
    policy = find_policy("f-dsw-ts")(arms=2, n=n, gamma=0.9)
    rng = np.random.default_rng(n)
    rewards: list[list[float]] = [[], []]
    pulls: list[tuple[int, float]] = []
    for step in range(180):
        # Zeros in the second half reveal rounding errors of running differences.
        arm, x = int(rng.integers(2)), float(rng.random()) if step < 90 else 0.0
        policy.update(arm, x)
        rewards[arm].append(x)
        pulls.append((arm, x))
        _, successes, failures, hot, _ = policy.state()["stats"]
        assert hot[arm] == pytest.approx(sum(rewards[arm][-n:]), rel=1e-14, abs=0.0)
        for k in range(2):
            weights = [(0.9 ** (step - i), z) for i, (a, z) in enumerate(pulls) if a == k]
            assert successes[k] == pytest.approx(sum(w * z for w, z in weights), abs=1e-9)
            assert failures[k] == pytest.approx(sum(w * (1 - z) for w, z in weights), abs=1e-9)


def test_idle_arm_stays_finite() -> None:
    policy = find_policy("f-dsw-ts")(arms=2, gamma=0.5, n=10, seed=3)
    policy.update(0, 0.3)
    policy.update_many([1] * 2000, [0.6] * 2000)
    state = policy.state()
    assert state["stats"][1][0] == 0.0
    assert state["stats"][2][0] == 0.0
    json.dumps(state, allow_nan=False)
    assert policy.select() in (0, 1)
