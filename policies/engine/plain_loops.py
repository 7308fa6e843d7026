"""Python loops for plain policy classes; worlds and results are those of the compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.plugins import plugin_errors
from ravenlab.environments.recorded.log_world import TWO_VALUE_LEVELS, LogWorlds, random_below
from ravenlab.environments.recorded.trace_world import TraceWorlds
from ravenlab.environments.streams import generator
from ravenlab.environments.world import DELAYED, Floats, Worlds, fill_rewards
from ravenlab.policies.engine.loops import observe_delayed, record_step
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.engine.plugins import PlainPolicy

if TYPE_CHECKING:
    from ravenlab.policies.engine.play import Marks, Played, PlayedWindows

CHUNK = 200_000  # steps × arms whose rewards are computed at a time


class Player:
    """An instance of a plain class in one replication; all arms are open at first."""

    def __init__(self, name: str, instance: Any, arms: int) -> None:
        self.name = name
        self.update = instance.update
        self._instance = instance
        self._is_open = [True] * arms

    def select(self) -> int:
        """Return the selected arm; raise InputError if it is not an open arm."""
        arm, count = self._instance.select(), len(self._is_open)
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < count:
            raise InputError(f"select() of policy {self.name!r} must return 0 to {count - 1} but returned {arm!r}.")
        if not self._is_open[arm]:
            raise InputError(f"select() of policy {self.name!r} returned arm {arm}, which is closed.")
        return int(arm)

    def open_and_close(self, now: Any) -> None:
        """Call `open` and `close` for arms whose status has changed."""
        for k, available in enumerate(now.tolist()):
            if available == self._is_open[k]:
                continue
            method = "open" if available else "close"
            if not callable(getattr(self._instance, method, None)):
                raise InputError(f"policy {self.name!r} must have {method}(arm): arms open and close in this scenario.")
            getattr(self._instance, method)(k)
            self._is_open[k] = available


def play_plain(
    policy: type[PlainPolicy],
    values: Mapping[str, Value],
    sizes: tuple[int, int, int],
    seeds: tuple[int, int, int],
    loop: Callable[[Player, int], None],
) -> None:
    """Play one candidate in every replication of a block.

    `sizes` is (replications, arms, steps), `seeds` is (seed, first replication, stream), and `loop` plays a replication
    of the block.
    """
    (replications, arms, steps), (seed, first, stream) = sizes, seeds
    for r in range(replications):
        with plugin_errors("policy", policy.name, policy.plain):
            drawn = int(generator(seed, stream, first + r, "policy").integers(2**63))
            loop(Player(policy.name, policy.make(arms, steps, values, drawn), arms), r)


def play_plain_world(worlds: Worlds, marks: Marks, result: Played, player: Player, r: int) -> None:
    """Play a simulated world and write to `result`."""
    horizon, count = worlds.noise.shape[1], worlds.level.shape[2]
    opens, closes = worlds.opens[r], worlds.closes[r]
    events = {int(t) for t in (*opens, *closes) if 1 < t <= horizon}
    due = np.zeros(int(worlds.delay[r].max()) + 1 if worlds.kind & DELAYED else 0)
    rows = max(1, CHUNK // count)
    means, rewards = np.empty((rows, count)), np.empty((rows, count))
    regret = reward = 0.0
    suboptimal = mark = 0
    for t in range(1, horizon + 1):
        if (t - 1) % rows == 0:
            fill_rewards(worlds, r, t, means, rewards)
        if t == 1 or t in events:
            player.open_and_close((opens <= t) & (t < closes))
        k = player.select()
        x = float(rewards[(t - 1) % rows, k])
        seen = observe_delayed(t, x, worlds.parts[r, t - 1], worlds.delay[r, t - 1], due) if due.size else x
        player.update(k, seen)
        mean, best = float(means[(t - 1) % rows, k]), float(worlds.best[r, t - 1])
        regret += best - mean
        reward += x
        suboptimal += mean < best
        mark = record_step(r, t, k, regret, reward, mark, marks, result.curve, result.pulls)
    result.out[r] = regret, reward, suboptimal


def play_plain_window(worlds: TraceWorlds, marks: Marks, result: PlayedWindows, player: Player, r: int) -> None:
    """Play a window of a trace and write to `result`."""
    regret = reward = 0.0
    suboptimal = mark = 0
    for t in range(1, worlds.horizon + 1):
        row = int(worlds.offsets[r]) + t - 1
        if t == 1 or worlds.switches[row]:
            player.open_and_close(~np.isnan(worlds.values[row]))
        k = player.select()
        x = float(worlds.values[row, k])
        player.update(k, x)
        lost = float(worlds.best[row]) - x
        regret += lost
        reward += x
        suboptimal += k != worlds.best_arm[row]
        mark = record_step(r, t, k, regret, reward, mark, marks, result.curve, result.pulls)
        if result.regret_by_row.size:
            result.regret_by_row[row] += lost
            result.regret_by_step[t - 1] += lost
    result.out[r] = regret, reward, suboptimal


def play_plain_log(worlds: LogWorlds, tally: Floats, player: Player, r: int) -> None:
    """Play a log and write score, matched steps and effective events to `tally`."""
    now = worlds.open_at_start.astype(np.bool_)
    steps, arms = worlds.arm.size, now.size
    player.open_and_close(now)
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
            player.open_and_close(now)
        selected = player.select()
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
    tally[r, :3] = total / steps, matched, steps**2 / float((weights**2).sum())
