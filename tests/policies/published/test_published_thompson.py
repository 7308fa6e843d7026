import pytest

from ravenlab.common.errors import InputError
from ravenlab.policies import PublishedThompson
from ravenlab.policies.engine.posterior import draw_beta
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferencePublishedThompson(ReferenceBase):
    """The largest draw of Beta(1 + Σz, 1 + Σ(1−z))."""

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float]:
        scores = {}
        for k in open_arms:
            a = max(1e-6, 1 + sum(self.rewards[k]))
            b = max(1e-6, 1 + sum(1 - z for z in self.rewards[k]))
            scores[k] = draw_beta(a, b, self.rng)
        return scores


@pytest.mark.parametrize("scenario", ["stationary", "gradual-drift", "arm-churn", "blips", "bernoulli", "delayed"])
def test_matches_reference_implementation(scenario: str) -> None:
    assert check_against_reference("published-thompson", ReferencePublishedThompson, scenario, horizon=500, arms=5) == 0


def test_rejects_online_use() -> None:
    with pytest.raises(InputError, match="published-thompson"):
        PublishedThompson(arms=2)
