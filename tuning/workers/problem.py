"""Problems, and the evaluator that plays candidates on their worlds.

A task consists of a problem, candidates and a range of replications. It draws its own worlds and returns regrets. A
world does not depend on the range that it is drawn in, so results do not depend on how work is split.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ravenlab.environments.blocks import AnyScenario, AnyWorlds, draw_any, worlds_per_block
from ravenlab.environments.world import Floats, Worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.play import (
    LAST_SHARE,
    evaluate,
    is_failure,
    last_mark,
    play,
    uniform_regret,
)
from ravenlab.policies.engine.plugins import POLICY_PLUGINS as POLICIES
from ravenlab.policies.engine.plugins import load_policy_plugin
from ravenlab.studies.spec.objective import parse_objective
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.failures import FailureSample, grow_sample
from ravenlab.tuning.workers.local import SERIAL, ChunkSize, TaskTime, Workers

T = TypeVar("T")

CACHED_BYTES = 256_000_000  # memory for worlds that a process keeps between batches
SMALL_BLOCK = 8_000_000  # bytes of worlds that are played once; first use of new memory takes longer than drawing
CACHED_RANGES = 1024
"""Largest number of cached ranges, which bounds the overhead of thousands of short studies."""

INITIAL_SECONDS_PER_STEP = 2e-8
STEPS_PER_PIECE = 5e7  # work between two updates of progress, for which all workers wait


class _Column:
    """One kind of result in `EvaluatedCandidates`, of the shape [C, R]."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, results: EvaluatedCandidates, owner: type) -> Floats:
        return np.asarray(results.columns[..., self.index])


@dataclass(frozen=True)
class EvaluatedCandidates:
    """Results of C candidates of a study in the same R worlds.

    >>> regret, reward = np.ones((2, 4)), np.zeros((2, 4))
    >>> EvaluatedCandidates.join(regret, reward, regret).counted_regret.shape
    (2, 4)
    """

    columns: Floats
    """[C, R, 3] all results, or [C, R, 5] with failures: one array, which workers return."""

    regret = _Column(0)
    """Regret over all steps."""
    reward = _Column(1)
    """Reward over all steps."""
    counted_regret = _Column(2)
    """Regret after the objective's burn-in."""
    failed = _Column(3)
    """Whether the world fails, 0 or 1; of `Evaluator.play_with_failures` only."""
    uniform_regret = _Column(4)
    """Regret of uniform choice in the steps that decide whether the world fails; like `failed`."""

    @staticmethod
    def join(*columns: Floats) -> EvaluatedCandidates:
        """Return results from regret, reward, counted regret and, if known, failures and uniform regret [C, R]."""
        return EvaluatedCandidates(np.stack(columns, axis=-1))


@dataclass(frozen=True)
class Problem:
    """Policy, scenario, horizon, arms and seed. Hashable and picklable."""

    policy: str
    scenario: AnyScenario
    horizon: int
    arms: int
    seed: int
    burn_in: int
    source: str | None = None
    """Where another process loads the policy from if it is a plugin; scenarios are pickled."""

    @staticmethod
    def from_spec(spec: StudySpec) -> Problem:
        """Return the problem of a study."""
        burn_in = parse_objective(spec.objective).burn_in(spec.horizon)
        source = POLICIES.source(spec.policy)
        return Problem(spec.policy, spec.open_played(), spec.horizon, spec.arms, spec.seed, burn_in, source)


class _WorldCache:
    """Least recently used cache of ranges of worlds."""

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
            while len(self.worlds) > 1 and self._is_full():
                self.worlds.popitem(last=False)
        return drawn

    def _is_full(self) -> bool:
        return len(self.worlds) > CACHED_RANGES or sum(size for _, size in self.worlds.values()) > CACHED_BYTES


_WORLDS = _WorldCache()


def cached_worlds(problem: Problem, stream: int, first: int, count: int) -> AnyWorlds:
    """Return a range of worlds from the cache, or draw and cache them."""
    return _WORLDS.get(problem, stream, first, count)


def problem_policy(problem: Problem) -> type[Policy]:
    """Return the policy; in another process, a plugin is loaded first."""
    if problem.source is not None and problem.policy not in POLICIES.names():
        load_policy_plugin(problem.source)
    return find_policy(problem.policy)


def play_range(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
) -> Floats:
    """Return regret, reward and counted regret [C, count, 3] in worlds first … first + count − 1."""
    worlds = cached_worlds(problem, stream, first, count)
    return _play_to_mark(problem, candidates, stream, first, worlds, 0)[0].columns


def _play_to_mark(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, worlds: AnyWorlds, mark: int
) -> tuple[EvaluatedCandidates, Floats]:
    """Return the results, and the regret up to step `mark` [C, count]."""
    policy = problem_policy(problem)
    if problem.burn_in == 0:
        totals = evaluate(policy, candidates, worlds, problem.seed, first, stream, mark)
        return EvaluatedCandidates.join(totals.regret, totals.reward, totals.regret), totals.marked_regret
    marks = np.unique([step for step in (problem.burn_in, mark) if step > 0])
    results = []
    marked = []
    for values in candidates:
        played = play(policy, values, worlds, problem.seed, first, stream, marks)
        up_to = dict(zip(marks.tolist(), played.regret_curve.T, strict=True))
        results.append(np.stack([played.regret, played.reward, played.regret - up_to[problem.burn_in]], axis=1))
        marked.append(up_to.get(mark, np.zeros(played.regret.size)))
    return EvaluatedCandidates(np.stack(results)), np.stack(marked)


def play_range_with_failures(
    problem: Problem, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
) -> Floats:
    """Return two more columns than `play_range`, [C, count, 5].

    These are whether the world fails (0 or 1), and the regret of uniform choice in the steps that decide about it. The
    worlds are played once, so they are not cached but drawn in small blocks that use the same memory.
    """
    scenario = problem.scenario
    horizon = problem.horizon
    arms = problem.arms
    parts = []
    for start, size in _split_range(first, count, max(1, SMALL_BLOCK // scenario.bytes_per_world(horizon, arms))):
        worlds = draw_any(scenario, horizon, arms, problem.seed, start, size, stream)
        assert isinstance(worlds, Worlds)
        played, marked = _play_to_mark(problem, candidates, stream, start, worlds, last_mark(horizon))
        uniform = np.broadcast_to(uniform_regret(worlds), marked.shape)
        failed = is_failure(played.regret - marked, uniform)
        parts.append(np.concatenate([played.columns, np.stack([failed, uniform], axis=-1)], axis=-1))
    return np.concatenate(parts, axis=1)


def count_failures(played: EvaluatedCandidates) -> list[FailureSample]:
    """Count the failing worlds of each candidate in results of `Evaluator.play_with_failures`."""
    return [
        FailureSample(
            worlds=regret.size,
            failures=int(failed.sum()),
            mean=float(regret.mean()),
            uniform=LAST_SHARE * float(uniform.mean()),
        )
        for regret, failed, uniform in zip(played.regret, played.failed, played.uniform_regret, strict=True)
    ]


def is_reliable(played: EvaluatedCandidates) -> bool:
    """Whether rare failures of every candidate are represented in results of `Evaluator.play_with_failures`."""
    return all(sample.reliable for sample in count_failures(played))


class Evaluator:
    """Plays candidates of one study or problem; the result does not depend on the workers.

    >>> spec = StudySpec(scenario="blips", horizon=200, arms=3)
    >>> Evaluator(spec).play([spec.resolve_params({"alpha0": 2.0})], stream=1, first=0, count=5).regret.shape
    (1, 5)
    """

    def __init__(self, study: StudySpec | Problem, workers: Workers = SERIAL) -> None:
        self.problem = study if isinstance(study, Problem) else Problem.from_spec(study)
        self.objective = parse_objective("mean" if isinstance(study, Problem) else study.objective)
        self.workers = workers
        self.task_times: dict[Callable[..., Any], TaskTime] = {}
        self.on_steps: Callable[[float], None] | None = None
        """Called with the number of simulated steps after each piece of work, if set."""

    def play(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
    ) -> EvaluatedCandidates:
        """Return the results in worlds first … first + count − 1 of a stream."""
        return EvaluatedCandidates(self._play(play_range, candidates, stream, first, count))

    def play_with_failures(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
    ) -> EvaluatedCandidates:
        """Return the results with failures; the worlds are not cached."""
        return EvaluatedCandidates(self._play(play_range_with_failures, candidates, stream, first, count))

    def play_until_reliable(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, worlds: int
    ) -> EvaluatedCandidates:
        """Return the results with failures, in more worlds until rare failures of every candidate are represented."""

        def play(first: int, count: int) -> Floats:
            return self.play_with_failures(candidates, stream, first, count).columns

        return EvaluatedCandidates(grow_sample(play, worlds, lambda columns: is_reliable(EvaluatedCandidates(columns))))

    def play_sample(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Return the numbers [C, count] that the objective averages or ranks."""
        return self.sample(self.play(candidates, stream, first, count))

    def _play(
        self,
        task: Callable[..., Floats],
        candidates: Sequence[Mapping[str, Value]],
        stream: int,
        first: int,
        count: int,
    ) -> Floats:
        """Run a task that returns results [C, count, columns], in pieces if progress is shown."""
        if self.on_steps is None:
            return self._play_piece(task, candidates, stream, (first, count))
        steps_per_world = float(len(candidates) * self.problem.horizon)
        pieces = min(self.workers.pieces, count, math.ceil(count * steps_per_world / STEPS_PER_PIECE))
        parts = []
        for piece in _split_range(first, count, -(-count // pieces)):
            parts.append(self._play_piece(task, candidates, stream, piece))
            self.on_steps(piece[1] * steps_per_world)
        return np.concatenate(parts, axis=1)

    def _play_piece(
        self,
        task: Callable[..., Floats],
        candidates: Sequence[Mapping[str, Value]],
        stream: int,
        piece: tuple[int, int],
    ) -> Floats:
        size = self._chunk_size(task, piece[1], len(candidates))
        groups = [candidates[i : i + size.candidates] for i in range(0, len(candidates), size.candidates)]
        ranges = _split_range(*piece, size.worlds)
        parts = self._run(task, [(group, stream, *part) for group in groups for part in ranges])
        rows = [np.concatenate(parts[i : i + len(ranges)], axis=1) for i in range(0, len(parts), len(ranges))]
        return np.concatenate(rows)

    def map_ranges(self, task: Callable[..., T], played: Any, stream: int, first: int, count: int) -> list[T]:
        """Return task(problem, played, stream, first, count) for each range of worlds, in order."""
        candidates = _count_candidates(played)
        ranges = _split_range(first, count, self._chunk_size(task, count, candidates).worlds)
        results = self._run(task, [(played, stream, *part) for part in ranges])
        if self.on_steps is not None:
            self.on_steps(float(candidates * count * self.problem.horizon))
        return results

    def sample(self, played: EvaluatedCandidates) -> Floats:
        """Return the numbers [C, R] that the objective averages or ranks."""
        return self.objective.sample(played.counted_regret, played.reward)

    def _chunk_size(self, task: Callable[..., Any], count: int, candidates: int) -> ChunkSize:
        """Return the chunk size that suits the workers, limited to the worlds that fit in memory."""
        problem = self.problem
        task_time = self.task_times.setdefault(task, TaskTime(INITIAL_SECONDS_PER_STEP * problem.horizon))
        size = self.workers.chunk_size(count, candidates, task_time)
        fits = worlds_per_block(problem.scenario, problem.horizon, problem.arms)
        return ChunkSize(min(fits, size.worlds), size.candidates)

    def _run(self, task: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[T]:
        def update_task_time(seconds: Sequence[float]) -> None:
            units = [_count_candidates(played) * count for played, *_, count in calls]
            self.task_times[task].update(float(np.median(np.array(seconds) / units)))

        return self.workers.run(task, [(self.problem, *call) for call in calls], update_task_time)


def _split_range(first: int, count: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(size, first + count - start)) for start in range(first, first + count, size)]


def _count_candidates(played: Any) -> int:
    return len(played) if isinstance(played, list) else 1
