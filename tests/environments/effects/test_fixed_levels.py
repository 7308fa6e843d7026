"""Fixed levels: the same arms in every world, with independent noise."""

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.effects.fixed_levels import FixedLevels
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.world import world_tables


@pytest.mark.parametrize("noise", ["normal", "bernoulli"])
def test_all_worlds_have_the_specified_arms(noise: str) -> None:
    means, variances = (0.2, 0.7, 0.4), (0.16, 0.21, 0.24)
    scenario = Scenario("given", "given arms", (FixedLevels(means, variances),), noise=noise)
    worlds = draw_worlds(scenario, 50, 3, seed=1, replications=4)
    for r in range(4):
        for drawn, given in zip(world_tables(worlds, r), (means, variances), strict=True):
            np.testing.assert_allclose(drawn, np.tile(given, (50, 1)), rtol=1e-12)
    assert (worlds.best == 0.7).all()
    assert len(np.unique(worlds.noise[:, 0])) == 4


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        (FixedLevels((0.1,), (0.1,)), "means must have one number for each of the 2 arms but got 1"),
        (FixedLevels((0.1, 0.2), (0.1, 0.1, 0.1)), "variances must have one number for each of the 2 arms but got 3"),
        (FixedLevels((0.1, 0.2), (0.1, -0.1)), "variances must be at least 0 but got -0.1"),
    ],
)
def test_invalid_levels_are_rejected(effect: FixedLevels, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_worlds(Scenario("given", "given arms", (effect,)), 10, 2, seed=1)
