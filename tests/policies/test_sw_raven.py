import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceSWRaven(ReferenceBase):
    """M + α_t·sqrt(ln(t+1)/(N+1)) + β₀·sqrt(S²/(N+1) + ε) over the last τ steps."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        seen = {k: self.history.window(k, self.values["tau"]) for k in open_arms}
        for k in open_arms:
            if not seen[k]:
                return k
        epsilon = self.values["epsilon"]
        alpha = self.values["alpha0"] / math.log(t + epsilon)
        scores = {}
        for k in open_arms:
            n = len(seen[k])
            variance = float(np.var(seen[k], ddof=1)) if n > 1 else 0.0
            decaying = alpha * math.sqrt(math.log(t + 1) / (n + 1))
            scores[k] = (
                float(np.mean(seen[k])) + decaying + self.values["beta0"] * math.sqrt(variance / (n + 1) + epsilon)
            )
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "localized-jump", "arm-churn", "blips", "bernoulli"])
@pytest.mark.parametrize(
    "params", [{}, {"tau": 1}, {"tau": 77, "alpha0": 0.01, "epsilon": 0.001}, {"tau": 9999, "beta0": 10.0}]
)
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    check_against_reference("sw-raven", ReferenceSWRaven, scenario, horizon=500, arms=5, params=params)
