"""What a block of worlds gives when one candidate has played it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from environments.blocks import AnyWorlds
from environments.compiled import specialize
from environments.errors import InputError
from environments.recorded.log_world import LogWorlds
from environments.recorded.trace_world import TraceWorlds
from environments.streams import Stream, generator
from environments.world import DELAYED, Floats, Worlds
from policies.engine import loops
from policies.engine.base import Policy, Value
from policies.engine.plain_loops import play_plain, play_plain_windows, replay_plain
from policies.engine.plugins import PlainPolicy

Marks = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Played:
    """Raw results of one block: out [R, 3], curve [R, marks, 2], pulls [R, T], and the best means summed up to the
    end [R] and to each mark [R, marks]."""

    out: Floats
    curve: Floats
    pulls: np.ndarray[Any, np.dtype[np.int32]]
    best: Floats
    best_curve: Floats


@dataclass(frozen=True)
class PlayedWindows(Played):
    """The same of windows of a trace, with regret by the row of the trace and by the step of the window."""

    regret_by_row: Floats
    regret_by_step: Floats


@dataclass(frozen=True)
class PlayedLogs(Played):
    """The same of resampled logs: out holds what the logging policy gained more, the score and the matched events."""

    tally: Floats
    """[R, 5]: Σ w·reward, Σ w, Σ w² and number of the matched events, and Σ reward of all events."""
    events: int
    """Of each log."""

    @property
    def score(self) -> Floats:
        """[R] mean reward of the matched events, weighted."""
        return np.asarray(self.out[:, 1])

    @property
    def matched(self) -> Floats:
        """[R]."""
        return np.asarray(self.tally[:, 3])

    @property
    def effective(self) -> Floats:
        """[R] (Σ w)² / Σ w²: of how many events of equal weight the score would be as sure."""
        return np.asarray(self.tally[:, 1] ** 2 / np.maximum(self.tally[:, 2], 1e-300))

    @property
    def logged(self) -> Floats:
        """[R] the logging policy's own mean reward."""
        return np.asarray(self.tally[:, 4] / self.events)


Loop = Callable[..., None]

_KERNELS: dict[tuple[type[Policy], Loop], Loop] = {}


def compile_loop(policy: type[Policy], template: Loop = loops.play_worlds) -> Loop:
    """A loop with a policy's rules in it, made when it is first needed; the general one if nothing else is said."""
    if (policy, template) not in _KERNELS:
        rules = {
            "start": policy.start,
            "select": policy.choose,
            "update": policy.learn,
            "USES_TRUE_MEANS": policy.uses_true_means,
        }
        _KERNELS[policy, template] = specialize(template, policy.name.replace("-", "_"), **rules)
    return _KERNELS[policy, template]


def run_loop(
    template: Loop,
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    size: tuple[int, int],
    seeds: tuple[int, int, int],
    into: tuple[Any, ...],
    more_room: tuple[Any, ...] = (),
) -> None:
    """Play all replications of a block. `size` is (R, K), `seeds` is (seed, first replication, stream).

    A policy that draws gets a generator of its own for each replication, so that blocks may be cut anyhow.
    """
    (replications, arms), (seed, first, stream) = size, seeds
    sizes, p, loop = policy.sizes(arms, values), policy.vector(values), compile_loop(policy, template)
    room = (
        np.empty(arms, dtype=np.int64),
        np.empty((sizes.rows, arms)),
        np.empty(sizes.cells),
        np.empty(sizes.memory),
        *more_room,
    )
    if not policy.random:
        loop(worlds, 0, replications, p, *room, np.random.default_rng(0), *into)
        return
    for r in range(replications):
        loop(worlds, r, r + 1, p, *room, generator(seed, stream, first + r, "policy"), *into)


def play_windows(
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: TraceWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    pulls: bool = False,
    locate_regret: bool = False,
) -> PlayedWindows:
    """Regret, reward and suboptimal pulls of each window; with `placed` also where regret came about.

    What was placed is summed over the windows of this very block: cut blocks the same way for the same sums.
    """
    if policy.uses_true_means:
        raise InputError(f"{policy.name} reads the true means, which a trace does not tell.")
    replications, horizon = worlds.offsets.size, worlds.horizon
    rows, arms = worlds.values.shape
    below = np.concatenate([[0.0], np.cumsum(worlds.best)])
    result = PlayedWindows(
        out=np.empty((replications, 3)),
        curve=np.empty((replications, marks.size, 2)),
        pulls=np.empty((replications, horizon if pulls else 0), dtype=np.int32),
        best=below[worlds.offsets + horizon] - below[worlds.offsets],
        best_curve=below[worlds.offsets[:, None] + marks] - below[worlds.offsets, None],
        regret_by_row=np.zeros(rows if locate_regret else 0),
        regret_by_step=np.zeros(horizon if locate_regret else 0),
    )
    if issubclass(policy, PlainPolicy):
        play_plain_windows(policy, values, worlds, seed, first, stream, marks, result)
    else:
        into = (marks, result.out, result.curve, result.pulls, result.regret_by_row, result.regret_by_step)
        run_loop(loops.play_trace, policy, values, worlds, (replications, arms), (seed, first, stream), into)
    return result


def play_logs(
    policy: type[Policy], values: Mapping[str, Value], worlds: LogWorlds, seed: int, first: int, stream: int
) -> PlayedLogs:
    """What the matched events of each log add up to."""
    if policy.uses_true_means:
        raise InputError(f"{policy.name} reads the true means, which a log does not tell.")
    replications, arms = worlds.starts.shape[0], worlds.open_at_start.size
    tally = np.empty((replications, 5))
    if issubclass(policy, PlainPolicy):
        replay_plain(policy, values, worlds, seed, first, stream, tally)
    else:
        into = (bool(policy.random and worlds.weighted), tally)
        run_loop(loops.replay_log, policy, values, worlds, (replications, arms), (seed, first, stream), into)
    return _played(worlds, tally)


def _played(worlds: LogWorlds, tally: Floats) -> PlayedLogs:
    """A log of which nothing matched says nothing, and is counted as the worst that was ever paid."""
    replications = tally.shape[0]
    score = np.full(replications, float(worlds.reward.min()))
    np.divide(tally[:, 0], tally[:, 1], out=score, where=tally[:, 1] > 0.0)
    return PlayedLogs(
        out=np.stack([worlds.logged - score, score, tally[:, 3]], axis=1),
        curve=np.empty((replications, 0, 2)),
        pulls=np.empty((replications, 0), dtype=np.int32),
        best=np.full(replications, worlds.logged),
        best_curve=np.empty((replications, 0)),
        tally=tally,
        events=worlds.arm.size,
    )


REGRET, REWARD, SUBOPTIMAL = range(3)
"""Columns of what a replication gives."""


def play(
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    pulls: bool = False,
) -> Played:
    """Play one candidate in a block of worlds: the fast way where there is one and it tells all that is asked."""
    if isinstance(worlds, Worlds) and not pulls and not marks.size:
        fast = policy.fast(worlds, policy.vector(values)[None])
        if fast is not None:
            nothing = np.empty((worlds.noise.shape[0], 0), dtype=np.int32)
            curve = np.empty((worlds.noise.shape[0], 0, 2))
            return Played(fast[0], curve, nothing, worlds.best.sum(axis=1), _summed(worlds.best, marks))
    return play_loop(policy, values, worlds, seed, first, stream, marks, pulls)


def play_loop(
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: AnyWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    pulls: bool = False,
) -> Played:
    """Play one candidate in a block of worlds with the general loop."""
    if isinstance(worlds, TraceWorlds):
        return play_windows(policy, values, worlds, seed, first, stream, marks, pulls)
    if isinstance(worlds, LogWorlds):
        return play_logs(policy, values, worlds, seed, first, stream)
    replications, horizon = worlds.noise.shape
    arms = worlds.level.shape[2]
    result = Played(
        out=np.empty((replications, 3)),
        curve=np.empty((replications, marks.size, 2)),
        pulls=np.empty((replications, horizon if pulls else 0), dtype=np.int32),
        best=worlds.best.sum(axis=1),
        best_curve=_summed(worlds.best, marks),
    )
    if issubclass(policy, PlainPolicy):
        play_plain(policy, values, worlds, seed, first, stream, marks, result)
    else:
        due = np.empty(int(worlds.delay.max()) + 1 if worlds.kind & DELAYED else 0)
        into = (marks, result.out, result.curve, result.pulls)
        run_loop(loops.play_worlds, policy, values, worlds, (replications, arms), (seed, first, stream), into, (due,))
    return result


def evaluate(
    policy: type[Policy],
    candidates: Sequence[Mapping[str, Value]],
    worlds: AnyWorlds,
    seed: int,
    first: int = 0,
    stream: int = Stream.SIMULATE,
) -> Floats:
    """Regret, reward and suboptimal pulls [C, R, 3] of candidates that all play the same block of worlds.

    >>> from environments import find_scenario
    >>> from environments.blocks import draw_any
    >>> from policies import find_policy
    >>> ucb1 = find_policy("ucb1")
    >>> worlds = draw_any(find_scenario("blips"), 200, 3, seed=1, replications=4)
    >>> evaluate(ucb1, [ucb1.resolve({"c": c}, 3, 200) for c in (0.1, 2.0)], worlds, seed=1).shape
    (2, 4, 3)
    """
    if isinstance(worlds, Worlds):
        fast = policy.fast(worlds, np.array([policy.vector(values) for values in candidates]))
        if fast is not None:
            return fast
    none = np.empty(0, dtype=np.int64)
    return np.stack([play_loop(policy, values, worlds, seed, first, stream, none).out for values in candidates])


def _summed(values: Floats, marks: Marks) -> Floats:
    """Sums of values [R, T] up to each mark, [R, marks], without a second table of that size."""
    if not marks.size:
        return np.empty((values.shape[0], 0))
    parts: Floats = np.add.reduceat(values[:, : marks[-1]], [0, *marks[:-1]], axis=1)
    return parts.cumsum(axis=1)
