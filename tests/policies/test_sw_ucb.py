import math

import numpy as np
import pytest

from ravenlab.policies.engine.base import OPEN, WAITING
from ravenlab.policies.sw_ucb import SWUCB
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceSWUCB(ReferenceBase):
    """m_τ + sqrt(ξ·ln min(t, τ) / N_τ)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        seen = {k: self.history.window(k, self.values["tau"]) for k in open_arms}
        for k in open_arms:
            if not seen[k]:
                return k
        bonus = self.values["xi"] * math.log(min(t, self.values["tau"]))
        return {k: float(np.mean(seen[k])) + math.sqrt(bonus / len(seen[k])) for k in open_arms}


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
    assert SWUCB.choose(4, np.array([OPEN, OPEN, OPEN]), *rest) == 0
    assert SWUCB.choose(4, mask, *rest) == 1
    assert SWUCB.choose(4, np.array([WAITING, 0, 0]), *rest) == -1
