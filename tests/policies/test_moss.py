import math

import numpy as np
import pytest

from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceMOSS(ReferenceBase):
    """m + sqrt(c·max(0, ln(T/(K·N))) / N)."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        def bonus(n: int) -> float:
            return float(self.values["c"]) * max(0.0, math.log(self.values["horizon"] / (len(open_arms) * n))) / n

        return {k: float(np.mean(self.rewards[k])) + math.sqrt(bonus(len(self.rewards[k]))) for k in open_arms}


@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "bernoulli", "delayed"])
@pytest.mark.parametrize("params", [{}, {"c": 0.05}])
def test_matches_reference_implementation(scenario: str, params: dict[str, float]) -> None:
    ties = check_against_reference("moss", ReferenceMOSS, scenario, horizon=600, arms=5, params=params)
    assert ties == 0 or scenario == "bernoulli"
