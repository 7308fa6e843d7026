"""The regret of uniform choice, by which failing worlds are defined."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import world_tables
from ravenlab.policies.engine.play import last_mark, uniform_regret

HORIZON, ARMS, SEED = 400, 4, 5


@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "gradual-drift", "delayed"])
def test_uniform_regret_is_that_of_the_tables(scenario: str) -> None:
    worlds = draw_worlds(find_scenario(scenario), HORIZON, ARMS, SEED, 0, 5, Stream.REPORT)
    for r, regret in enumerate(uniform_regret(worlds)):
        means, _ = world_tables(worlds, r)
        expected = (worlds.best[r] - np.nanmean(means, axis=1))[last_mark(HORIZON) :].sum()
        assert regret == pytest.approx(expected)
