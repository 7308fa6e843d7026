"""Scenarios of both kinds, simulated and recorded, and how their worlds are drawn."""

from __future__ import annotations

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
