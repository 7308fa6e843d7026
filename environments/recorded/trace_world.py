"""Traces as scenarios: replications are windows with random offsets.

The rows are split into three segments in order of time (`SEGMENT_SHARES`): the first half for the search, the next
fifth for the selection, the rest for the report. A window lies within the segment of its stream, as in a backtest, so
that the report uses only held-out rows.

Regret is measured on a smoothed table: the value of an arm at a row is the mean of its cells within 12 rows before and
after in the same segment. An arm is closed where its cell is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from environments.checks import check_integer
from environments.errors import InputError
from environments.recorded.recording import (
    SEGMENT_SHARES,
    Recording,
    RewardScale,
    Segment,
    file_stamp,
    measure_scale,
    recording_name,
    segment_of,
)
from environments.recorded.trace_file import Trace, read_trace
from environments.streams import Stream, generator
from environments.world import Bytes, Floats, Ints

SMOOTHING_WINDOW = 25  # rows of the centered mean
WINDOWS_PER_SEGMENT = 4  # default length of a window relative to the search segment


class TraceWorlds(NamedTuple):
    """R windows of a trace of N rows and K arms. Step t of window r is row offset[r] + t − 1."""

    values: Floats
    """[N, K] rewards; NaN where an arm is closed. Costs are negated."""
    smoothed: Floats
    """[N, K] centered means; NaN where an arm is closed."""
    best: Floats
    """[N] the largest smoothed value among the open arms."""
    switches: Bytes
    """[N] 1 where an arm opens or closes."""
    offsets: Ints
    """[R] first row of each window."""
    horizon: int
    """Rows of a window."""


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
    def digest(self) -> str:
        """SHA-256 of the contents of the file."""
        return self.trace.digest

    @property
    def arms(self) -> int:
        """Number of columns of the trace."""
        return self.trace.arms

    @property
    def horizon(self) -> int:
        """Default length of a window: a quarter of the search segment."""
        return max(1, self.segment(Stream.SEARCH).rows // WINDOWS_PER_SEGMENT)

    def segment(self, stream: int) -> Segment:
        """Return the rows of a stream; all rows for streams without a segment."""
        return segment_of(self.trace.rows, stream)

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for windows that do not fit into every segment or have fewer steps than arms."""
        if arms != self.trace.arms:
            raise InputError(f"arms must be {self.trace.arms}, the columns of the trace, but got {arms}.")
        check_integer("window", horizon, least=1)
        shortest = min(self.segment(stream).rows for stream in SEGMENT_SHARES)
        if shortest < arms:
            raise InputError(
                f"{self.name} has {self.trace.rows:,} rows, too few for windows of {arms:,} steps, one per arm: the"
                f" shortest segment has {shortest:,} rows."
            )
        if horizon > shortest:
            raise InputError(
                f"window must be at most {shortest}, the shortest segment of a trace of {self.trace.rows:,} rows, but"
                f" got {horizon}."
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
        return TraceWorlds(*self._tables, offsets, horizon)

    @cached_property
    def _tables(self) -> tuple[Floats, Floats, Floats, Bytes]:
        """Rewards, their centered means, the best of these, and where arms open or close."""
        values = -self.trace.values if self.minimize else self.trace.values
        values.flags.writeable = False
        parts = [values[segment.first : segment.last] for segment in map(self.segment, SEGMENT_SHARES)]
        smoothed = np.concatenate([smooth(part) for part in parts])
        is_open = ~np.isnan(values)
        switches = np.ones(values.shape[0], dtype=np.uint8)
        switches[1:] = (is_open[1:] != is_open[:-1]).any(axis=1)
        best = np.where(is_open, smoothed, -np.inf).max(axis=1)
        return values, smoothed, best, switches

    def best_fixed_arm(self, worlds: TraceWorlds) -> tuple[Ints, Floats]:
        """Return the best fixed arm of each window [R] and the sum of its smoothed rewards [R].

        Where that arm is closed, the mean of the open arms counts.
        """
        sums_before = np.zeros((self.trace.rows + 1, self.trace.arms))
        np.cumsum(self.filled_means, axis=0, out=sums_before[1:])
        sums = sums_before[worlds.offsets + worlds.horizon] - sums_before[worlds.offsets]
        return sums.argmax(axis=1), np.asarray(sums.max(axis=1))

    @cached_property
    def filled_means(self) -> Floats:
        """The smoothed table, with the mean of the open arms where an arm is closed."""
        smoothed = self._tables[1]
        return np.where(np.isnan(smoothed), np.nanmean(smoothed, axis=1)[:, None], smoothed)

    @cached_property
    def scale(self) -> RewardScale:
        """Scale of the rewards in the search segment."""
        segment = self.segment(Stream.SEARCH)
        cells = self._tables[0][segment.first : segment.last]
        return measure_scale(cells[~np.isnan(cells)], "cells in the search segment of the trace")


def smooth(values: Floats) -> Floats:
    """Return centered means of the present cells within 25 rows; NaN where the cell itself is missing.

    >>> smooth(np.array([[1.0], [np.nan], [4.0]]))[:, 0]
    array([2.5, nan, 2.5])
    """
    present = ~np.isnan(values)
    known = np.where(present, values, 0.0)
    total, count = np.zeros_like(known), np.zeros_like(known)
    reach = SMOOTHING_WINDOW // 2
    for shift in range(-min(reach, len(values) - 1), min(reach, len(values) - 1) + 1):
        to, of = slice(max(0, -shift), len(values) - max(0, shift)), slice(max(0, shift), len(values) + min(0, shift))
        total[to] += known[of]
        count[to] += present[of]
    out = np.full_like(known, np.nan)
    np.divide(total, count, out=out, where=present)
    return out


def open_trace(path: str | Path, minimize: bool = False) -> TraceScenario:
    """Return the scenario of a file; an unchanged file is not read again."""
    return _opened(str(path), minimize, file_stamp(path))


@lru_cache(maxsize=4)
def _opened(path: str, minimize: bool, _stamp: object) -> TraceScenario:
    return TraceScenario(read_trace(path), recording_name("trace", path), minimize)
