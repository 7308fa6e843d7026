import math

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import world_tables
from ravenlab.policies.engine.simulation import simulate


def test_parts_are_uniform_spacings() -> None:
    parts = draw_worlds(find_scenario("delayed"), 20_000, 2, 1).parts[0]
    assert parts.min() >= 0
    assert np.allclose(parts.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    # A spacing of 3 is Beta(1, 2): mean 1/3, variance 1/18, P(part > 1/2) = 1/4.
    assert (np.abs(parts.mean(axis=0) - 1 / 3) < 4 * math.sqrt(1 / 18 / 20_000)).all()
    assert (np.abs((parts > 0.5).mean(axis=0) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 20_000)).all()


@pytest.mark.parametrize("longest", [0, 1, 20])
def test_delays_are_uniform_from_0_to_the_longest(longest: int) -> None:
    delay = draw_worlds(find_scenario("delayed", {"longest": longest}), 20_000, 2, 1).delay[0]
    share = 1 / (longest + 1)
    assert delay.min() == 0
    assert delay.max() == longest
    for value in range(longest + 1):
        assert abs((delay == value).mean() - share) <= 4 * math.sqrt(share * (1 - share) / 60_000)


def test_zero_delay_equals_no_delay() -> None:
    runs = [
        simulate("ucb1", name, horizon=300, arms=4, settings=settings, replications=3, seed=1, pulls=True)
        for name, settings in (("stationary", {}), ("delayed", {"longest": 0}))
    ]
    assert runs[0].pulls is not None
    assert runs[1].pulls is not None
    assert (runs[0].pulls == runs[1].pulls).all()
    assert (runs[0].regret == runs[1].regret).all()


def test_delay_beyond_the_horizon_is_truncated() -> None:
    worlds = draw_worlds(find_scenario("delayed", {"longest": 10**12}), 100, 3, 1)
    assert worlds.delay.max() == 100
    simulate("ucb1", "delayed", horizon=100, arms=3, settings={"longest": 10**12}, replications=1, seed=1)


def test_means_and_variances_are_stationary() -> None:
    for one, other in zip(
        world_tables(draw_worlds(find_scenario("delayed"), 100, 3, 1)),
        world_tables(draw_worlds(find_scenario("stationary"), 100, 3, 1)),
        strict=True,
    ):
        assert (one == other).all()
