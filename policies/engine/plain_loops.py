"""Python loops for plain policy classes; worlds and results are those of the compiled loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.plugins import plugin_errors
from ravenlab.environments.recorded.log_world import TWO_VALUE_LEVELS, LogWorlds, random_below
from ravenlab.environments.recorded.trace_world import TraceWorlds
from ravenlab.environments.streams import generator
from ravenlab.environments.world import DELAYED, Floats, Worlds, fill_rewards

if TYPE_CHECKING:
    from ravenlab.policies.engine.parameters import Value
    from ravenlab.policies.engine.play import Marks, Played, PlayedWindows
    from ravenlab.policies.engine.plugins import PlainPolicy

CHUNK = 200_000  # steps × arms whose rewards are computed at a time


def play_plain_worlds(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: Worlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    result: Played,
) -> None:
    """Play one candidate on a block of worlds and write to `result`."""
    replications, horizon = worlds.noise.shape
    for r in range(replications):
        with plugin_errors("policy", policy.name, policy.plain):
            player = policy.make(worlds.level.shape[2], horizon, values, _draw_seed(seed, stream, first + r))
            _play_world(policy, player, worlds, r, _index_marks(marks), result)


def _draw_seed(seed: int, stream: int, replication: int) -> int:
    return int(generator(seed, stream, replication, "policy").integers(2**63))


def _index_marks(marks: Marks) -> dict[int, int]:
    return {int(t): index for index, t in enumerate(marks)}


def _play_world(
    policy: type[PlainPolicy], player: Any, worlds: Worlds, r: int, marks: dict[int, int], result: Played
) -> None:
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
            _open_and_close(policy, player, is_open, (opens <= t) & (t < closes))
        k = _check_selected(policy, player.select(), is_open)
        x = float(rewards[(t - 1) % rows, k])
        player.update(k, _observed_reward(worlds, r, t, x, due))
        mean, best = float(means[(t - 1) % rows, k]), float(worlds.best[r, t - 1])
        regret += best - mean
        reward += x
        suboptimal += mean < best
        if t in marks:
            result.curve[r, marks[t]] = regret, reward
        if result.pulls.shape[1]:
            result.pulls[r, t - 1] = k
    result.out[r] = regret, reward, suboptimal


def _observed_reward(worlds: Worlds, r: int, t: int, x: float, due: Any) -> float:
    """Return the reward that the policy observes at step t: x, or the sum of delayed parts that are due."""
    if not worlds.kind & DELAYED:
        return x
    for part, delay in zip(worlds.parts[r, t - 1], worlds.delay[r, t - 1], strict=True):
        due[(t + delay) % due.size] += x * part
    observed = float(due[t % due.size])
    due[t % due.size] = 0.0
    return observed


def _open_and_close(policy: type[PlainPolicy], player: Any, is_open: list[bool], now: Any) -> None:
    """Call `open` and `close` of the player for arms whose status has changed."""
    for k, available in enumerate(now.tolist()):
        if available == is_open[k]:
            continue
        method = "open" if available else "close"
        if not callable(getattr(player, method, None)):
            raise InputError(f"policy {policy.name!r} must have {method}(arm): arms open and close in this scenario.")
        getattr(player, method)(k)
        is_open[k] = available


def _check_selected(policy: type[PlainPolicy], arm: Any, is_open: list[bool]) -> int:
    """Return the selected arm; raise InputError if it is not an open arm."""
    if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < len(is_open):
        raise InputError(
            f"select() of policy {policy.name!r} must return 0 to {len(is_open) - 1} but returned {arm!r}."
        )
    if not is_open[arm]:
        raise InputError(f"select() of policy {policy.name!r} returned arm {arm}, which is closed.")
    return int(arm)


def play_plain_windows(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: TraceWorlds,
    seed: int,
    first: int,
    stream: int,
    marks: Marks,
    result: PlayedWindows,
) -> None:
    """Play one candidate on windows of a trace and write to `result`."""
    for r in range(worlds.offsets.size):
        with plugin_errors("policy", policy.name, policy.plain):
            arms = worlds.values.shape[1]
            player = policy.make(arms, worlds.horizon, values, _draw_seed(seed, stream, first + r))
            _play_window(policy, player, worlds, r, _index_marks(marks), result)


def _play_window(
    policy: type[PlainPolicy], player: Any, worlds: TraceWorlds, r: int, marks: dict[int, int], result: PlayedWindows
) -> None:
    is_open = [True] * worlds.values.shape[1]
    regret = reward = 0.0
    suboptimal = 0
    for t in range(1, worlds.horizon + 1):
        row = int(worlds.offsets[r]) + t - 1
        if t == 1 or worlds.switches[row]:
            _open_and_close(policy, player, is_open, ~np.isnan(worlds.values[row]))
        k = _check_selected(policy, player.select(), is_open)
        x = float(worlds.values[row, k])
        player.update(k, x)
        lost = float(worlds.best[row]) - x
        regret += lost
        reward += x
        suboptimal += k != worlds.best_arm[row]
        if t in marks:
            result.curve[r, marks[t]] = regret, reward
        if result.pulls.shape[1]:
            result.pulls[r, t - 1] = k
        if result.regret_by_row.size:
            result.regret_by_row[row] += lost
            result.regret_by_step[t - 1] += lost
    result.out[r] = regret, reward, suboptimal


def play_plain_logs(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    worlds: LogWorlds,
    seed: int,
    first: int,
    stream: int,
    tally: Floats,
) -> None:
    """Play one candidate on logs and write score, matched steps and effective events to `tally`."""
    for r in range(worlds.log.size):
        with plugin_errors("policy", policy.name, policy.plain):
            player = policy.make(worlds.open_at_start.size, worlds.horizon, values, _draw_seed(seed, stream, first + r))
            tally[r, :3] = _play_log(policy, player, worlds, r)


def _play_log(policy: type[PlainPolicy], player: Any, worlds: LogWorlds, r: int) -> tuple[float, float, float]:
    now = worlds.open_at_start.astype(np.bool_)
    steps, arms = worlds.arm.size, now.size
    is_open = [True] * arms
    _open_and_close(policy, player, is_open, now)
    turns: dict[int, list[tuple[int, bool]]] = {}
    for at, k, opens in zip(worlds.switch_at, worlds.switch_arm, worlds.switch_open, strict=True):
        turns.setdefault(int(at), []).append((int(k), bool(opens)))
    reward, mean, shift = (table[worlds.log[r]] for table in (worlds.reward, worlds.mean, worlds.shift))
    place, weight = worlds.begin[:-1].tolist(), np.zeros(steps + 1)
    matched, total = 0, 0.0
    for step in range(steps):
        for k, opens in turns.get(step, []):
            now[k] = opens
        if step in turns:
            _open_and_close(policy, player, is_open, now)
        selected = _check_selected(policy, player.select(), is_open)
        while worlds.until[place[selected]] <= step:
            place[selected] += 1
        cell = place[selected]
        first, end = int(worlds.first[cell]), int(worlds.end[cell])
        number, size = (step + 1) * arms + selected, int(worlds.draw_end[cell] - worlds.draw_first[cell])
        if worlds.two_values.size:
            low, high = worlds.two_values.tolist()
            level = (mean[cell] - low) / (high - low) * TWO_VALUE_LEVELS
            player.update(selected, high if random_below(worlds.key[r], number, TWO_VALUE_LEVELS) < level else low)
        else:
            drawn = int(worlds.draw_first[cell]) + int(random_below(worlds.key[r], number, size))
            player.update(selected, float(reward[drawn] + shift[cell]))
        total += float(mean[cell])
        matched += int(worlds.arm[step] == selected)
        weight[first] += 1.0 / (end - first)
        weight[end] -= 1.0 / (end - first)
    weights = np.cumsum(weight[:-1])
    return total / steps, matched, steps**2 / float((weights**2).sum())
