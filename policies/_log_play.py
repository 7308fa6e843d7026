"""Replay one candidate on resampled logs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from environments.errors import InputError
from environments.log_world import LogWorlds
from environments.world import Floats
from policies import _log_loop
from policies._kernels import run_loop
from policies._plain_replay import replay_plain
from policies._played import PlayedLogs
from policies.base import Policy, Value
from policies.own import PlainPolicy


def play_logs(
    policy: type[Policy], values: Mapping[str, Value], worlds: LogWorlds, seed: int, first: int, stream: int
) -> PlayedLogs:
    """What the matched events of each log add up to."""
    if policy.peeks:
        raise InputError(f"{policy.name} reads the true means, which a log does not tell.")
    replications, arms = worlds.starts.shape[0], worlds.begins.size
    tally = np.empty((replications, 5))
    if issubclass(policy, PlainPolicy):
        replay_plain(policy, values, worlds, seed, first, stream, tally)
    else:
        into = (bool(policy.random and worlds.weighted), tally)
        run_loop(_log_loop.play, policy, values, worlds, (replications, arms), (seed, first, stream), into)
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
