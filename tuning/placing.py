"""Where on a held-out stretch regret came about: what the block bootstrap resamples.

The mean regret of a window is a sum over the rows of the stretch, each counted by the windows that cover it. A row's
part is what was lost there, less what windows lose on average at that step of theirs (early steps explore wherever
they lie). These parts sum to 0, and how they scatter along the stretch says how sure the mean is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from environments.streams import Stream
from environments.trace_world import TraceScenario
from environments.world import Floats, Ints
from policies._trace_play import play_windows
from policies.base import Value
from policies.playing import REGRET, REWARD
from tuning.fanout import Evaluator, Game, policy_of

NO_MARKS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Placed:
    """Candidates [C] in the same R windows of one stretch of n rows."""

    regret: Floats
    """[C, R]."""
    reward: Floats
    """[C, R]."""
    fixed: Floats
    """[C, R] regret against the best fixed arm of each window."""
    parts: Floats
    """[C, n] what each row adds to the mean regret beyond the average."""
    fixed_parts: Floats
    """[C, n] the same for the regret against the best fixed arm."""


def place(evaluator: Evaluator, candidates: Sequence[Mapping[str, Value]], stream: Stream, count: int) -> Placed:
    """Play windows 0 … count − 1 of a stream of a trace.

    Each candidate plays them in one go, so that sums are the same on any number of workers.
    """
    calls = [(evaluator.game, values, stream, count) for values in candidates]
    played = evaluator.crew.run(place_one, calls)
    return Placed(*(np.stack(some) for some in zip(*played, strict=True)))


def place_one(game: Game, values: Mapping[str, Value], stream: Stream, count: int) -> tuple[Floats, ...]:
    """What `Placed` holds, of one candidate."""
    scenario = game.scenario
    assert isinstance(scenario, TraceScenario)
    here = scenario.stretch(stream)
    worlds = scenario.draw(game.horizon, game.seed, 0, count, stream)
    policy = policy_of(game)
    played = play_windows(policy, values, worlds, game.seed, 0, stream, NO_MARKS, placed=True)
    held, sums = scenario.fixed(worlds)
    by_row, by_step = np.zeros_like(played.by_row), np.zeros_like(played.by_step)
    for offset, arm in zip(worlds.offsets, held, strict=True):
        window = slice(offset, offset + game.horizon)
        lost = worlds.best[window] - scenario.filled[window, arm]
        by_row[window] += lost
        by_step += lost
    begun = np.bincount(worlds.offsets - here.first, minlength=here.rows - game.horizon + 1)
    rows = slice(here.first, here.last)
    parts = _parts(played.by_row[rows], played.by_step, begun)
    fixed_parts = parts - _parts(by_row[rows], by_step, begun)
    regret = played.out[:, REGRET]
    return regret, played.out[:, REWARD], regret - played.best + sums, parts, fixed_parts


def _parts(by_row: Floats, by_step: Floats, begun: Ints) -> Floats:
    """By rows [n], by steps [T] and how many windows begin at each row: what a row adds beyond the average."""
    from scipy.signal import oaconvolve

    count = begun.sum()
    return np.asarray((by_row - oaconvolve(begun.astype(np.float64), by_step / count)) / count)
