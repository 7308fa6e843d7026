"""Blocks of worlds and the average rewards."""

from itertools import product

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.blocks import reward_scale
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import world_tables

NAMES = ("stationary", "gradual-drift", "periodic", "blips", "arm-churn", "incremental-drift")


@pytest.mark.parametrize(("noise", "name"), [*product(("normal", "bernoulli"), NAMES), ("normal", "variance-drift")])
def test_the_reward_scale_is_the_average_over_the_tables(noise: str, name: str) -> None:
    scenario = find_scenario(name, {"noise": noise})
    worlds = draw_worlds(scenario, 120, 4, seed=3, replications=6, stream=Stream.SEARCH)
    tables = [world_tables(worlds, r) for r in range(6)]
    mean = np.mean([np.nanmean(means) for means, _ in tables])
    spread = np.sqrt(np.mean([np.nanmean(variances) for _, variances in tables]))
    assert reward_scale(scenario, 120, 4, seed=3, replications=6) == pytest.approx((mean, spread), rel=1e-12)
