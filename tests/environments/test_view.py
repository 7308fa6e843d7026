"""Views are exact at their steps, and lines between them are close."""

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.catalog import EFFECTS
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.view import thin_view, view_world
from ravenlab.environments.world import world_tables


@pytest.mark.parametrize("name", sorted(EFFECTS))
def test_thinned_view_interpolates_closely(name: str) -> None:
    scenario = find_scenario(name)
    worlds = draw_worlds(scenario, 2000, 5, seed=3)
    view = thin_view(view_world(worlds))
    tables = world_tables(worlds)
    for viewed, exact in zip(view[1:], tables, strict=True):
        np.testing.assert_array_equal(viewed, exact[view.steps - 1])
        for k in range(exact.shape[1]):
            open_ = np.isfinite(viewed[:, k])
            steps = np.arange(view.steps[open_][0], view.steps[open_][-1] + 1)
            line = np.interp(steps, view.steps[open_], viewed[open_, k])
            span = np.nanmax(exact[:, k]) - np.nanmin(exact[:, k])
            assert np.abs(line - exact[steps - 1, k]).max() <= (0.2 if name == "random-walk" else 0.02) * span
    assert view.steps.size <= view_world(worlds).steps.size
