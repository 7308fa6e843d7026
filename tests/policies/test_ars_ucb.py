import itertools
import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.engine.simulation import simulate
from tests.policies.reference import check_against_reference
from tests.policies.reference_parts import ReferenceBase


class ReferenceARSUCB(ReferenceBase):
    """F/N + sqrt(a·ln t / N), then the same arm for as many steps as it has had rounds."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.rounds = [1] * len(self.rewards)
        self.plan: list[int] = []
        self.choosing = False

    def decide(self, t: int, open_arms: list[int]) -> dict[int, float] | int:
        if self.plan and self.plan[0] in open_arms:
            return self.plan.pop()
        self.choosing = True
        return {
            k: float(np.mean(self.rewards[k])) + math.sqrt(self.values["a"] * math.log(t) / len(self.rewards[k]))
            for k in open_arms
        }

    def learn(self, t: int, k: int, x: float) -> None:
        if self.choosing:
            self.rounds[k] += 1
            self.plan = [k] * (self.rounds[k] - 1)
            self.choosing = False
        super().learn(t, k, x)


@pytest.mark.parametrize("scenario", ["stationary", "delayed", "localized-jump", "arm-churn", "bernoulli"])
@pytest.mark.parametrize("a", [4.0, 0.01, 1.0, 100.0])
def test_matches_reference_implementation(scenario: str, a: float) -> None:
    check_against_reference("ars-ucb", ReferenceARSUCB, scenario, horizon=500, arms=4, params={"a": a})


@pytest.mark.parametrize("arms", [1, 2, 6])
def test_matches_reference_with_arms_that_open_and_close(arms: int) -> None:
    check_against_reference(
        "ars-ucb", ReferenceARSUCB, "arm-churn+delayed", horizon=400, arms=arms, params={"a": 0.1}, replications=4
    )


def test_round_n_has_n_steps() -> None:
    result = simulate("ars-ucb", "delayed", horizon=2000, arms=3, replications=1, params={"a": 10.0}, pulls=True)
    assert result.pulls is not None
    rounds = [0, 0, 0]
    runs = [(k, len(list(run))) for k, run in itertools.groupby(result.pulls[0].tolist())]
    for k, length in runs[:-1]:
        # Consecutive rounds of the same arm form one run.
        while length > 0:
            rounds[k] += 1
            length -= rounds[k]
        assert length == 0
    assert min(rounds) > 3


def test_closing_an_arm_ends_its_round() -> None:
    policy = find_policy("ars-ucb")(arms=2, a=0.01)
    for mean in (0.9, 0.1):
        policy.update(policy.select(), mean)
    for _ in range(6):
        arm = policy.select()
        assert arm == 0
        policy.update(arm, 0.9)
    # After rounds of 2 and 3 steps, the first step of a round of 4 is done.
    policy.close(0)
    assert policy.select() == 1
    policy.open(0)
    assert [policy.select(), policy.select()] == [1, 0]
