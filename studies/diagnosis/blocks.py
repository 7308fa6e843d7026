"""A trace cut into blocks of rows: means, counts and noise of each arm in each block.

Everything is judged on a few hundred block means instead of on thousands of rows: rewards of any shape are nearly
normal there, and rows that depend on their neighbours are told apart from worlds that change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from environments.world import Floats, Ints

MOST_BLOCKS = 200
LEAST_ROWS = 4
"""Rows of a block; fewer say nothing about their spread."""
SEEN = 8
"""How often an arm should be seen in a block; a log of one arm a step gets longer blocks."""
POOLED = 30
"""Degrees of freedom behind each estimate of the noise: a single spike must not pass for a change."""
SPIKE = 4.0
"""Standard deviations by which a block's variance may stand out from both neighbours'."""
PRIOR = 10
"""Degrees of freedom that an arm's overall noise counts beside a block's own."""
MEDIAN_CHI2 = 0.454936
"""Median of χ² with one degree of freedom."""


@dataclass(frozen=True)
class TraceBlocks:
    """The rows `values` [N, K], NaN where nothing was seen, and their blocks.

    >>> blocks = Blocks.of(np.random.default_rng(0).normal(size=(1000, 3)))
    >>> blocks.means.shape, blocks.size
    ((200, 3), 5.0)
    """

    values: Floats
    starts: Ints
    """First row of each block, and N at the end."""
    counts: Floats = field(repr=False)
    means: Floats = field(repr=False)
    """[B, K], 0 where nothing was seen."""
    noise: Floats = field(repr=False)
    """[B, K] variance of a reward around its block's mean."""

    @staticmethod
    def of(values: Floats) -> TraceBlocks:
        """Cut so that every arm is seen a few times in most blocks."""
        rows = values.shape[0]
        seen = ~np.isnan(values)
        rate = max(float(np.median(seen.sum(axis=0))) / rows, 1e-9)
        number = int(min(MOST_BLOCKS, rows // LEAST_ROWS, max(10, rows * rate // (SEEN if rate < 0.9 else 1))))
        starts = np.linspace(0, rows, max(1, number) + 1).round().astype(np.int64)
        filled = np.where(seen, values, 0.0)
        counts = np.add.reduceat(seen.astype(np.float64), starts[:-1], axis=0)
        means = np.add.reduceat(filled, starts[:-1], axis=0) / np.maximum(counts, 1.0)
        around = np.where(seen, values - np.repeat(means, np.diff(starts), axis=0), 0.0)
        squares = np.add.reduceat(around**2, starts[:-1], axis=0)
        return TraceBlocks(values, starts, counts, means, _noise(squares, np.maximum(counts - 1.0, 0.0)))

    @property
    def rows(self) -> int:
        """N."""
        return int(self.values.shape[0])

    @property
    def arms(self) -> int:
        """K."""
        return int(self.values.shape[1])

    @property
    def number(self) -> int:
        """B."""
        return int(self.starts.size - 1)

    @property
    def size(self) -> float:
        """Rows of a block."""
        return self.rows / self.number

    @cached_property
    def seen(self) -> Floats:
        """Rows at which each arm was seen."""
        return np.asarray(self.counts.sum(axis=0))

    @cached_property
    def time(self) -> Floats:
        """Steps 1 … N as shares of N."""
        return np.arange(1, self.rows + 1) / self.rows

    @cached_property
    def binary(self) -> bool:
        """Whether rewards are 0 or 1: their variance then follows from their mean."""
        there = self.values[~np.isnan(self.values)]
        return bool(np.isin(there, (0.0, 1.0)).all())

    def average(self, of_rows: Floats) -> Floats:
        """Block means [B, p] of something known at every row [N, p]."""
        return np.asarray(np.add.reduceat(of_rows, self.starts[:-1], axis=0) / np.diff(self.starts)[:, None])

    def within(self, of_rows: Floats) -> Floats:
        """Variances [B, K] around the blocks' own means of something [N, K] that is NaN where nothing was seen."""
        filled = np.nan_to_num(of_rows)
        sums = np.add.reduceat(filled, self.starts[:-1], axis=0)
        squares = np.add.reduceat(filled**2, self.starts[:-1], axis=0)
        freedom = np.maximum(self.counts - 1.0, 1.0)
        out = np.maximum(squares - sums**2 / np.maximum(self.counts, 1.0), 0.0) / freedom
        # A spike is one block's alone: no block may be much louder than both of its neighbours.
        padded = np.pad(out, ((1, 1), (0, 0)), mode="reflect") if self.number > 1 else np.vstack([out] * 3)
        return np.asarray(np.minimum(out, np.maximum(padded[:-2], padded[2:]) * np.exp(SPIKE * np.sqrt(2.0 / freedom))))


def neighbor_dispersion(between: Floats, expected: Floats) -> Floats:
    """How many times larger neighbours' squared differences [B − 1, K] are than expected, by their median.

    Neighbours differ by noise alone, but for a few pairs between which something changed; more than 1 means that
    rows depend on the rows before them.
    """
    ratio = np.divide(between, expected, out=np.full_like(between, np.nan), where=expected > 0)
    out = np.ones(between.shape[1])
    for k in range(between.shape[1]):
        known = ratio[:, k][np.isfinite(ratio[:, k])]
        if known.size >= 5:
            out[k] = np.median(known) / MEDIAN_CHI2
    return out


def _noise(squares: Floats, freedom: Floats) -> Floats:
    """Noise of each block, pooled with its neighbours' until there are enough degrees of freedom."""
    overall = squares.sum(axis=0) / np.maximum(freedom.sum(axis=0), 1.0)
    fallback = float(overall.mean()) or 1.0
    overall = np.maximum(overall, 1e-6 * fallback)
    typical = max(float(np.median(freedom)), 0.5)
    reach = int(np.ceil(POOLED / typical)) // 2
    around, degrees = _windowed(squares, reach), _windowed(freedom, reach)
    return np.asarray((around + PRIOR * overall) / (degrees + PRIOR))


def _windowed(table: Floats, reach: int) -> Floats:
    """Sums over `reach` blocks on either side."""
    total = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
    place: Any = np.arange(table.shape[0])
    return np.asarray(total[np.minimum(place + reach + 1, table.shape[0])] - total[np.maximum(place - reach, 0)])
