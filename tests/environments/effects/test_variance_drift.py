import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from tests.environments import reference_world
from tests.environments.properties import quick


@quick
@given(growth=st.floats(0, 10), over=st.integers(1, 300))
def test_variances_are_linear_and_means_constant(growth: float, over: int) -> None:
    worlds = draw_worlds(find_scenario("variance-drift", {"growth": growth, "over": over}), 120, 4, seed=2)
    means, variances = world_tables(worlds)
    slope = worlds.motion[0, :, 1]
    assert ((slope >= 0) & (slope <= growth / over)).all()
    start = draw_worlds(find_scenario("stationary"), 120, 4, seed=2).level[0, 0, :, 1]
    assert np.allclose(variances, start + slope * np.arange(1, 121)[:, None], rtol=1e-12)
    assert (means == means[0]).all()


def test_rewards_have_the_variance_of_their_step() -> None:
    worlds = draw_worlds(find_scenario("variance-drift"), 200, 2, 5, replications=1)
    _, variances = world_tables(worlds)
    for t in (1, 100, 200):
        x = reference_world.reward(worlds, 0, 1, t)
        z = (x - worlds.level[0, 0, 1, 0]) / np.sqrt(variances[t - 1, 1])
        assert np.isclose(z, worlds.noise[0, t - 1])
