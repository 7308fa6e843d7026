from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from ravenlab.policies.engine.simulation import simulate
from tests.environments.properties import quick
from tests.environments.reference_means import PlainWorld
from tests.messages import raises_naming


@quick
@given(
    opens=st.integers(1, 120),
    closes=st.integers(1, 120),
    arms=st.integers(2, 6),
    closing=st.sampled_from(["best", "random"]),
    seed=st.integers(0, 1000),
)
def test_arms_open_and_close_at_the_given_steps(opens: int, closes: int, arms: int, closing: str, seed: int) -> None:
    scenario = find_scenario("arm-churn", {"opens": opens, "closes": closes, "closing": closing})
    worlds = draw_worlds(scenario, 100, arms, seed)
    means, _ = world_tables(worlds)
    base_means = worlds.level[0, 0, :, 0]
    assert means.shape == (100, arms + 1)
    for t in range(1, 101):
        is_open = ~np.isnan(means[t - 1])
        # Nothing happens at step 1, so an arm that should open there never does.
        opened = arms + (1 < opens <= t)
        closed = 1 < closes <= t
        assert is_open.sum() == opened - closed
        if closed and closing == "best":
            before = arms + (1 < opens < closes)
            assert not is_open[np.argmax(base_means[:before])]
        if closed and opens >= closes:
            assert is_open[arms] == (t >= opens)


def test_the_arm_that_closes_is_the_best_at_that_step() -> None:
    """The best arm is determined with all effects at that step, including blips."""
    for seed in range(20):
        for name in ("periodic+incremental-drift+arm-churn", "blips+arm-churn", "gradual-drift+arm-churn"):
            scenario = find_scenario(name, {"closes": 60, "opens": 30})
            worlds = draw_worlds(scenario, 100, 4, seed)
            reference = PlainWorld(scenario, 100, 4, seed)
            assert worlds.closes[0].argmin() == max(range(5), key=lambda k: reference.mean(k, 60))
            assert worlds.closes[0].min() == 60


def test_the_random_arm_can_be_any_open_arm() -> None:
    closes = draw_worlds(find_scenario("arm-churn", {"closing": "random"}), 100, 3, 1, replications=400).closes
    closed = closes.argmin(axis=1)
    assert (np.abs(np.bincount(closed, minlength=4) / 400 - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 400)).all()
    early = draw_worlds(find_scenario("arm-churn", {"closing": "random", "closes": 33}), 100, 3, 1, replications=100)
    assert early.closes.argmin(axis=1).max() == 2


def test_new_arm_is_pulled_when_it_opens_and_closed_arm_is_not_pulled() -> None:
    result = simulate("ucb1", "arm-churn", horizon=100, arms=4, replications=5, seed=1, pulls=True)
    worlds = draw_worlds(find_scenario("arm-churn"), 100, 4, 1, replications=5)
    assert result.pulls is not None
    for r, pulls in enumerate(result.pulls):
        assert 4 not in pulls[:32]
        assert pulls[32] == 4
        assert worlds.closes[r].argmin() not in pulls[66:]


def test_only_arm_closing_before_the_next_opens_is_rejected() -> None:
    scenario = find_scenario("arm-churn", {"opens": 50, "closes": 50})
    assert np.isfinite(draw_worlds(scenario, 100, 1, 1).best).all()
    for settings in ({"opens": 51, "closes": 50}, {"opens": 1, "closes": 50}, {"opens": 500, "closes": 50}):
        with raises_naming(InputError, "closes", "opens"):
            find_scenario("arm-churn", settings).check(100, 1)


@pytest.mark.parametrize("settings", [{"opens": 10**14}, {"closes": 10**14}, {"opens": 101}, {"closes": 101}])
def test_changes_after_the_horizon_are_ignored(settings: dict[str, Any]) -> None:
    worlds = draw_worlds(find_scenario("arm-churn", settings), 100, 3, 1)
    assert (worlds.opens.max() > 100) == ("opens" in settings)
    assert (worlds.closes.min() > 100) == ("closes" in settings)
