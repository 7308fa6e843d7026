"""Drawing worlds of simulated and recorded scenarios in blocks of bounded size."""

from collections.abc import Iterator

import numpy as np

from ravenlab.common.checks import check_replications
from ravenlab.common.compiled import compiled
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.recorded.log_world import LogScenario, LogWorlds
from ravenlab.environments.recorded.trace_world import TraceScenario, TraceWorlds
from ravenlab.environments.scenario import Scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Worlds, mean_and_variance_of, schedule_of

RecordedScenario = TraceScenario | LogScenario
AnyScenario = Scenario | RecordedScenario
AnyWorlds = Worlds | TraceWorlds | LogWorlds

BLOCK_BYTES = 64_000_000  # maximal size of a block of worlds


def worlds_per_block(scenario: AnyScenario, horizon: int, arms: int) -> int:
    """Return the number of worlds per block, at least one.

    >>> from ravenlab.environments import find_scenario
    >>> worlds_per_block(find_scenario("stationary"), 1_000_000, 10)
    3
    """
    return max(1, BLOCK_BYTES // scenario.bytes_per_world(horizon, arms))


def split_into_blocks(scenario: AnyScenario, horizon: int, arms: int, replications: int) -> Iterator[tuple[int, int]]:
    """Split replications into blocks (first, count) of at most 64 MB.

    >>> from ravenlab.environments import find_scenario
    >>> list(split_into_blocks(find_scenario("stationary"), 1_000_000, 10, 9))
    [(0, 3), (3, 3), (6, 3)]
    """
    size = worlds_per_block(scenario, horizon, arms)
    for first in range(0, replications, size):
        yield first, min(size, replications - first)


def draw_any(
    scenario: AnyScenario,
    horizon: int,
    arms: int,
    seed: int,
    first: int = 0,
    replications: int = 1,
    stream: int = Stream.SIMULATE,
) -> AnyWorlds:
    """Draw worlds number first … first + replications − 1 of a scenario, windows of a trace, or resampled logs.

    >>> from ravenlab.environments import find_scenario
    >>> draw_any(find_scenario("blips"), horizon=100, arms=3, seed=1).best.shape
    (1, 100)
    """
    if isinstance(scenario, Scenario):
        return draw_worlds(scenario, horizon, arms, seed, first, replications, stream)
    scenario.check(horizon, arms)
    check_replications(seed, first, replications)
    return scenario.draw(horizon, seed, first, replications, stream)


@compiled
def fill_averages(worlds, out):  # type: ignore[no-untyped-def]
    """Write the mean and the variance of each world, averaged over its steps and open arms."""
    for r in range(out.shape[0]):
        (kind, level, motion, season, share), starts, rows, blips = schedule_of(worlds, r)
        means = 0.0
        variances = 0.0
        count = 0
        for segment in range(rows.shape[0]):
            row = rows[segment]
            blip = blips[segment]
            for k in range(level.shape[1]):
                first = max(starts[segment], worlds.opens[r, k])
                last = min(starts[segment + 1], worlds.closes[r, k])
                for t in range(first, last):
                    mean, variance = mean_and_variance_of(kind, level, motion, season, share, row, blip, k, t)
                    means += mean
                    variances += variance
                    count += 1
        out[r, 0] = means / count
        out[r, 1] = variances / count


def reward_scale(
    scenario: Scenario, horizon: int, arms: int, seed: int, replications: int = 100
) -> tuple[float, float]:
    """Return the mean of μ and the root of the mean of σ² over steps, open arms and worlds of the search stream.

    >>> from ravenlab.environments import find_scenario
    >>> mean, spread = reward_scale(find_scenario("stationary"), horizon=50, arms=3, seed=1)
    >>> 0 < mean < 1 and 0 < spread
    True
    """
    out = np.empty((replications, 2))
    for first, count in split_into_blocks(scenario, horizon, arms, replications):
        worlds = draw_worlds(scenario, horizon, arms, seed, first, count, Stream.SEARCH)
        fill_averages(worlds, out[first : first + count])
    return float(out[:, 0].mean()), float(np.sqrt(out[:, 1].mean()))
