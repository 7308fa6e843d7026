"""How large rewards are: the mean of the arms' means, and the spread of a reward around its mean."""

from __future__ import annotations

import numpy as np

from environments.any_world import blocks
from environments.compiled import compiled
from environments.draw import draw_worlds
from environments.scenario import Scenario
from environments.streams import Stream
from environments.world import law_of


@compiled
def fill_averages(worlds, out):  # type: ignore[no-untyped-def]
    """Write the mean and the variance of each world, averaged over its steps and open arms, without a table of them."""
    kind, season, share = worlds.kind, worlds.season, worlds.share
    for r in range(out.shape[0]):
        level, motion = worlds.level[r], worlds.motion[r]
        means, variances, count = 0.0, 0.0, 0
        for segment in range(worlds.row.shape[0]):
            row, blip = worlds.row[segment], worlds.blip[segment]
            for k in range(level.shape[1]):
                first = max(worlds.starts[segment], worlds.opens[r, k])
                last = min(worlds.starts[segment + 1], worlds.closes[r, k])
                for t in range(first, last):
                    mean, variance = law_of(kind, level, motion, season, share, row, blip, k, t)
                    means += mean
                    variances += variance
                    count += 1
        out[r, 0] = means / count
        out[r, 1] = variances / count


def reward_scale(
    scenario: Scenario, horizon: int, arms: int, seed: int, replications: int = 100
) -> tuple[float, float]:
    """Mean over steps, open arms and the worlds of the search of μ, and the root of the mean of σ².

    >>> from environments import find_scenario
    >>> mean, spread = reward_scale(find_scenario("stationary"), horizon=50, arms=3, seed=1)
    >>> 0 < mean < 1 and 0 < spread
    True
    """
    out = np.empty((replications, 2))
    for first, count in blocks(scenario, horizon, arms, replications):
        worlds = draw_worlds(scenario, horizon, arms, seed, first, count, Stream.SEARCH)
        fill_averages(worlds, out[first : first + count])
    return float(out[:, 0].mean()), float(np.sqrt(out[:, 1].mean()))
