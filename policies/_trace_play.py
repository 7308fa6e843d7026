"""Play one candidate in windows of a trace."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from environments.errors import InputError
from environments.trace_world import TraceWorlds
from policies import _trace_loop
from policies._kernels import run_loop
from policies._plain_windows import play_plain_windows
from policies._played import Marks, PlayedWindows
from policies.base import Policy, Value
from policies.own import PlainPolicy


def play_windows(
    policy: type[Policy],
    values: Mapping[str, Value],
    worlds: TraceWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    pulls: bool = False,
    placed: bool = False,
) -> PlayedWindows:
    """Regret, reward and suboptimal pulls of each window; with `placed` also where regret came about.

    What was placed is summed over the windows of this very block: cut blocks the same way for the same sums.
    """
    if policy.peeks:
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
        by_row=np.zeros(rows if placed else 0),
        by_step=np.zeros(horizon if placed else 0),
    )
    if issubclass(policy, PlainPolicy):
        play_plain_windows(policy, values, worlds, seed, first, stream, marks, result)
    else:
        into = (marks, result.out, result.curve, result.pulls, result.by_row, result.by_step)
        run_loop(_trace_loop.play, policy, values, worlds, (replications, arms), (seed, first, stream), into)
    return result
