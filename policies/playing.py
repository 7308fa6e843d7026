"""Play candidates in a block of worlds: the fast way where there is one, else the loop that fits the worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from environments.any_world import AnyWorlds
from environments.log_world import LogWorlds
from environments.streams import Stream
from environments.trace_world import TraceWorlds
from environments.world import DELAYED, Floats, Worlds
from policies import _loop
from policies._kernels import run_loop
from policies._log_play import play_logs
from policies._plain_loop import play_plain
from policies._played import Marks, Played
from policies._trace_play import play_windows
from policies.base import Policy, Value
from policies.own import PlainPolicy

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
        run_loop(_loop.play, policy, values, worlds, (replications, arms), (seed, first, stream), into, (due,))
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
    >>> from environments.any_world import draw_any
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
