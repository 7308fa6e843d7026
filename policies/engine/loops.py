"""Templates of the compiled loops: simulated worlds, windows of a trace, and resampled logs.

`policies.engine.play.compile_loop` copies a template, replaces the placeholders (`start` to `KNOWS_CHANGES`) by those
of a policy, and compiles the copy. Index policies have a faster loop over simulated worlds
(`policies/engine/index.py`).
"""

from typing import Any

import numpy as np

from ravenlab.common.compiled import inlined
from ravenlab.environments.recorded.log_world import TWO_VALUE_LEVELS, random_below
from ravenlab.environments.world import DELAYED, WALK, mean_of, reward_of
from ravenlab.policies.engine.base import PULLS

start: Any = None
select: Any = None
update: Any = None
USES_TRUE_MEANS = False
KNOWS_CHANGES = False


@inlined
def first_untried(open_, arms):  # type: ignore[no-untyped-def]
    """Return the lowest open arm without pulls; there must be one."""
    k = 0
    while open_[k] == 0 or arms[PULLS, k] > 0.0:
        k += 1
    return k


@inlined
def open_arms(t, horizon, opens, closes, open_, arms):  # type: ignore[no-untyped-def]
    """Open and close arms at step t; return the number of open arms without pulls, and the step of the next change."""
    untried, event = 0, horizon + 1
    for k in range(open_.shape[0]):
        open_[k] = 1 if opens[k] <= t < closes[k] else 0
        if open_[k] == 1 and arms[PULLS, k] == 0.0:
            untried += 1
        if opens[k] > t:
            event = min(event, opens[k])
        if closes[k] > t:
            event = min(event, closes[k])
    return untried, event


@inlined
def observe_delayed(t, x, parts, delay, due):  # type: ignore[no-untyped-def]
    """Send the parts of reward x, and return the sum of those that arrive at step t."""
    ring = due.shape[0]
    for i in range(parts.shape[0]):
        due[(t + delay[i]) % ring] += x * parts[i]
    seen = due[t % ring]
    due[t % ring] = 0.0
    return seen


@inlined
def record_step(r, t, k, regret, reward, mark, marks, curve, pulls):  # type: ignore[no-untyped-def]
    """Record the pull of step t, and the curve if t is the next mark; return the index of the next mark."""
    if pulls.shape[1] > 0:
        pulls[r, t - 1] = k
    if mark < marks.shape[0] and marks[mark] == t:
        curve[r, mark, 0] = regret
        curve[r, mark, 1] = reward
        return mark + 1
    return mark


@inlined
def restart_changed(kind, level, motion, season, share, row, blip, new_row, new_blip, t, arms):  # type: ignore[no-untyped-def]
    """Clear the statistics of all arms whose means jump at step t, and return their number.

    An arm jumps if the new segment gives it another mean at this step than the old one would. Slopes, seasons and
    gradual drifts do not jump, nor do the segments of a random walk, except at the start and the end of a blip.
    """
    changed = 0
    if kind & WALK and blip == new_blip:
        return changed
    for k in range(arms.shape[1]):
        before = mean_of(kind, level, motion, season, share, row, blip, k, t)
        if mean_of(kind, level, motion, season, share, new_row, new_blip, k, t) != before:
            arms[:, k] = 0.0
            changed += 1
    return changed


def play_worlds(worlds, first, last, p, open_, arms, cells, memory, due, rng, marks, out, curve, pulls):  # type: ignore[no-untyped-def]
    """Play worlds first … last − 1 and write regret, reward and suboptimal pulls to out[r].

    p holds the parameters. Scratch space: open_ [K], arms [rows, K], cells, memory and due (ring of delayed rewards).
    Optional outputs, which may be empty: curve [R, marks, 2] (cumulative regret and reward at the steps in marks) and
    pulls [R, T] (arm pulled at each step).

    If KNOWS_CHANGES is true, arms whose means jump are restarted, and so is the step t of the rules when all arms jump.
    """
    kind, season, share = worlds.kind, worlds.season, worlds.share
    horizon, count = worlds.noise.shape[1], open_.shape[0]
    for r in range(first, last):
        starts, rows, blips = worlds.starts[r], worlds.row[r], worlds.blip[r]
        level, motion = worlds.level[r], worlds.motion[r]
        noise, best, coin = worlds.noise[r], worlds.best[r], worlds.coin[r]
        opens, closes = worlds.opens[r], worlds.closes[r]
        open_[:] = 0
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        due[:] = 0.0
        start(arms, cells, memory, p)
        segment, event, untried, mark = -1, 1, 0, 0
        row, blip, begin = 0, 0, 0
        regret, reward, suboptimal = 0.0, 0.0, 0
        for t in range(1, horizon + 1):
            if t == starts[segment + 1]:
                segment += 1
                if KNOWS_CHANGES and t > 1:
                    changed = restart_changed(
                        kind, level, motion, season, share, row, blip, rows[segment], blips[segment], t, arms
                    )
                    if changed > 0:
                        event = t
                    if changed == count:
                        begin = t - 1
                        cells[:] = 0.0
                        memory[:] = 0.0
                        start(arms, cells, memory, p)
                row, blip = rows[segment], blips[segment]
            if t == event:
                untried, event = open_arms(t, horizon, opens, closes, open_, arms)
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            else:
                k = select(t - begin, open_, arms, cells, memory, p, rng)
            x = reward_of(kind, level, motion, season, coin, noise, row, blip, k, t)
            seen = x
            if kind & DELAYED:
                seen = observe_delayed(t, x, worlds.parts[r, t - 1], worlds.delay[r, t - 1], due)
            if USES_TRUE_MEANS:
                low, high = np.inf, -np.inf
                for j in range(count):
                    if open_[j] == 1:
                        true_mean = mean_of(kind, level, motion, season, share, row, blip, j, t)
                        low, high = min(low, true_mean), max(high, true_mean)
                seen = min(1.0, max(0.0, (seen - low) / (high - low + 1e-6)))
            arms[PULLS, k] += 1.0
            update(t - begin, k, seen, open_, arms, cells, memory, p, rng)
            mean = mean_of(kind, level, motion, season, share, row, blip, k, t)
            regret += best[t - 1] - mean
            reward += x
            if mean < best[t - 1]:
                suboptimal += 1
            mark = record_step(r, t, k, regret, reward, mark, marks, curve, pulls)
        out[r, 0] = regret
        out[r, 1] = reward
        out[r, 2] = suboptimal


def play_trace(worlds, first, last, p, open_, arms, cells, memory, rng, marks, out, curve, pulls, by_row, by_step):  # type: ignore[no-untyped-def]
    """Play trace windows first … last − 1 and write regret, reward and suboptimal pulls to out[r].

    by_row [N] and by_step [T] sum regret by row of the trace and by step of the window; both may be empty. The other
    arguments are those of `play_worlds`.
    """
    values, best, best_arm, turns = worlds.values, worlds.best, worlds.best_arm, worlds.switches
    horizon, count = worlds.horizon, open_.shape[0]
    for r in range(first, last):
        offset = worlds.offsets[r]
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        start(arms, cells, memory, p)
        untried, mark = 0, 0
        regret, reward, suboptimal = 0.0, 0.0, 0
        for t in range(1, horizon + 1):
            row = offset + t - 1
            if t == 1 or turns[row] == 1:
                untried = 0
                for k in range(count):
                    open_[k] = 1 if values[row, k] == values[row, k] else 0
                    if open_[k] == 1 and arms[PULLS, k] == 0.0:
                        untried += 1
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            else:
                k = select(t, open_, arms, cells, memory, p, rng)
            x = values[row, k]
            arms[PULLS, k] += 1.0
            update(t, k, x, open_, arms, cells, memory, p, rng)
            lost = best[row] - x
            regret += lost
            reward += x
            if k != best_arm[row]:
                suboptimal += 1
            mark = record_step(r, t, k, regret, reward, mark, marks, curve, pulls)
            if by_row.shape[0] > 0:
                by_row[row] += lost
                by_step[t - 1] += lost
        out[r, 0] = regret
        out[r, 1] = reward
        out[r, 2] = suboptimal


@inlined
def effective_events(starts, ends, pulls, weight):  # type: ignore[no-untyped-def]
    """Return (Σ w)² / Σ w² for the weights w of the events, which share each pull of a cell with its other events."""
    weight[:] = 0.0
    total, now, squares = 0.0, 0.0, 0.0
    for cell in range(pulls.shape[0]):
        if pulls[cell] > 0:
            share = pulls[cell] / (ends[cell] - starts[cell])
            total += pulls[cell]
            weight[starts[cell]] += share
            weight[ends[cell]] -= share
    for event in range(weight.shape[0] - 1):
        now += weight[event]
        squares += now * now
    return total * (total / squares)


def play_log(worlds, first, last, p, open_, arms, cells, memory, place, pulls, weight, rng, tally):  # type: ignore[no-untyped-def]
    """Play replications first … last − 1 on a log and write score, matched steps and effective events to tally[r].

    At each step the reward is drawn as in the cell of the chosen arm; the score is the mean of these cells' means. A
    step matches if the log has the chosen arm there. Scratch space: place [K] (cell of each arm), pulls [C] (pulls by
    cell), weight [n + 1] (weights of the events in the score). The other arguments are those of `play_worlds`.
    """
    logged, begin, until, starts, ends = worlds.arm, worlds.begin, worlds.until, worlds.first, worlds.end
    draw_first, draw_end, values = worlds.draw_first, worlds.draw_end, worlds.two_values
    steps, count, turns = logged.shape[0], open_.shape[0], worlds.switch_at.shape[0]
    for r in range(first, last):
        log, key = worlds.log[r], worlds.key[r]
        reward, mean, shift = worlds.reward[log], worlds.mean[log], worlds.shift[log]
        arms[:] = 0.0
        cells[:] = 0.0
        memory[:] = 0.0
        pulls[:] = 0
        start(arms, cells, memory, p)
        untried, turn, matched, total = 0, 0, 0, 0.0
        for k in range(count):
            open_[k] = worlds.open_at_start[k]
            untried += open_[k]
            place[k] = begin[k]
        for t in range(1, steps + 1):
            while turn < turns and worlds.switch_at[turn] < t:
                i = worlds.switch_arm[turn]
                if open_[i] != worlds.switch_open[turn] and arms[PULLS, i] == 0.0:
                    untried += 1 if worlds.switch_open[turn] == 1 else -1
                open_[i] = worlds.switch_open[turn]
                turn += 1
            if untried > 0:
                k = first_untried(open_, arms)
                untried -= 1
            else:
                k = select(t, open_, arms, cells, memory, p, rng)
            cell = place[k]
            while until[cell] < t:
                cell += 1
            place[k] = cell
            number = t * count + k
            if values.shape[0] == 2:
                level = (mean[cell] - values[0]) / (values[1] - values[0]) * TWO_VALUE_LEVELS
                x = values[1] if random_below(key, number, TWO_VALUE_LEVELS) < level else values[0]
            else:
                drawn = draw_first[cell] + random_below(key, number, draw_end[cell] - draw_first[cell])
                x = reward[drawn] + shift[cell]
            arms[PULLS, k] += 1.0
            update(t, k, x, open_, arms, cells, memory, p, rng)
            total += mean[cell]
            matched += 1 if logged[t - 1] == k else 0
            pulls[cell] += 1
        tally[r, 0] = total / steps
        tally[r, 1] = matched
        tally[r, 2] = effective_events(starts, ends, pulls, weight)
