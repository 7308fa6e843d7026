"""Play one entry: its regret in every world, how it grew, and what a step cost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from environments.streams import Stream
from environments.world import Floats, Ints
from policies.base import Value
from policies.playing import REGRET, play_loop
from policies.simulation import simulate
from studies.comparison.entries import RegretCurve
from tuning.fanout import Evaluator, Game, kept_worlds, policy_of

POINTS = 48
"""Steps at which a curve is kept."""


@dataclass(frozen=True)
class PlayedEntry:
    """What came of it."""

    regret: Floats
    curve: RegretCurve
    nanoseconds: float


def play_entry(evaluator: Evaluator, values: Mapping[str, Value], count: int) -> PlayedEntry:
    """Play the first worlds of the report stream, in the general loop, the same one for all policies.

    >>> from policies import find_policy
    >>> from environments import find_scenario
    >>> game = Game("ucb1", find_scenario("blips"), horizon=100, arms=3, seed=0, burn_in=0)
    >>> play_entry(Evaluator(game), find_policy("ucb1").resolve({}, 3, 100), 5).regret.shape
    (5,)
    """
    game = evaluator.game
    warm_up(game.policy)
    marks = np.unique(np.linspace(1, game.horizon, min(POINTS, game.horizon)).round().astype(np.int64))
    parts = evaluator.over_ranges(_play_range, (dict(values), marks), Stream.REPORT, 0, count)
    regret, curve = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    seconds = sum(part[2] for part in parts)
    return PlayedEntry(regret, RegretCurve.of(marks.tolist(), curve), 1e9 * seconds / (count * game.horizon))


def warm_up(policy: str) -> None:
    """Have the loop compiled or read from its cache, so that the time of a step is that of a step."""
    simulate(policy, "stationary", horizon=100, arms=3, replications=1, checkpoints=2)


def _play_range(
    game: Game, what: tuple[Mapping[str, Value], Ints], stream: int, first: int, count: int
) -> tuple[Floats, Floats, float]:
    """Regret [count], cumulative regret [count, marks], and this thread's seconds without those to draw the worlds."""
    values, marks = what
    policy, worlds = policy_of(game), kept_worlds(game, stream, first, count)
    begin = time.thread_time()
    played = play_loop(policy, values, worlds, game.seed, first, stream, marks)
    return played.out[:, REGRET], played.curve[..., REGRET], time.thread_time() - begin
