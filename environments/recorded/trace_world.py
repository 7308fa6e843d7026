"""A trace as a world: windows of it, from random offsets, are the replications.

The rows are cut into three stretches of time, in order: the first half is searched, the next fifth chooses among the
best, and the rest, never touched before, is what is reported (`SEGMENT_SHARES`). A window lies in the segment of its
stream, so what is searched on never comes back as proof; this is how one would backtest.

Regret is measured on a smoothed table, both terms of it: an arm's value at a row is the mean of its cells within 12
rows before and after that are there and of the same stretch. An arm is closed where its cell is missing.
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

SMOOTHING_WINDOW = 25
"""Rows of the centred mean."""

WINDOWS_PER_SEGMENT = 4
"""The searched stretch is so many windows long unless told otherwise."""


class TraceWorlds(NamedTuple):
    """R windows of a trace of N rows and K arms. Step t of window r is row offset[r] + t − 1."""

    values: Floats
    """[N, K] rewards; NaN where an arm is closed. Costs come with their sign turned."""
    smoothed: Floats
    """[N, K] centred means; NaN where an arm is closed."""
    best: Floats
    """[N] the largest smoothed value among the open arms."""
    switches: Bytes
    """[N] 1 where another set of arms is open than at the row before."""
    offsets: Ints
    """[R] first row of each window."""
    horizon: int
    """Rows of a window."""


@dataclass(frozen=True)
class TraceScenario(Recording):
    """A trace in the place of a scenario: the same questions, answered by a table.

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
        """Of what the file held."""
        return self.trace.digest

    @property
    def arms(self) -> int:
        """Columns of the trace."""
        return self.trace.arms

    @property
    def horizon(self) -> int:
        """Rows of a window if nothing else is said: a quarter of the stretch that is searched."""
        return max(1, self.segment(Stream.SEARCH).rows // WINDOWS_PER_SEGMENT)

    def segment(self, stream: int) -> Segment:
        """The rows that a stream's windows lie in; all of them for streams that choose nothing."""
        return segment_of(self.trace.rows, stream)

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for windows that do not fit into every stretch, or hold fewer steps than arms."""
        if arms != self.trace.arms:
            raise InputError(f"arms must be {self.trace.arms}, the columns of the trace, but got {arms}.")
        check_integer("window", horizon, least=1)
        shortest = min(self.segment(stream).rows for stream in SEGMENT_SHARES)
        if shortest < arms:
            raise InputError(
                f"{self.name} has {self.trace.rows} rows: too few for windows of {arms} steps, one for each arm, in the"
                f" part of them that chooses ({shortest} rows)."
            )
        if horizon > shortest:
            raise InputError(
                f"window must be at most {shortest} for a trace of {self.trace.rows} rows, as it must fit into the part"
                f" of them that chooses, but got {horizon}."
            )
        if horizon < arms:
            raise InputError(f"window must be at least the number of arms ({arms}) but got {horizon}; use more rows.")

    def bytes_per_world(self, horizon: int, arms: int) -> int:
        """Of one window; the table is shared by all."""
        return 8

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> TraceWorlds:
        """Windows number first … first + replications − 1 of a stream: always the same ones for the same words."""
        here = self.segment(stream)
        offsets = np.empty(replications, dtype=np.int64)
        for r in range(replications):
            rng = generator(seed, stream, first + r, "offset")
            offsets[r] = rng.integers(here.first, here.last - horizon + 1)
        return TraceWorlds(*self._tables, offsets, horizon)

    @cached_property
    def _tables(self) -> tuple[Floats, Floats, Floats, Bytes]:
        """Rewards, their centred means, the best of these, and where arms open or close."""
        values = -self.trace.values if self.minimize else self.trace.values
        values.flags.writeable = False
        parts = [values[here.first : here.last] for here in map(self.segment, SEGMENT_SHARES)]
        smoothed = np.concatenate([smooth(part) for part in parts])
        there = ~np.isnan(values)
        turns = np.ones(values.shape[0], dtype=np.uint8)
        turns[1:] = (there[1:] != there[:-1]).any(axis=1)
        best = np.where(there, smoothed, -np.inf).max(axis=1)
        return values, smoothed, best, turns

    def best_fixed_arm(self, worlds: TraceWorlds) -> tuple[Ints, Floats]:
        """The best arm of each window [R] to pull at every step of it, and what that would have brought [R].

        Where that arm is closed something else has to be pulled: the mean of the open arms counts there.
        """
        below = np.zeros((self.trace.rows + 1, self.trace.arms))
        np.cumsum(self.filled_means, axis=0, out=below[1:])
        sums = below[worlds.offsets + worlds.horizon] - below[worlds.offsets]
        return sums.argmax(axis=1), np.asarray(sums.max(axis=1))

    @cached_property
    def filled_means(self) -> Floats:
        """The smoothed table with the mean of the open arms where one is closed."""
        smoothed = self._tables[1]
        return np.where(np.isnan(smoothed), np.nanmean(smoothed, axis=1)[:, None], smoothed)

    @cached_property
    def scale(self) -> RewardScale:
        """How large rewards are, told by the searched stretch alone."""
        here = self.segment(Stream.SEARCH)
        cells = self._tables[0][here.first : here.last]
        return measure_scale(cells[~np.isnan(cells)], "cells of the searched half of the trace")


def smooth(values: Floats) -> Floats:
    """Centred means over 25 rows of the cells that are there; NaN where the cell itself is missing.

    >>> smooth(np.array([[1.0], [np.nan], [4.0]]))[:, 0]
    array([2.5, nan, 2.5])
    """
    there = ~np.isnan(values)
    known = np.where(there, values, 0.0)
    total, count = np.zeros_like(known), np.zeros_like(known)
    reach = SMOOTHING_WINDOW // 2
    for shift in range(-min(reach, len(values) - 1), min(reach, len(values) - 1) + 1):
        to, of = slice(max(0, -shift), len(values) - max(0, shift)), slice(max(0, shift), len(values) + min(0, shift))
        total[to] += known[of]
        count[to] += there[of]
    out = np.full_like(known, np.nan)
    np.divide(total, count, out=out, where=there)
    return out


def open_trace(path: str | Path, minimize: bool = False) -> TraceScenario:
    """The scenario of a file; one that has not changed since it was read is not read again."""
    return _opened(str(path), minimize, file_stamp(path))


@lru_cache(maxsize=4)
def _opened(path: str, minimize: bool, _stamp: object) -> TraceScenario:
    return TraceScenario(read_trace(path), recording_name("trace", path), minimize)
