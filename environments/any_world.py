"""Scenarios of both kinds, simulated and recorded, and how their worlds are drawn."""

from __future__ import annotations

from environments.checks import whole
from environments.draw import draw_worlds
from environments.scenario import Scenario
from environments.streams import Stream
from environments.trace_world import TraceScenario, TraceWorlds
from environments.world import Worlds

AnyScenario = Scenario | TraceScenario
AnyWorlds = Worlds | TraceWorlds


def draw_any(
    scenario: AnyScenario,
    horizon: int,
    arms: int,
    seed: int,
    first: int = 0,
    replications: int = 1,
    stream: int = Stream.SIMULATE,
) -> AnyWorlds:
    """Worlds number first … first + replications − 1 of a scenario, or as many windows of a trace.

    >>> from environments import find_scenario
    >>> draw_any(find_scenario("blips"), horizon=100, arms=3, seed=1).best.shape
    (1, 100)
    """
    if isinstance(scenario, Scenario):
        return draw_worlds(scenario, horizon, arms, seed, first, replications, stream)
    scenario.check(horizon, arms)
    whole("seed", seed, least=0)
    whole("first", first, least=0)
    whole("replications", replications, least=1)
    return scenario.draw(horizon, seed, first, replications, stream)
