import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceDRaven(ReferenceBase):
    """M + α_t·sqrt(ln(t+1)/(W+1)) + β₀·sqrt(S²/(W+1) + ε) with weights γ^(steps since)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        seen = {k: self.history.weighted(k, self.values["gamma"]) for k in open_arms}
        for k in open_arms:
            if seen[k][0].sum() < 1e-3:
                return k
        epsilon = self.values["epsilon"]
        alpha = self.values["alpha0"] / math.log(t + epsilon)
        scores = {}
        for k, (w, x) in seen.items():
            mean, weight = float(np.average(x, weights=w)), w.sum()
            freedom = weight - (w**2).sum() / weight
            variance = (
                (w * (x - mean) ** 2).sum() / freedom if freedom >= 1e-9 * w[-1] else 0.0
            )  # w[-1] was 1 at the pull
            decaying = alpha * math.sqrt(math.log(t + 1) / (weight + 1))
            scores[k] = mean + decaying + self.values["beta0"] * math.sqrt(variance / (weight + 1) + epsilon)
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize(
    "params", [{}, {"gamma": 0.7, "alpha0": 0.01}, {"gamma": 0.95, "epsilon": 0.001}, {"gamma": 1.0, "beta0": 10.0}]
)
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("d-raven", ReferenceDRaven, scenario, horizon=400, arms=5, params=params)
