"""The loop for plain classes: the same worlds, the same measures, in Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from environments.errors import InputError
from environments.plugins import plugin_errors
from environments.recorded.log_world import LogWorlds
from environments.recorded.trace_world import TraceWorlds
from environments.streams import generator
from environments.world import DELAYED, Floats, Worlds, fill_rewards

if TYPE_CHECKING:
    from policies.engine.base import Value
    from policies.engine.play import Marks, Played, PlayedWindows
    from policies.engine.plugins import PlainPolicy


CHUNK = 200_000
"""Rewards worked out at a time: steps × arms."""


def play_plain(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: Worlds,
    seed: int,
    first: int,
    stream: int,
    marks: NDArray[np.int64],
    into: Played,
) -> None:
    """Play one candidate in a block of worlds and write what comes of it."""
    replications, horizon = worlds.noise.shape
    for r in range(replications):
        drawn = int(generator(seed, stream, first + r, "policy").integers(2**63))
        with guarded(policy):
            player = policy.make(worlds.level.shape[2], horizon, values, drawn)
            _play_one(policy, player, worlds, r, {int(t): place for place, t in enumerate(marks)}, into)


def guarded(policy: type[PlainPolicy]) -> AbstractContextManager[None]:
    """Whatever breaks in a user's class is one line that says where."""
    return plugin_errors("policy", policy.name, policy.plain)


def _play_one(
    policy: type[PlainPolicy], player: Any, worlds: Worlds, r: int, marks: dict[int, int], into: Played
) -> None:
    """Play one world."""
    horizon, count = worlds.noise.shape[1], worlds.level.shape[2]
    opens, closes = worlds.opens[r], worlds.closes[r]
    events = {int(t) for t in (*opens, *closes) if 1 < t <= horizon}
    is_open = [True] * count
    due = np.zeros(int(worlds.delay[r].max()) + 1 if worlds.kind & DELAYED else 0)
    rows = max(1, CHUNK // count)
    means, rewards = np.empty((rows, count)), np.empty((rows, count))
    regret = reward = 0.0
    suboptimal = 0
    for t in range(1, horizon + 1):
        if (t - 1) % rows == 0:
            fill_rewards(worlds, r, t, means, rewards)
        if t == 1 or t in events:
            tell(policy, player, is_open, (opens <= t) & (t < closes))
        k = pulled(policy, player.select(), is_open)
        x = float(rewards[(t - 1) % rows, k])
        player.update(k, _seen(worlds, r, t, x, due))
        mean, best = float(means[(t - 1) % rows, k]), float(worlds.best[r, t - 1])
        regret += best - mean
        reward += x
        suboptimal += mean < best
        if t in marks:
            into.curve[r, marks[t]] = regret, reward
        if into.pulls.shape[1]:
            into.pulls[r, t - 1] = k
    into.out[r] = regret, reward, suboptimal


def _seen(worlds: Worlds, r: int, t: int, x: float, due: Any) -> float:
    """What the policy is told: the reward, or what falls due where feedback is delayed."""
    if not worlds.kind & DELAYED:
        return x
    for part, delay in zip(worlds.parts[r, t - 1], worlds.delay[r, t - 1], strict=True):
        due[(t + delay) % due.size] += x * part
    seen = float(due[t % due.size])
    due[t % due.size] = 0.0
    return seen


def tell(policy: type[PlainPolicy], player: Any, is_open: list[bool], now: Any) -> None:
    """Say which arms opened and closed."""
    for k, able in enumerate(now.tolist()):
        if able == is_open[k]:
            continue
        method = "open" if able else "close"
        if not callable(getattr(player, method, None)):
            raise InputError(f"policy {policy.name!r} needs {method}(arm): arms come and go in this scenario.")
        getattr(player, method)(k)
        is_open[k] = able


def pulled(policy: type[PlainPolicy], chosen: Any, is_open: list[bool]) -> int:
    """The chosen arm, if it is one that can be pulled."""
    if isinstance(chosen, bool) or not isinstance(chosen, int | np.integer) or not 0 <= chosen < len(is_open):
        said = "nan" if isinstance(chosen, float) and math.isnan(chosen) else repr(chosen)
        raise InputError(f"select() of policy {policy.name!r} must give 0 to {len(is_open) - 1} but gave {said}.")
    if not is_open[chosen]:
        raise InputError(f"select() of policy {policy.name!r} gave arm {chosen}, which is closed.")
    return int(chosen)


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
            _play_window(policy, values, worlds, r, drawn, {int(t): place for place, t in enumerate(marks)}, into)


def _play_window(
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
        if t == 1 or worlds.switches[row]:
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
        if into.regret_by_row.size:
            into.regret_by_row[row] += lost
            into.regret_by_step[t - 1] += lost
    into.out[r] = regret, reward, suboptimal


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
            player = policy.make(worlds.open_at_start.size, worlds.horizon, values, drawn)
            tally[r] = _replay_one(policy, player, worlds, r)


def _replay_one(policy: type[PlainPolicy], player: Any, worlds: LogWorlds, r: int) -> tuple[float, ...]:
    now = worlds.open_at_start.astype(np.bool_)
    is_open = [True] * now.size
    tell(policy, player, is_open, now)
    turns: dict[int, list[tuple[int, bool]]] = {}
    for at, k, opens in zip(worlds.switch_at, worlds.switch_arm, worlds.switch_open, strict=True):
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
