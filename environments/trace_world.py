"""A trace as a world: windows of it, from random offsets, are the replications.

The rows are cut into three stretches of time, in order: the first half is searched, the next fifth chooses among the
best, and the rest, never touched before, is what is reported (`STRETCHES`). A window lies within the stretch of its
stream, so what is searched on never comes back as proof; this is how one would backtest.

Regret is measured on a smoothed table, both terms of it: an arm's value at a row is the mean of its cells within 12
rows before and after that are there and of the same stretch. An arm is closed where its cell is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from environments.checks import whole
from environments.errors import InputError
from environments.streams import Stream, generator
from environments.trace_file import Trace, read_trace
from environments.world import Bytes, Floats, Ints

SMOOTHED_OVER = 25
"""Rows of the centred mean."""

STRETCHES = {Stream.SEARCH: Fraction(5, 10), Stream.SELECTION: Fraction(2, 10), Stream.REPORT: Fraction(3, 10)}
"""Shares of the rows, in order of time. Of the two that are held out the reported one is the larger: what is believed
comes from it."""

USUAL_WINDOW = 4
"""The searched stretch is so many windows long unless told otherwise."""

USUAL_SPREAD = 0.36
"""Distance between the quartiles of a reward of the base world; what policies' own ranges are made for."""

LONGEST_STEM = 60


class TraceWorlds(NamedTuple):
    """R windows of a trace of N rows and K arms. Step t of window r is row offset[r] + t − 1."""

    values: Floats
    """[N, K] rewards; NaN where an arm is closed. Costs come with their sign turned."""
    smoothed: Floats
    """[N, K] centred means; NaN where an arm is closed."""
    best: Floats
    """[N] the largest smoothed value among the open arms."""
    turns: Bytes
    """[N] 1 where another set of arms is open than at the row before."""
    offsets: Ints
    """[R] first row of each window."""
    horizon: int
    """Rows of a window."""


@dataclass(frozen=True)
class Stretch:
    """Rows first … last − 1."""

    first: int
    last: int

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.last - self.first


@dataclass(frozen=True)
class Scale:
    """How large the rewards of the searched stretch are."""

    low: float
    """1st percentile."""
    high: float
    """99th percentile."""
    factor: float
    """How many times as large as rewards of the base world: what α₀ and its like are multiplied by."""


@dataclass(frozen=True)
class TraceScenario:
    """A trace in the place of a scenario: the same questions, answered by a table.

    >>> table = np.random.default_rng(1).normal(size=(400, 3))
    >>> scenario = TraceScenario(Trace.of(["a", "b", "c"], table), "trace:mine")
    >>> scenario.horizon, scenario.stretch(Stream.REPORT)
    (50, Stretch(first=280, last=400))
    """

    trace: Trace
    name: str
    minimize: bool = False

    extra_arms = 0
    delayed = False
    constant = None
    category = "–"
    meaning = "a recorded trace: each cell is what an arm would have paid at that step"

    @property
    def arms(self) -> int:
        """Columns of the trace."""
        return self.trace.arms

    @property
    def horizon(self) -> int:
        """Rows of a window if nothing else is said: a quarter of the stretch that is searched."""
        return max(1, self.stretch(Stream.SEARCH).rows // USUAL_WINDOW)

    def stretch(self, stream: int) -> Stretch:
        """The rows that a stream's windows lie in; all of them for streams that choose nothing."""
        if stream not in STRETCHES:
            return Stretch(0, self.trace.rows)
        before = sum(share for other, share in STRETCHES.items() if other < stream)
        ends = (before, before + STRETCHES[Stream(stream)])
        return Stretch(*(int(end * self.trace.rows) for end in ends))

    def with_settings(self, settings: Mapping[str, Any]) -> TraceScenario:
        """A trace has no parameters to set."""
        if settings:
            raise InputError(f"a trace has no setting {next(iter(settings))!r}.")
        return self

    def parameters(self) -> dict[str, Any]:
        """None."""
        return {}

    def check(self, horizon: int, arms: int) -> None:
        """Raise InputError for windows that do not fit into every stretch, or hold fewer steps than arms."""
        if arms != self.trace.arms:
            raise InputError(f"arms must be {self.trace.arms}, the columns of the trace, but got {arms}.")
        whole("window", horizon, least=1)
        shortest = min(self.stretch(stream).rows for stream in STRETCHES)
        if horizon > shortest:
            raise InputError(
                f"window must be at most {shortest} for a trace of {self.trace.rows} rows, as it must fit into the part"
                f" of them that chooses, but got {horizon}."
            )
        if horizon < arms:
            raise InputError(f"window must be at least the number of arms ({arms}) but got {horizon}; use more rows.")

    def bytes_per_world(self, horizon: int, arms: int) -> int:
        """Of one window; the table is shared by all."""
        return 8 + 0 * (horizon + arms)

    def draw(self, horizon: int, seed: int, first: int, replications: int, stream: int) -> TraceWorlds:
        """Windows number first … first + replications − 1 of a stream: always the same ones for the same words."""
        here = self.stretch(stream)
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
        parts = [values[here.first : here.last] for here in map(self.stretch, STRETCHES)]
        smoothed = np.concatenate([smooth(part) for part in parts])
        there = ~np.isnan(values)
        turns = np.ones(values.shape[0], dtype=np.uint8)
        turns[1:] = (there[1:] != there[:-1]).any(axis=1)
        best = np.where(there, smoothed, -np.inf).max(axis=1)
        return values, smoothed, best, turns

    def fixed(self, worlds: TraceWorlds) -> tuple[Ints, Floats]:
        """The best arm of each window [R] to pull at every step of it, and what that would have brought [R].

        Where that arm is closed something else has to be pulled: the mean of the open arms counts there.
        """
        below = np.zeros((self.trace.rows + 1, self.trace.arms))
        np.cumsum(self.filled, axis=0, out=below[1:])
        sums = below[worlds.offsets + worlds.horizon] - below[worlds.offsets]
        return sums.argmax(axis=1), np.asarray(sums.max(axis=1))

    @cached_property
    def filled(self) -> Floats:
        """The smoothed table with the mean of the open arms where one is closed."""
        smoothed = self._tables[1]
        return np.where(np.isnan(smoothed), np.nanmean(smoothed, axis=1)[:, None], smoothed)

    @cached_property
    def scale(self) -> Scale:
        """How large rewards are, told by the searched stretch alone.

        The distance between the quartiles counts, not the standard deviation: one outage would blow that up.
        """
        here = self.stretch(Stream.SEARCH)
        cells = self._tables[0][here.first : here.last]
        cells = cells[~np.isnan(cells)]
        if not cells.size or cells.min() == cells.max():
            raise InputError("all cells of the searched half of the trace are alike: there is nothing to learn from.")
        low, lower, upper, high = np.percentile(cells, [1, 25, 75, 99])
        if low == high:
            low, high = cells.min(), cells.max()
        spread = (upper - lower) or (high - low)
        return Scale(float(low), float(high), float(spread / USUAL_SPREAD))


def smooth(values: Floats) -> Floats:
    """Centred means over 25 rows of the cells that are there; NaN where the cell itself is missing.

    >>> smooth(np.array([[1.0], [np.nan], [4.0]]))[:, 0]
    array([2.5, nan, 2.5])
    """
    there = ~np.isnan(values)
    known = np.where(there, values, 0.0)
    total, count = np.zeros_like(known), np.zeros_like(known)
    reach = SMOOTHED_OVER // 2
    for shift in range(-min(reach, len(values) - 1), min(reach, len(values) - 1) + 1):
        to, of = slice(max(0, -shift), len(values) - max(0, shift)), slice(max(0, shift), len(values) + min(0, shift))
        total[to] += known[of]
        count[to] += there[of]
    out = np.full_like(known, np.nan)
    np.divide(total, count, out=out, where=there)
    return out


def trace_name(path: str | Path) -> str:
    """What a trace is called: `trace:` and the file's name without anything that could be misread.

    >>> trace_name("/data/Seattle RTT (2016).csv")
    'trace:Seattle-RTT-2016'
    """
    plain = unicodedata.normalize("NFKC", Path(path).stem)
    clean = re.sub(r"[^\w.]+", "-", plain).strip("-.")
    return f"trace:{clean[:LONGEST_STEM] or 'unnamed'}"


def open_trace(path: str | Path, minimize: bool = False) -> TraceScenario:
    """The scenario of a file; one that has not changed since it was read is not read again."""
    path = Path(path)
    try:
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    except (OSError, ValueError):
        stamp = None
    return _opened(str(path), minimize, stamp)


@lru_cache(maxsize=4)
def _opened(path: str, minimize: bool, stamp: object) -> TraceScenario:
    return TraceScenario(read_trace(path), trace_name(path), minimize)
