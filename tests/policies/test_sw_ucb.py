from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from policies.engine.base import OPEN, WAITING
from policies.sw_ucb import SWUCB, select
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import History


class ReferenceSWUCB:
    """m_τ + sqrt(ξ·ln min(t, τ) / N_τ)."""

    def __init__(self, arms: int, horizon: int, values: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.xi, self.tau = values["xi"], values["tau"]
        self.history = History()

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        seen = {k: self.history.window(k, self.tau) for k in open_arms}
        for k in open_arms:
            if not seen[k]:
                return k
        bonus = self.xi * math.log(min(t, self.tau))
        return {k: float(np.mean(seen[k])) + math.sqrt(bonus / len(seen[k])) for k in open_arms}

    def learn(self, t: int, k: int, x: float) -> None:
        self.history.add(k, x)


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("params", [{}, {"tau": 1}, {"tau": 60, "xi": 0.01}, {"tau": 10000, "xi": 5.0}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("sw-ucb", ReferenceSWUCB, scenario, horizon=500, arms=5, params=params)


def test_arm_with_empty_window_waits_for_its_reward() -> None:
    policy = SWUCB(3, tau=2)
    for arm in range(3):
        policy.update(arm, 0.5)
    mask = np.array([WAITING, OPEN, OPEN])
    rest = (policy._stats, policy._cells, policy._memory, policy._p, policy._rng)
    assert select(4, np.array([OPEN, OPEN, OPEN]), *rest) == 0
    assert select(4, mask, *rest) == 1
    assert select(4, np.array([WAITING, 0, 0]), *rest) == -1
