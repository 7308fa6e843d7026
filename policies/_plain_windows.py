"""The loop for plain classes over windows of a trace, in Python: what `_trace_loop` says, slowly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from environments.streams import generator
from environments.trace_world import TraceWorlds
from policies._plain_loop import guarded, pulled, tell

if TYPE_CHECKING:
    from policies._param import Value
    from policies._played import Marks, PlayedWindows
    from policies.own import PlainPolicy


def play_plain_windows(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: TraceWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    into: PlayedWindows,
) -> None:
    """Play one candidate in windows of a trace and write what comes of it."""
    for r in range(worlds.offsets.size):
        drawn = int(generator(seed, stream, first + r, "policy").integers(2**63))
        with guarded(policy):
            _play_one(policy, values, worlds, r, drawn, {int(t): place for place, t in enumerate(marks)}, into)


def _play_one(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: TraceWorlds,
    r: int,
    drawn: int,
    marks: dict[int, int],
    into: PlayedWindows,
) -> None:
    player = policy.make(worlds.values.shape[1], worlds.horizon, values, drawn)
    is_open = [True] * worlds.values.shape[1]
    regret = reward = 0.0
    suboptimal = 0
    for t in range(1, worlds.horizon + 1):
        row = int(worlds.offsets[r]) + t - 1
        if t == 1 or worlds.turns[row]:
            tell(policy, player, is_open, ~np.isnan(worlds.values[row]))
        k = pulled(policy, player.select(), is_open)
        x = float(worlds.values[row, k])
        player.update(k, x)
        lost = float(worlds.best[row] - worlds.smoothed[row, k])
        regret += lost
        reward += x
        suboptimal += lost > 0.0
        if t in marks:
            into.curve[r, marks[t]] = regret, reward
        if into.pulls.shape[1]:
            into.pulls[r, t - 1] = k
        if into.by_row.size:
            into.by_row[row] += lost
            into.by_step[t - 1] += lost
    into.out[r] = regret, reward, suboptimal
