"""Candidates × worlds, cut into tasks for a crew.

A task is (what is played, candidates, a range of replications); it draws its worlds itself and gives
regrets. A world's numbers do not depend on how the ranges are cut, so neither does anything else.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from environments.blocks import AnyScenario, AnyWorlds, draw_any, worlds_per_block
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Policy, Value
from policies.engine.play import REGRET, REWARD, evaluate, play_loop
from policies.engine.plugins import POLICY_PLUGINS as POLICIES
from policies.engine.plugins import load_policy_plugin
from studies.spec.objective import parse_objective
from studies.spec.study import StudySpec
from tuning.workers.local import SERIAL, ChunkSize, TaskTime, Workers

T = TypeVar("T")

KEPT_BYTES = 256_000_000
"""Worlds that a process keeps between batches, in all."""

KEPT_RANGES = 1024
"""Ranges of worlds that are kept however small they are: thousands of short studies must not add up."""

COUNTED_REGRET = 2
"""The third column of what is played: the regret that the objective counts, after its burn-in."""


@dataclass(frozen=True)
class Problem:
    """What is played, short of candidates and replications. Small, hashable and picklable."""

    policy: str
    scenario: AnyScenario
    horizon: int
    arms: int
    seed: int
    burn_in: int
    source: str | None = None
    """What brings the policy in another process, where it is the user's own; scenarios travel whole."""

    @staticmethod
    def of(spec: StudySpec) -> Problem:
        """The game of a study."""
        here = spec.resolved()
        burn_in = parse_objective(here.objective).burn_in(here.horizon)
        source = POLICIES.source(here.policy)
        return Problem(here.policy, here.open_scenario(), here.horizon, here.arms, here.seed, burn_in, source)


class _Kept:
    """Worlds of the last few ranges, the least recently used going first."""

    def __init__(self) -> None:
        self.worlds: OrderedDict[Any, tuple[AnyWorlds, int]] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, problem: Problem, stream: int, first: int, count: int) -> AnyWorlds:
        key = (problem.scenario, problem.horizon, problem.arms, problem.seed, stream, first, count)
        with self.lock:
            if key in self.worlds:
                self.worlds.move_to_end(key)
                return self.worlds[key][0]
        drawn = draw_any(problem.scenario, problem.horizon, problem.arms, problem.seed, first, count, stream)
        size = sum(part.nbytes for part in drawn if isinstance(part, np.ndarray))
        with self.lock:
            self.worlds[key] = (drawn, size)
            while len(self.worlds) > 1 and self._too_many():
                self.worlds.popitem(last=False)
        return drawn

    def _too_many(self) -> bool:
        return len(self.worlds) > KEPT_RANGES or sum(kept for _, kept in self.worlds.values()) > KEPT_BYTES


_KEPT = _Kept()


def cached_worlds(problem: Problem, stream: int, first: int, count: int) -> AnyWorlds:
    """The worlds of a range: those that are held in memory, or drawn now and then held."""
    return _KEPT.get(problem, stream, first, count)


def problem_policy(problem: Problem) -> type[Policy]:
    """Who plays; in a worker of another process one of the user's own is brought first."""
    if problem.source is not None and problem.policy not in POLICIES.names():
        load_policy_plugin(problem.source)
    return find_policy(problem.policy)


def play_range(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
) -> Floats:
    """Regret, reward and counted regret [C, count, 3] of candidates in worlds first … first + count − 1."""
    policy = problem_policy(problem)
    worlds = cached_worlds(problem, stream, first, count)
    if problem.burn_in == 0:
        out = evaluate(policy, candidates, worlds, problem.seed, first, stream)
        out[..., COUNTED_REGRET] = out[..., REGRET]
        return out
    marks = np.array([problem.burn_in], dtype=np.int64)
    out = np.empty((len(candidates), count, 3))
    for i, values in enumerate(candidates):
        played = play_loop(policy, values, worlds, problem.seed, first, stream, marks)
        out[i] = played.out
        out[i, :, COUNTED_REGRET] = played.out[:, REGRET] - played.curve[:, 0, REGRET]
    return out


class Evaluator:
    """Plays candidates of one study, or of one game, with some crew; the result is the same for any.

    >>> spec = StudySpec(scenario="blips", horizon=200, arms=3)
    >>> Evaluator(spec).play([spec.values({"alpha0": 2.0})], stream=1, first=0, count=5).shape
    (1, 5, 3)
    """

    def __init__(self, what: StudySpec | Problem, workers: Workers = SERIAL) -> None:
        self.problem = what if isinstance(what, Problem) else Problem.of(what)
        self.objective = parse_objective("mean" if isinstance(what, Problem) else what.objective)
        self.workers = workers
        self.paces: dict[Callable[..., Any], TaskTime] = {}

    def play(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Regret, reward and counted regret [C, count, 3] in worlds first … first + count − 1 of a stream."""
        cut = self._cut(play_range, count, len(candidates))
        groups = [candidates[i : i + cut.candidates] for i in range(0, len(candidates), cut.candidates)]
        ranges = _ranges(first, count, cut.worlds)
        parts = self._run(play_range, [(group, stream, *part) for group in groups for part in ranges])
        rows = [np.concatenate(parts[i : i + len(ranges)], axis=1) for i in range(0, len(parts), len(ranges))]
        return np.concatenate(rows)

    def map_ranges(self, task: Callable[..., T], what: Any, stream: int, first: int, count: int) -> list[T]:
        """What a task (game, what, stream, first, count) gives of each range, in order, whoever does it."""
        ranges = _ranges(first, count, self._cut(task, count, _weight(what)).worlds)
        return self._run(task, [(what, stream, *part) for part in ranges])

    def sample(self, played: Floats) -> Floats:
        """The numbers [C, R] that the objective averages or ranks."""
        return self.objective.sample(played[..., COUNTED_REGRET], played[..., REWARD])

    def _cut(self, task: Callable[..., Any], count: int, candidates: int) -> ChunkSize:
        """As the crew wants it, but no more worlds at once than fit."""
        game = self.problem
        wanted = self.workers.cut(count, candidates, self.paces.setdefault(task, TaskTime.guess(game.horizon)))
        fits = worlds_per_block(game.scenario, game.horizon, game.arms)
        return ChunkSize(min(fits, wanted.worlds), wanted.candidates)

    def _run(self, task: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
        units = [_weight(what) * int(count) for what, *_, count in calls]
        return self.workers.run(task, [(self.problem, *call) for call in calls], self.paces[task], units)


def _ranges(first: int, count: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(size, first + count - start)) for start in range(first, first + count, size)]


def _weight(what: Any) -> int:
    """How many candidates a task plays."""
    return len(what) if isinstance(what, list) else 1
