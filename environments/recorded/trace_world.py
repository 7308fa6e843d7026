"""Traces as scenarios: replications are windows with random offsets.

The rows are split into three segments in order of time (`SEGMENT_SHARES`): the first half for the search, the next
fifth for the selection, the rest for the report. A window lies within the segment of its stream, as in a backtest, so
that the report uses only held-out rows.

Regret is the reward of a benchmark arm minus the reward of the pulled arm. Rows alternate between two folds. The
benchmark arm of a row is the open arm with the best mean over nearby rows of the other fold (`NearbyRows`). Its choice
therefore does not depend on the noise of the row, as the choice of a policy does not, and the difference of the two
rewards is an unbiased estimate of the difference of their means. A maximum over smoothed rewards would count the noise
of the row itself as something that a policy could have earned. Means over all other rows would be unbiased as well, but
their errors depend on each other: too high on most traces and far too low on a few, so that intervals miss. No estimate
of the best mean is unbiased; the benchmark arm is sometimes not the best one, so the regret is a lower bound in
expectation. An arm is closed where its cell is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ravenlab.common.arrays import Bytes, Floats, Ints
from ravenlab.common.checks import check_integer
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.recording import (
    SEGMENT_SHARES,
    Recording,
    Segment,
    is_binary,
    recording_name,
    segment_of,
)
from ravenlab.environments.recorded.trace_file import Trace, read_trace
from ravenlab.environments.reward_scale import RewardScale, recorded_scale
from ravenlab.environments.streams import Stream, generator

WINDOWS_PER_SEGMENT = 4  # default length of a window relative to the search segment


MIN_REACH = 6  # each further width is twice as large, up to the whole segment
RESIDUAL_REACH = 12  # width whose residuals show whether the noise is autocorrelated
MAX_GAP = 6
MIN_CORRELATION = 0.1  # residuals with a smaller autocorrelation count as independent
MAX_HISTORY = 4  # windows over all rows for each window of a segment; the shares of segments need 3.5
MAX_ERROR_ROWS = 50_000  # rows on which widths are compared


class TraceWorlds(NamedTuple):
    """R windows of a trace of N rows and K arms. Step t of window r is row offset[r] + t − 1."""

    values: Floats
    """[N, K] rewards; NaN where an arm is closed. Costs are negated."""
    best: Floats
    """[N] rewards of the benchmark arm."""
    best_arm: Ints
    """[N] the benchmark arm: the open arm with the best mean over neighbouring rows."""
    switches: Bytes
    """[N] 1 where an arm opens or closes."""
    offsets: Ints
    """[R] first row of each window."""
    horizon: int
    """Rows of a window."""


class NearbyRows(NamedTuple):
    """The rows of the other fold at a distance of gap + 1 to gap + reach, before and after a row."""

    reach: int
    gap: int = 0
    """Rows on each side that are left out because their noise is correlated with that of the row."""

    def fold(self, rows: Ints) -> Ints:
        """Return the fold of each row, 0 or 1; a fold consists of every other group of gap + 1 rows."""
        return rows // (self.gap + 1) % 2


class FixedArmPlay(NamedTuple):
    """The best fixed arm of each of R windows of W rows, chosen for the rows of each fold by those of the other."""

    reward: Floats
    """[R] sum of its rewards."""
    regret_by_row: Floats
    """[N] regret against the benchmark arm, summed over windows by row of the trace."""
    regret_by_step: Floats
    """[W] the same by step of the window."""


@dataclass(frozen=True)
class TraceScenario(Recording):
    """A trace in the role of a scenario.

    >>> table = np.random.default_rng(1).normal(size=(400, 3))
    >>> scenario = TraceScenario(Trace.from_values(["a", "b", "c"], table), "trace:mine")
    >>> scenario.horizon, scenario.segment(Stream.REPORT)
    (50, Segment(first=280, last=400))
    """

    trace: Trace
    name: str
    minimize: bool = False

    kind = "trace"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognized, sorted or dropped when the file was read."""
        return self.trace.notes

    @property
    def digest(self) -> str:
        """SHA-256 of the contents of the file."""
        return self.trace.digest

    @property
    def arms(self) -> int:
        """Number of columns of the trace."""
        return self.trace.arms

    @property
    def largest_rate(self) -> float | None:
        """The largest mean of an arm if all values are 0 or 1, otherwise None."""
        return float(np.nanmean(self.trace.values, axis=0).max()) if is_binary(self.trace.values) else None

    @property
    def horizon(self) -> int:
        """Default length of a window: a quarter of the search segment."""
        return max(1, self.segment(Stream.SEARCH).rows // WINDOWS_PER_SEGMENT)

    def segment(self, stream: int) -> Segment:
        """Return the rows of a stream; all rows for streams without a segment."""
        return segment_of(self.trace.rows, stream)

    @property
    def shortest_segment(self) -> int:
        """Number of rows of the shortest segment."""
        return min(self.segment(stream).rows for stream in SEGMENT_SHARES)

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for windows that do not fit into every segment or have fewer steps than arms."""
        if arms != self.trace.arms:
            raise InputError(f"arms must be {self.trace.arms}, the columns of the trace, but got {arms}.")
        check_integer("window", horizon, least=1)
        shortest = self.shortest_segment
        if shortest < arms:
            raise InputError(
                f"{self.name} has {self.trace.rows:,} rows, too few for windows of {arms:,} steps, one per arm: the"
                f" shortest segment has {shortest:,} rows."
            )
        if horizon > shortest:
            raise InputError(
                f"window must be at most {shortest}, the shortest segment of a trace of {self.trace.rows:,} rows, but"
                f" got {horizon}; if the policy is not restarted, state that it keeps its state (--keep-state)."
            )
        if horizon < arms:
            raise InputError(f"window must be at least the number of arms ({arms}) but got {horizon}; use more rows.")

    def bytes_per_world(self, horizon: int, arms: int) -> int:
        """Return the memory of one window; all share the table."""
        return 8

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> TraceWorlds:
        """Draw windows number first … first + replications − 1 of a stream."""
        segment = self.segment(stream)
        offsets = np.empty(replications, dtype=np.int64)
        for r in range(replications):
            rng = generator(seed, stream, first + r, "offset")
            offsets[r] = rng.integers(segment.first, segment.last - horizon + 1)
        return TraceWorlds(self.rewards, *self._tables, offsets, horizon)

    def draw_run(self, first: int, copies: int = 1) -> TraceWorlds:
        """Return the rows from the first one to the end as one window, so many times."""
        offsets = np.full(copies, first, dtype=np.int64)
        return TraceWorlds(self.rewards, *self._tables, offsets, self.trace.rows - first)

    def draw_history(self, horizon: int, replications: int, stream: int) -> TraceWorlds:
        """Return windows at equal distances in all rows up to the end of the segment of a stream."""
        count = self.count_history(horizon, replications, stream)
        offsets = np.linspace(0, self.segment(stream).last - horizon, count).round().astype(np.int64)
        return TraceWorlds(self.rewards, *self._tables, offsets, horizon)

    def count_history(self, horizon: int, replications: int, stream: int) -> int:
        """Return the number of windows of `draw_history`.

        They are as dense as `replications` windows in the segment itself, but no two of them are the same, and there
        are at most four times as many: a segment that is hardly longer than a window has few places for windows.
        """
        segment = self.segment(stream)
        places = segment.last - horizon + 1
        as_dense = -(-replications * places // (segment.rows - horizon + 1))
        return min(as_dense, places, MAX_HISTORY * replications)

    @cached_property
    def rewards(self) -> Floats:
        """The cells [N, K]; costs are negated."""
        values = -self.trace.values if self.minimize else self.trace.values
        values.flags.writeable = False
        return values

    @property
    def positive_rewards(self) -> Floats:
        """The cells [N, K]; of costs, their negatives or, if all are 0 or 1, 1 minus the cost."""
        if not self.minimize:
            return self.trace.values
        return (1.0 if is_binary(self.trace.values) else 0.0) - self.trace.values

    @cached_property
    def nearby(self) -> NearbyRows:
        """The rows whose means determine the benchmark arm, chosen on the search segment."""
        segment = self.segment(Stream.SEARCH)
        return choose_nearby_rows(self.rewards[segment.first : segment.last])

    @cached_property
    def means(self) -> Floats:
        """Means [N, K] over neighbouring rows of the same segment; NaN where an arm is closed."""
        parts = [self.rewards[segment.first : segment.last] for segment in map(self.segment, SEGMENT_SHARES)]
        means = [NearbyMeans(part, self.nearby.gap).at(np.arange(len(part)), self.nearby.reach) for part in parts]
        return np.where(np.isnan(self.rewards), np.nan, np.concatenate(means))

    @cached_property
    def _tables(self) -> tuple[Floats, Ints, Bytes]:
        """Rewards of the benchmark arms, these arms, and where arms open or close."""
        is_open = ~np.isnan(self.rewards)
        # An open arm without neighbouring cells is chosen only if all open arms are such.
        known = np.where(np.isnan(self.means), -np.finfo(np.float64).max, self.means)
        best_arm = np.where(is_open, known, -np.inf).argmax(axis=1)
        switches = np.ones(len(is_open), dtype=np.uint8)
        switches[1:] = (is_open[1:] != is_open[:-1]).any(axis=1)
        return self.rewards[np.arange(len(is_open)), best_arm], best_arm, switches

    @cached_property
    def best_searched_arm(self) -> int:
        """The arm with the best mean over the search segment."""
        segment = self.segment(Stream.SEARCH)
        return int(self._filled[segment.first : segment.last].mean(axis=0).argmax())

    @cached_property
    def _filled(self) -> Floats:
        """Rewards [N, K] minus their mean; where an arm is closed, the mean of the open arms counts."""
        open_means = np.nanmean(self.rewards, axis=1)[:, None]
        return np.asarray(np.where(np.isnan(self.rewards), open_means, self.rewards) - np.nanmean(self.rewards))

    def play_fixed_arm(self, worlds: TraceWorlds, arm: int | None = None) -> FixedArmPlay:
        """Play one arm in all windows or, by default, the best fixed arm of each window in hindsight.

        For the rows of each fold the latter is chosen by its rewards in the other fold, so that the noise of a row does
        not choose the arm for this row. Where an arm is closed, the mean of the open arms counts.
        """
        center = float(np.nanmean(self.rewards))
        filled = self._filled
        fold = self.nearby.fold(np.arange(len(filled)))
        sums_before = np.zeros((2, len(filled) + 1, self.trace.arms))
        for side in (0, 1):
            np.cumsum(np.where(fold[:, None] == side, filled, 0.0), axis=0, out=sums_before[side, 1:])
        played = FixedArmPlay(np.zeros(worlds.offsets.size), np.zeros(len(filled)), np.zeros(worlds.horizon))
        for r, start in enumerate(worlds.offsets):
            window = slice(start, start + worlds.horizon)
            if arm is None:
                chosen = (sums_before[:, window.stop] - sums_before[:, start]).argmax(axis=1)
            else:
                chosen = np.array([arm, arm])
            rewards = filled[np.arange(window.start, window.stop), chosen[1 - fold[window]]]
            regret = worlds.best[window] - center - rewards
            played.reward[r] = rewards.sum() + center * worlds.horizon
            played.regret_by_row[window] += regret
            played.regret_by_step[:] += regret
        return played

    @cached_property
    def scale(self) -> RewardScale:
        """Scale of the rewards in the search segment."""
        segment = self.segment(Stream.SEARCH)
        cells = self.rewards[segment.first : segment.last]
        return recorded_scale(cells[~np.isnan(cells)], "cells in the search segment of the trace")


class NearbyMeans:
    """Means of cells [n, K] over nearby rows of the other fold.

    >>> NearbyMeans(np.array([[1.0], [9.0], [2.0], [np.nan], [4.0]])).at(np.array([1]), reach=3)
    array([[2.33333333]])
    """

    def __init__(self, values: Floats, gap: int = 0) -> None:
        self.gap, self.arms, self.rows = gap, values.shape[1], len(values)
        present = ~np.isnan(values)
        self.center = float(np.nanmean(values)) if present.any() else 0.0
        fold = NearbyRows(1, gap).fold(np.arange(self.rows))
        self.sums, self.counts = (np.zeros((2, self.rows + 1, self.arms)) for _ in range(2))
        for side in (0, 1):
            used = present & (fold[:, None] != side)
            np.cumsum(np.where(used, values - self.center, 0.0), axis=0, out=self.sums[side, 1:])
            np.cumsum(used, axis=0, out=self.counts[side, 1:])

    def at(self, rows: Ints, reach: int) -> Floats:
        """Return the means [rows, K] of the present cells near each row; NaN if there are none."""
        near = NearbyRows(reach, self.gap)
        ends = (rows - near.gap - reach, rows - near.gap, rows + near.gap + 1, rows + near.gap + reach + 1)
        first, before, after, end = (np.clip(place, 0, self.rows) for place in ends)
        side = near.fold(rows)
        total, count = (
            table[side, before] - table[side, first] + table[side, end] - table[side, after]
            for table in (self.sums, self.counts)
        )
        means = np.full_like(total, np.nan)
        np.divide(total, count, out=means, where=count > 0.0)
        return np.asarray(means + self.center)


def choose_nearby_rows(values: Floats) -> NearbyRows:
    """Choose the nearby rows whose means best predict a cell.

    The gap is the number of lags, up to 6, at which the noise is autocorrelated. Noise that lasts longer counts as a
    change of the means. The reach has the least squared prediction error among 6, 12, 24, … and the whole segment.

    >>> steady = np.random.default_rng(1).normal(size=(600, 3))
    >>> choose_nearby_rows(steady).reach >= 300, choose_nearby_rows(steady).gap
    (True, 0)
    """
    gap = _correlated_lags(values - NearbyMeans(values).at(np.arange(len(values)), RESIDUAL_REACH))
    table = NearbyMeans(values, gap)
    rows = np.arange(0, len(values), 1 + len(values) // MAX_ERROR_ROWS)
    reaches = [MIN_REACH]
    while reaches[-1] < len(values):
        reaches.append(2 * reaches[-1])
    predicted = ~np.isnan(table.at(rows, MIN_REACH) - values[rows])
    if not predicted.any():
        return NearbyRows(reaches[-1])

    def error(reach: int) -> float:
        errors = table.at(rows, reach) - values[rows]
        return float(np.mean(errors[predicted] ** 2))

    return NearbyRows(min(reaches, key=error), gap)


def _correlated_lags(residuals: Floats) -> int:
    """Return the number of lags, from 1 to 6, before the first at which residuals [n, K] are not autocorrelated."""
    variance = np.mean(residuals[~np.isnan(residuals)] ** 2)
    for lag in range(1, min(MAX_GAP, len(residuals) - 1) + 1):
        products = residuals[lag:] * residuals[:-lag]
        products = products[~np.isnan(products)]
        if not products.size or products.mean() <= MIN_CORRELATION * variance:
            return lag - 1
    return min(MAX_GAP, len(residuals) - 1)


def open_trace(path: str | Path, minimize: bool = False) -> TraceScenario:
    """Return the scenario of a file or a collection of files; unchanged files are not read again."""
    from ravenlab.environments.recorded.collection import stamp_collection

    return _opened(str(path), minimize, stamp_collection(path))


@lru_cache(maxsize=4)
def _opened(path: str, minimize: bool, _stamp: object) -> TraceScenario:
    from ravenlab.environments.recorded.collection import is_collection, open_collection

    name = recording_name("trace", path)
    return (
        open_collection(path, name, minimize)
        if is_collection(path)
        else TraceScenario(read_trace(path), name, minimize)
    )
