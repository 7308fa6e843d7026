import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from tests.environments.properties import quick
from tests.messages import raises_naming


@quick
@given(horizon=st.integers(4, 200), segments=st.integers(1, 1000), seed=st.integers(0, 1000))
def test_means_are_constant_within_equal_segments_and_variances_stay(horizon: int, segments: int, seed: int) -> None:
    scenario = find_scenario("random-walk", {"segments": segments})
    means, variances = world_tables(draw_worlds(scenario, horizon, 4, seed))
    base, base_variances = world_tables(draw_worlds(find_scenario("stationary"), horizon, 4, seed))
    count = min(segments, horizon)
    starts = {1 + j * horizon // count for j in range(count)}
    assert (means[0] == base[0]).all()
    assert (variances == base_variances).all()
    for t in range(2, horizon + 1):
        assert (means[t - 1] != means[t - 2]).all() == (t in starts)


@pytest.mark.parametrize("segments", [50, 1000])
def test_the_deviation_after_t_steps_does_not_depend_on_the_number_of_segments(segments: int) -> None:
    """Increments of disjoint parts are independent, and their variances add up."""
    horizon, worlds, arms = 1000, 100, 4
    scenario = find_scenario("random-walk", {"deviation": 0.4, "over": "50%", "segments": segments})
    block = draw_worlds(scenario, horizon, arms, 7, 0, worlds)
    means = np.stack([world_tables(block, r)[0] for r in range(worlds)])
    number = worlds * arms
    halves = means[:, 499] - means[:, 0], means[:, 999] - means[:, 499]
    for half in halves:
        ratio = half.var() / 0.4**2
        assert abs(ratio - 1) < 4 * math.sqrt(2 / number) + 1.0 / segments
    assert abs(np.corrcoef(halves[0].ravel(), halves[1].ravel())[0, 1]) < 4 / math.sqrt(number)


def test_an_extra_arm_does_not_change_the_walks_of_the_others() -> None:
    alone = draw_worlds(find_scenario("random-walk"), 300, 4, 1)
    churn = draw_worlds(find_scenario("random-walk+arm-churn"), 300, 4, 1)
    assert (world_tables(alone)[0] == np.nan_to_num(world_tables(churn)[0][:, :4], nan=9.0))[:200].all()


@pytest.mark.parametrize(("setting", "value"), [("segments", 1001), ("segments", 0), ("deviation", -1), ("over", 0)])
def test_invalid_settings_are_rejected(setting: str, value: float) -> None:
    with raises_naming(InputError, setting):
        find_scenario("random-walk", {setting: value}).check(1000, 3)
