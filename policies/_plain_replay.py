"""The loop for plain classes over a log, in Python: what `_log_loop` says, slowly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from environments.log_world import LogWorlds
from environments.streams import generator
from environments.world import Floats
from policies._plain_loop import guarded, pulled, tell

if TYPE_CHECKING:
    from policies._param import Value
    from policies.own import PlainPolicy


def replay_plain(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: LogWorlds,
    seed: int,
    first: int,
    stream: int,
    tally: Floats,
) -> None:
    """Replay one candidate on resampled logs. Who knows whether it draws: with propensities it is asked each time."""
    for r in range(worlds.starts.shape[0]):
        drawn = int(generator(seed, stream, first + r, "policy").integers(2**63))
        with guarded(policy):
            player = policy.make(worlds.begins.size, worlds.horizon, values, drawn)
            tally[r] = _replay_one(policy, player, worlds, r)


def _replay_one(policy: type[PlainPolicy], player: Any, worlds: LogWorlds, r: int) -> tuple[float, ...]:
    now = worlds.begins.astype(np.bool_)
    is_open = [True] * now.size
    tell(policy, player, is_open, now)
    turns: dict[int, list[tuple[int, bool]]] = {}
    for at, k, opens in zip(worlds.turn_at, worlds.turn_arm, worlds.turn_open, strict=True):
        turns.setdefault(int(at), []).append((int(k), bool(opens)))
    gained = weights = squares = total = 0.0
    matched, chosen = 0, -1
    for i in range(worlds.arm.size):
        for k, opens in turns.get(i, []):
            now[k] = opens
            chosen = -1
        if i in turns:
            tell(policy, player, is_open, now)
        if chosen < 0 or worlds.weighted:
            chosen = pulled(policy, player.select(), is_open)
        event = int(worlds.starts[r, i // worlds.block]) + i % worlds.block
        x, w = float(worlds.reward[event]), float(worlds.weight[event])
        total += x
        if worlds.arm[event] == chosen:
            player.update(chosen, x)
            gained, weights, squares = gained + w * x, weights + w, squares + w * w
            matched, chosen = matched + 1, -1
    return gained, weights, squares, matched, total
