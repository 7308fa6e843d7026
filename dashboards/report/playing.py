"""What the report plays itself, so that one sees how regret comes about: few worlds, a bounded number of steps.

The worlds are those of `ravenlab simulate`, which neither search nor validation has seen, and the same for every
contender. How many there are depends on the studies alone, never on a clock: the same storage, the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from environments import Scenario, find_scenario
from environments.errors import InputError
from environments.moments import moments_of_change
from environments.streams import Stream
from environments.trace_world import TraceScenario
from environments.world import Floats
from policies import find_policy
from policies.simulation import Simulation, simulate
from studies.grid import Grid
from studies.recommendation import Recommendation
from studies.source import LogSource, ScenarioSource, TraceSource
from studies.spec import StudySpec

WORK = 300_000_000
"""Steps × arms that all curves of a report may take together: some seconds."""

SHARE = 30_000_000
"""At most this much for one study."""

MOST_WORLDS, LEAST_WORLDS = 100, 4
CHECKPOINTS = 60
BEST_CELLS = 5


@dataclass(frozen=True)
class Played:
    """The recommended parameters and their rivals in the same worlds."""

    results: dict[str, Simulation]
    changes: list[int]


def play_recommendation(each: Recommendation, studies: int, spec: StudySpec) -> Played | None:
    """Recommended, paper's and default parameters over time; None where that would take too long.

    Args:
        each: What a study recommends.
        studies: How many studies share the time.
        spec: What the study asked: it knows where a trace lies. Windows are then those that are reported on.
    """
    contenders = {"recommended": each.params} | {rival.name: rival.params for rival in each.versus}
    try:
        match spec.source:
            case LogSource():
                return None
            case TraceSource() as trace:
                scenario: Scenario | TraceScenario = trace.open()
            case ScenarioSource():
                scenario = find_scenario(each.scenario, dict(each.settings))
        scenario.check(each.horizon, each.arms)
        find_policy(each.policy)
    except InputError:
        return None
    one = each.horizon * (each.arms + scenario.extra_arms) * len(contenders)
    worlds = _affordable(one, studies)
    if worlds < LEAST_WORLDS:
        return None
    results = {}
    for name, params in contenders.items():
        results[name] = simulate(
            each.policy,
            scenario,
            horizon=each.horizon,
            arms=each.arms,
            replications=worlds,
            seed=each.seed,
            params=params,
            checkpoints=CHECKPOINTS,
            stream=Stream.SIMULATE if isinstance(scenario, Scenario) else Stream.REPORT,
        )
    return Played(results, moments_of_change(scenario, each.horizon) if isinstance(scenario, Scenario) else [])


def play_best_cells(grid: Grid, grids: int) -> dict[str, Floats]:
    """Regrets of a grid's best cells, each in the same few fresh worlds; empty where that would take too long."""
    spec = grid.spec
    order = np.argsort(grid.mean, axis=None, kind="stable")[:BEST_CELLS]
    scenario = spec.open_scenario()
    one = spec.horizon * (spec.arms + scenario.extra_arms) * order.size
    worlds = _affordable(one, grids)
    if worlds < LEAST_WORLDS:
        return {}
    samples = {}
    for place in order:
        row, column = np.unravel_index(int(place), grid.mean.shape)
        params = {"alpha0": spec.alpha0[int(row)], "beta0": spec.beta0[int(column)], "epsilon": spec.epsilon}
        played = simulate(
            "raven-ucb",
            scenario,
            horizon=spec.horizon,
            arms=spec.arms,
            replications=worlds,
            seed=spec.seed,
            params=params,
        )
        samples[f"α₀ {params['alpha0']:g}, β₀ {params['beta0']:g}"] = played.regret
    return samples


def _affordable(one: int, sharing: int) -> int:
    """How many worlds may be played where each takes so many steps × arms and so many parts share the time."""
    return min(MOST_WORLDS, min(SHARE, WORK // max(1, sharing)) // one)


def worlds_played(played: Sequence[Played | None]) -> tuple[int, int] | None:
    """Fewest and most worlds of all curves; None where there are none."""
    counts = [next(iter(each.results.values())).replications for each in played if each is not None]
    return (min(counts), max(counts)) if counts else None
