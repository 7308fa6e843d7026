import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from tests.environments.properties import quick


@quick
@given(drift=st.floats(0, 10), over=st.one_of(st.integers(1, 300), st.sampled_from(["100%", "50%", "200%"])))
def test_means_are_straight_lines_from_the_base_draw(drift: float, over: int | str) -> None:
    scenario = find_scenario("incremental-drift", {"drift": drift, "over": over})
    worlds = draw_worlds(scenario, 120, 4, seed=2)
    means, variances = world_tables(worlds)
    start = draw_worlds(find_scenario("stationary"), 120, 4, seed=2).level[0, 0, :, 0]
    length = over if isinstance(over, int) else 120 * int(over[:-1]) // 100
    slope = worlds.motion[0, :, 0]
    assert (np.abs(slope) <= drift / length).all()
    # The first step is t = 1, so its mean is already one slope away from μ(0).
    assert np.allclose(means, start + slope * np.arange(1, 121)[:, None], rtol=0, atol=1e-9)
    assert (variances == variances[0]).all()


def test_slopes_are_uniform_over_their_range() -> None:
    slope = draw_worlds(find_scenario("incremental-drift"), 100, 10, 1, replications=500).motion[:, :, 0] * 100
    assert slope.min() < -0.249
    assert slope.max() > 0.249
    assert abs(slope.mean()) < 4 * 0.5 / np.sqrt(12 * slope.size)


def test_the_drift_continues_after_over() -> None:
    means, _ = world_tables(draw_worlds(find_scenario("incremental-drift", {"over": 10}), 100, 3, 1))
    assert np.diff(means, axis=0) == pytest.approx(np.tile(means[1] - means[0], (99, 1)), abs=1e-12)
