"""What policies did in one world: pulled arms and regret in at most 2,000 columns, and recovery from changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ravenlab.environments.blocks import AnyScenario, AnyWorlds, draw_any
from ravenlab.environments.draw import check_memory
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats, Worlds, fill_rewards
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.parameters import Values
from ravenlab.policies.engine.play import Played, play

MOST_COLUMNS = 2000
MOST_CHANGES = 60
SHORTEST_BEST = 10
"""An arm that is best for fewer steps in a row does not count as a change."""
RECOVERY_WINDOW = 50
RECOVERY_SHARE = 0.8
"""A policy has recovered when this share of the next `RECOVERY_WINDOW` pulls are of a best arm."""
NEGLIGIBLE = 1e-9  # difference between means that counts as a tie
CHUNK_CELLS = 4_000_000  # means in memory at a time

Bools = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]
MeansOf = Callable[[int, int], Floats]
"""Means [count, K] of so many steps from a first one on; NaN where an arm is closed."""


@dataclass(frozen=True)
class Player:
    """A policy with its parameters."""

    name: str
    policy: type[Policy]
    params: Values


@dataclass(frozen=True)
class Change:
    """A step at which another arm becomes the best."""

    step: int
    lasting: int
    """Number of steps to the next change."""
    before: int
    after: int
    recovery: list[int | None]
    """Steps until each policy recovers; None if it does not before the next change."""


@dataclass(frozen=True)
class Timeline:
    """P policies in one world of T steps and K arms, in C columns of one or more steps."""

    ends: Ints
    """[C] last step of each column."""
    means: Floats
    """[C, K] means of the arms, averaged over the steps of the column; NaN where an arm is closed."""
    best: Ints
    """[C] the arm that is best for most steps of the column."""
    pulls: Ints
    """[P, C] the arm that is pulled most often in the column."""
    regret: Floats
    """[P, C] regret up to the end of the column."""
    hits: Ints
    """[P, C] number of pulls of a best arm up to the end of the column."""
    changes: list[Change]
    all_changes: int
    """Number of changes, of which at most `MOST_CHANGES` are listed: those that last longest."""


def record_timeline(
    scenario: AnyScenario, players: Sequence[Player], horizon: int, arms: int, seed: int, replication: int
) -> Timeline:
    """Play policies in one world of `simulate`, or on all rows of a trace.

    >>> from ravenlab.environments import find_scenario
    >>> from ravenlab.policies import UCB1
    >>> ucb1 = Player("ucb1", UCB1, UCB1.resolve({}, 3, 5000))
    >>> timeline = record_timeline(find_scenario("localized-jump"), [ucb1], 5000, 3, seed=1, replication=0)
    >>> timeline.pulls.shape, int(timeline.ends[0])
    ((1, 2000), 2)
    """
    if isinstance(scenario, TraceScenario):
        worlds: AnyWorlds = scenario.draw_run(0)
    else:
        worlds = draw_any(scenario, horizon, arms, seed, replication, 1, Stream.SIMULATE)
    columns = min(MOST_COLUMNS, horizon)
    size = (24 + 6 * len(players)) * horizon + 24 * columns * arms
    check_memory(size, f"the pulls of {len(players)} policies in {horizon} steps")
    ends = np.arange(1, columns + 1, dtype=np.int64) * horizon // columns
    played: list[Played] = [
        play(player.policy, player.params, worlds, seed, replication, Stream.SIMULATE, ends, pulls=True, fast=False)
        for player in players
    ]
    pulls = np.concatenate([each.pulls for each in played])
    if isinstance(scenario, TraceScenario):
        table = smooth_folds(scenario.means, 2 * (scenario.nearby.gap + 1))
        means, best, ties = summarize_means(lambda first, count: table[first - 1 : first - 1 + count], ends, pulls)
    else:
        assert isinstance(worlds, Worlds)
        means, best, ties = summarize_means(lambda first, count: _open_means(worlds, first, count), ends, pulls)
    best = keep_lasting(best)
    hits = ties | (pulls == best)
    changes = find_changes(best, hits)
    kept = sorted(changes, key=lambda change: -change.lasting)[:MOST_CHANGES]
    return Timeline(
        ends=ends,
        means=means,
        best=_most_frequent(best, ends, means.shape[1]),
        pulls=np.stack([_most_frequent(row, ends, means.shape[1]) for row in pulls]),
        regret=np.concatenate([each.regret_curve for each in played]),
        hits=hits.cumsum(axis=1)[:, ends - 1],
        changes=sorted(kept, key=lambda change: change.step),
        all_changes=len(changes),
    )


def _open_means(worlds: Worlds, first: int, count: int) -> Floats:
    means = np.empty((count, worlds.level.shape[2]))
    fill_rewards(worlds, 0, first, means, np.empty_like(means))
    steps = np.arange(first, first + count)[:, None]
    return np.where((worlds.opens[0] <= steps) & (steps < worlds.closes[0]), means, np.nan)


def smooth_folds(means: Floats, rows: int) -> Floats:
    """Average means [T, K] over so many rows, which contain both folds of a trace; NaN where an arm is closed."""
    kernel = np.ones(rows)
    averages = np.full_like(means, np.nan)
    for values, average in zip(means.T, averages.T, strict=True):
        known = ~np.isnan(values)
        sums, counts = (np.convolve(each, kernel)[rows // 2 :][: len(means)] for each in (np.nan_to_num(values), known))
        np.divide(sums, counts, out=average, where=known)
    return averages


def summarize_means(means_of: MeansOf, ends: Ints, pulls: Ints) -> tuple[Floats, Ints, Bools]:
    """Return the average means of the columns [C, K], the best arm of each step [T], and pulls of a best arm [P, T]."""
    horizon = int(ends[-1])
    starts = np.concatenate([[0], ends[:-1]])
    best = np.empty(horizon, dtype=np.int32)
    ties: Bools = np.empty(pulls.shape, dtype=np.bool_)
    arms = means_of(1, 1).shape[1]
    averages = np.empty((ends.size, arms))
    size = max(1, CHUNK_CELLS // (arms * int(ends[0] + 1)))  # columns of a chunk
    for column in range(0, ends.size, size):
        part = slice(starts[column], ends[min(column + size, ends.size) - 1])
        means = means_of(part.start + 1, part.stop - part.start)
        known = np.where(np.isnan(means), -np.inf, means)
        rows = np.arange(len(means))
        best[part] = known.argmax(axis=1)
        for tie, pulled in zip(ties, pulls, strict=True):
            tie[part] = known[rows, pulled[part]] >= known[rows, best[part]] - NEGLIGIBLE
        first = starts[column : column + size] - part.start
        counts = np.add.reduceat(~np.isnan(means), first, axis=0, dtype=np.int64)
        sums = np.add.reduceat(np.nan_to_num(means), first, axis=0)
        averages[column : column + size] = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return averages, best, ties


def keep_lasting(best: Ints, shortest: int = SHORTEST_BEST) -> Ints:
    """Replace an arm that is best for fewer steps in a row by the last one that was best for longer.

    >>> keep_lasting(np.array([0, 0, 0, 1, 0, 0, 2, 2, 2]), shortest=3).tolist()
    [0, 0, 0, 0, 0, 0, 2, 2, 2]
    """
    starts = np.flatnonzero(np.concatenate([[True], best[1:] != best[:-1]]))
    lengths = np.diff(np.concatenate([starts, [best.size]]))
    lasting = lengths >= shortest
    last = np.maximum.accumulate(np.where(lasting, np.arange(starts.size), -1))
    chosen = np.where(last < 0, lasting.argmax(), last)
    return np.repeat(best[starts][chosen], lengths)


def find_changes(best: Ints, hits: Bools) -> list[Change]:
    """Return the changes of the best arm [T], with the recovery of each policy from its pulls of a best arm [P, T]."""
    starts = (np.flatnonzero(best[1:] != best[:-1]) + 1).tolist()
    return [
        Change(
            step=start + 1,
            lasting=stop - start,
            before=int(best[start - 1]),
            after=int(best[start]),
            recovery=[count_recovery(row[start:stop]) for row in hits],
        )
        for start, stop in pairwise([*starts, best.size])
    ]


def count_recovery(hits: Bools) -> int | None:
    """Return the number of steps until a policy has recovered, from its pulls of a best arm up to the next change.

    It has recovered at the first such pull from which on 80 % of the next 50 pulls, or of those left, are of a best
    arm. At least 10 pulls must be left.

    >>> count_recovery(np.array([False] * 7 + [True] * 60)), count_recovery(np.array([False, True] * 30))
    (7, None)
    """
    last = hits.size - SHORTEST_BEST + 1
    if last < 1:
        return None
    sums = np.concatenate([[0], hits.cumsum()])
    first = np.arange(last)
    stop = np.minimum(first + RECOVERY_WINDOW, hits.size)
    recovered = hits[:last] & (sums[stop] - sums[first] >= RECOVERY_SHARE * (stop - first))
    return int(recovered.argmax()) if recovered.any() else None


def _most_frequent(values: Ints, ends: Ints, arms: int) -> Ints:
    """Return the most frequent arm of each column; of several, the lowest."""
    if ends.size == values.size:
        return values
    columns = np.searchsorted(ends, np.arange(1, values.size + 1))
    counts = np.bincount(columns * arms + values, minlength=ends.size * arms)
    frequent: Ints = counts.reshape(ends.size, arms).argmax(axis=1)
    return frequent
