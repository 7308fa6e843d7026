"""Scenarios of both kinds, simulated and recorded, and how their worlds are drawn, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator

from environments.checks import check_which
from environments.draw import draw_worlds
from environments.log_world import LogScenario, LogWorlds
from environments.scenario import Scenario
from environments.streams import Stream
from environments.trace_world import TraceScenario, TraceWorlds
from environments.world import Worlds

RecordedScenario = TraceScenario | LogScenario
AnyScenario = Scenario | RecordedScenario
AnyWorlds = Worlds | TraceWorlds | LogWorlds

BLOCK_BYTES = 64_000_000
"""Worlds are held in blocks of at most this size."""


def worlds_of_a_block(scenario: AnyScenario, horizon: int, arms: int) -> int:
    """How many worlds a block holds: at least one.

    >>> from environments import find_scenario
    >>> worlds_of_a_block(find_scenario("stationary"), 1_000_000, 10)
    3
    """
    return max(1, BLOCK_BYTES // scenario.bytes_per_world(horizon, arms))


def blocks(scenario: AnyScenario, horizon: int, arms: int, replications: int) -> Iterator[tuple[int, int]]:
    """Cut replications into (first, count) so that no block of worlds is over 64 MB.

    >>> from environments import find_scenario
    >>> list(blocks(find_scenario("stationary"), 1_000_000, 10, 9))
    [(0, 3), (3, 3), (6, 3)]
    """
    size = worlds_of_a_block(scenario, horizon, arms)
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
    """Worlds number first … first + replications − 1 of a scenario, as many windows of a trace, or resampled logs.

    >>> from environments import find_scenario
    >>> draw_any(find_scenario("blips"), horizon=100, arms=3, seed=1).best.shape
    (1, 100)
    """
    if isinstance(scenario, Scenario):
        return draw_worlds(scenario, horizon, arms, seed, first, replications, stream)
    scenario.check(horizon, arms)
    check_which(seed, first, replications)
    return scenario.draw(horizon, seed, first, replications, stream)
