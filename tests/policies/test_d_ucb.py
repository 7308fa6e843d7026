import math

import numpy as np
import pytest

from ravenlab.policies.d_ucb import DUCB, TOTAL, WIDTH
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceDUCB(ReferenceBase):
    """m_γ + 2·sqrt(ξ·ln ΣN_γ / N_γ)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        seen = {k: self.history.weighted(k, self.values["gamma"]) for k in open_arms}
        for k in open_arms:
            if seen[k][0].sum() < 1e-280:
                return k
        total = sum(self.values["gamma"] ** age for age in range(len(self.history.pulls)))
        return {
            k: float(np.average(x, weights=w)) + 2 * math.sqrt(self.values["xi"] * math.log(total) / w.sum())
            for k, (w, x) in seen.items()
        }


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize(
    "params", [{}, {"gamma": 0.7, "xi": 0.001}, {"gamma": 0.99999}, {"gamma": 1.0}, {"gamma": 0.0}]
)
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("d-ucb", ReferenceDUCB, scenario, horizon=400, arms=5, params=params)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.9])
def test_idle_arm_stays_finite(gamma: float) -> None:
    policy = DUCB(3, gamma=gamma)
    for arm in range(3):
        policy.update(arm, 0.5)
    policy.close(1)
    for _ in range(9000):
        policy.update(2, 0.1)
    assert np.isfinite(policy._stats).all()
    assert policy._cells[TOTAL] == pytest.approx(1 / (1 - gamma))
    assert policy._stats[WIDTH, 2] == pytest.approx(math.sqrt(1 - gamma), rel=1e-9)
    policy.close(0)
    policy.open(1)
    assert policy.select() == 1
