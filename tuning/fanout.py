"""Candidates × worlds through joblib: threads on one machine, loky on request.

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

from environments.any_world import AnyScenario, AnyWorlds, draw_any
from environments.draw import BLOCK_BYTES
from environments.own import travel_whole
from environments.world import Floats
from policies import find_policy
from policies.base import Policy, Value
from policies.own import BROUGHT as POLICIES
from policies.own import bring_policy
from policies.simulation import REGRET, REWARD, evaluate, play_loop
from studies.objective import parse_objective
from studies.spec import StudySpec

T = TypeVar("T")

KEPT_BYTES = 256_000_000
"""Worlds that a process keeps between batches, in all."""

PARTS_PER_JOB = 2

COUNTED = 2
"""The third column of what is played: the regret that the objective counts, after its burn-in."""


@dataclass(frozen=True)
class Game:
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
    def of(spec: StudySpec) -> Game:
        """The game of a study."""
        here = spec.resolved()
        assert here.horizon is not None
        assert here.arms is not None
        burn_in = parse_objective(here.objective).burn_in(here.horizon)
        source = POLICIES.source(here.policy)
        return Game(here.policy, here.world(), here.horizon, here.arms, here.seed, burn_in, source)


class _Kept:
    """Worlds of the last few ranges, the least recently used going first."""

    def __init__(self) -> None:
        self.worlds: OrderedDict[Any, tuple[AnyWorlds, int]] = OrderedDict()
        self.lock = threading.Lock()

    def get(self, game: Game, stream: int, first: int, count: int) -> AnyWorlds:
        key = (game.scenario, game.horizon, game.arms, game.seed, stream, first, count)
        with self.lock:
            if key in self.worlds:
                self.worlds.move_to_end(key)
                return self.worlds[key][0]
        drawn = draw_any(game.scenario, game.horizon, game.arms, game.seed, first, count, stream)
        size = sum(part.nbytes for part in drawn if isinstance(part, np.ndarray))
        with self.lock:
            self.worlds[key] = (drawn, size)
            while sum(kept for _, kept in self.worlds.values()) > KEPT_BYTES and len(self.worlds) > 1:
                self.worlds.popitem(last=False)
        return drawn


_KEPT = _Kept()


def kept_worlds(game: Game, stream: int, first: int, count: int) -> AnyWorlds:
    """The worlds of a range: those that are held in memory, or drawn now and then held."""
    return _KEPT.get(game, stream, first, count)


def policy_of(game: Game) -> type[Policy]:
    """Who plays; in a worker of another process one of the user's own is brought first."""
    if game.source is not None and game.policy not in POLICIES.names():
        bring_policy(game.source)
    return find_policy(game.policy)


def play_range(game: Game, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
    """Regret, reward and counted regret [C, count, 3] of candidates in worlds first … first + count − 1."""
    policy = policy_of(game)
    worlds = kept_worlds(game, stream, first, count)
    if game.burn_in == 0:
        out = evaluate(policy, candidates, worlds, game.seed, first, stream)
        out[..., COUNTED] = out[..., REGRET]
        return out
    marks = np.array([game.burn_in], dtype=np.int64)
    out = np.empty((len(candidates), count, 3))
    for i, values in enumerate(candidates):
        played = play_loop(policy, values, worlds, game.seed, first, stream, marks)
        out[i] = played.out
        out[i, :, COUNTED] = played.out[:, REGRET] - played.curve[:, 0, REGRET]
    return out


class Evaluator:
    """Plays candidates of one study, or of one game, on some number of workers; the result is the same for any number.

    >>> spec = StudySpec(scenario="blips", horizon=200, arms=3)
    >>> Evaluator(spec).play([spec.values({"alpha0": 2.0})], stream=1, first=0, count=5).shape
    (1, 5, 3)
    """

    def __init__(self, what: StudySpec | Game, jobs: int = 1, backend: str = "threads") -> None:
        self.game = what if isinstance(what, Game) else Game.of(what)
        self.objective = parse_objective("mean" if isinstance(what, Game) else what.objective)
        self.jobs, self.backend = jobs, backend

    def play(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Regret, reward and counted regret [C, count, 3] in worlds first … first + count − 1 of a stream."""
        return np.concatenate(self.over_ranges(play_range, candidates, stream, first, count), axis=1)

    def over_ranges(self, task: Callable[..., T], what: Any, stream: int, first: int, count: int) -> list[T]:
        """What a task (game, what, stream, first, count) gives of each range, in order, whoever does it."""
        ranges = self._ranges(first, count)
        if self.jobs == 1 or len(ranges) == 1:
            return [task(self.game, what, stream, *part) for part in ranges]
        from joblib import Parallel, delayed

        travel_whole()
        backend = "threading" if self.backend == "threads" else "loky"
        calls = (delayed(task)(self.game, what, stream, *part) for part in ranges)
        return list(Parallel(n_jobs=self.jobs, backend=backend)(calls))

    def sample(self, played: Floats) -> Floats:
        """The numbers [C, R] that the objective averages or ranks."""
        return self.objective.sample(played[..., COUNTED], played[..., REWARD])

    def _ranges(self, first: int, count: int) -> list[tuple[int, int]]:
        wanted = 1 if self.jobs == 1 else PARTS_PER_JOB * self.jobs
        fits = max(1, BLOCK_BYTES // self.game.scenario.bytes_per_world(self.game.horizon, self.game.arms))
        size = min(fits, -(-count // wanted))
        return [(start, min(size, first + count - start)) for start in range(first, first + count, size)]
