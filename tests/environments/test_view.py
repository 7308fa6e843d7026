"""Views are exact at their steps, and lines between them are close."""

from __future__ import annotations

import numpy as np
import pytest

from environments import find_scenario
from environments.catalog import EFFECTS
from environments.draw import draw_worlds
from environments.view import thin_view, view_world
from environments.world import world_tables


@pytest.mark.parametrize("name", sorted(EFFECTS))
def test_a_thinned_view_is_exact_and_lines_between_its_steps_are_close(name: str) -> None:
    scenario = find_scenario(name)
    worlds = draw_worlds(scenario, 2000, 5, seed=3)
    seen = thin_view(view_world(worlds))
    truth = world_tables(worlds)
    for drawn, true in zip(seen[1:], truth, strict=True):
        np.testing.assert_array_equal(drawn, true[seen.steps - 1])
        for k in range(true.shape[1]):
            open_ = np.isfinite(drawn[:, k])
            steps = np.arange(seen.steps[open_][0], seen.steps[open_][-1] + 1)
            line = np.interp(steps, seen.steps[open_], drawn[open_, k])
            reach = np.nanmax(true[:, k]) - np.nanmin(true[:, k])
            assert np.abs(line - true[steps - 1, k]).max() <= 0.02 * reach
    assert seen.steps.size <= view_world(worlds).steps.size
