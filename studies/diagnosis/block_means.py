"""A trace divided into blocks of rows, with the mean, count and noise variance of each arm in each block.

The diagnosis uses a few hundred block means instead of thousands of rows. Block means are nearly normal for rewards of
any distribution, and comparing neighboring blocks separates autocorrelation from change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ravenlab.environments.world import Floats, Ints

Bools = NDArray[np.bool_]

MAX_BLOCKS = 200
MIN_ROWS = 4  # minimal rows per block
MIN_OBSERVATIONS = 8
"""Desired observations of an arm per block; a log with one arm per step gets longer blocks."""
POOLED_FREEDOM = 30
"""Degrees of freedom of each noise estimate, so that a single spike is not taken for a change."""
MAX_SPIKE = 4.0  # standard deviations by which the variance of a block may exceed those of both neighbors
PRIOR_FREEDOM = 10
"""Degrees of freedom by which an arm's overall noise is weighted in the estimate for a block."""
MEDIAN_CHI2 = 0.454936  # median of χ² with one degree of freedom


@dataclass(frozen=True)
class TraceBlocks:
    """The rows `values` [N, K], NaN where no reward was observed, and their blocks.

    >>> blocks = TraceBlocks.of(np.random.default_rng(0).normal(size=(1000, 3)))
    >>> blocks.means.shape, blocks.size
    ((200, 3), 5.0)
    """

    values: Floats
    starts: Ints
    """First row of each block, followed by N."""
    counts: Floats = field(repr=False)
    means: Floats = field(repr=False)
    """[B, K], 0 without observations."""
    noise: Floats = field(repr=False)
    """[B, K] variance of rewards around the block mean."""

    @staticmethod
    def of(values: Floats) -> TraceBlocks:
        """Divide the rows so that the arm with most observations is observed several times in most blocks.

        In a log this is the arm that the logging policy prefers; its short changes would disappear in longer blocks.
        """
        rows = values.shape[0]
        observed = ~np.isnan(values)
        rate = max(float(observed.sum(axis=0).max()) / rows, 1e-9)
        by_rate = max(10, rows * rate // (MIN_OBSERVATIONS if rate < 0.9 else 1))
        number = int(min(MAX_BLOCKS, rows // MIN_ROWS, by_rate))
        starts = np.linspace(0, rows, max(1, number) + 1).round().astype(np.int64)
        filled = np.where(observed, values, 0.0)
        counts = np.add.reduceat(observed.astype(np.float64), starts[:-1], axis=0)
        means = np.add.reduceat(filled, starts[:-1], axis=0) / np.maximum(counts, 1.0)
        deviations = np.where(observed, values - np.repeat(means, np.diff(starts), axis=0), 0.0)
        squares = np.add.reduceat(deviations**2, starts[:-1], axis=0)
        noise = _pool_noise(squares, np.maximum(counts - 1.0, 0.0))
        blocks = TraceBlocks(values, starts, counts, means, noise)
        if blocks.binary:
            # The variance of a block of clicks depends on its mean: weights by blocks would favor low means.
            noise[:] = squares.sum(axis=0) / np.maximum((counts - 1.0).clip(0.0).sum(axis=0), 1.0)
            noise[:] = np.maximum(noise, 1e-6 * (float(noise.mean()) or 1.0))
        for k in np.flatnonzero(~blocks.has_variances):
            steps = np.diff(values[observed[:, k], k])
            if steps.size and steps.any():
                noise[:, k] = 0.5 * (steps**2).mean()
        return blocks

    def without(self, columns: Floats, used: Bools) -> TraceBlocks:
        """Return the blocks without the rows at which a column [N, p] that an arm uses [p, K] is not 0."""
        return TraceBlocks.of(np.where((columns != 0.0) @ used, np.nan, self.values))

    @property
    def rows(self) -> int:
        """Number of rows N."""
        return int(self.values.shape[0])

    @property
    def arms(self) -> int:
        """Number of arms K."""
        return int(self.values.shape[1])

    @property
    def number(self) -> int:
        """Number of blocks B."""
        return int(self.starts.size - 1)

    @property
    def size(self) -> float:
        """Mean number of rows per block."""
        return self.rows / self.number

    @cached_property
    def observed(self) -> Bools:
        """[N, K] whether a reward was observed."""
        return ~np.isnan(self.values)

    @cached_property
    def observations(self) -> Floats:
        """[K] observations of each arm."""
        return np.asarray(self.counts.sum(axis=0))

    @cached_property
    def has_variances(self) -> Bools:
        """[K] whether an arm is observed often enough in most blocks to tell its variance there."""
        return np.asarray(np.median(self.counts, axis=0) >= MIN_ROWS)

    @cached_property
    def time(self) -> Floats:
        """Steps 1 to N as shares of N."""
        return np.arange(1, self.rows + 1) / self.rows

    @cached_property
    def binary(self) -> bool:
        """Whether all rewards are 0 or 1; the variance is then a function of the mean."""
        observed = self.values[~np.isnan(self.values)]
        return bool(np.isin(observed, (0.0, 1.0)).all())

    def average(self, columns: Floats) -> Floats:
        """Average columns [N, p] over blocks: [B, p]."""
        return np.asarray(np.add.reduceat(columns, self.starts[:-1], axis=0) / np.diff(self.starts)[:, None])

    def variance_within(self, table: Floats) -> Floats:
        """Compute variances [B, K] around block means of a table [N, K], NaN without observation."""
        filled = np.where(self.observed, table, 0.0)
        sums = np.add.reduceat(filled, self.starts[:-1], axis=0)
        squares = np.add.reduceat(filled**2, self.starts[:-1], axis=0)
        freedom = np.maximum(self.counts - 1.0, 1.0)
        variances = np.maximum(squares - sums**2 / np.maximum(self.counts, 1.0), 0.0) / freedom
        # Limit spikes: no block may exceed both neighbors by much.
        padded = np.pad(variances, ((1, 1), (0, 0)), mode="reflect") if self.number > 1 else np.vstack([variances] * 3)
        limits = np.maximum(padded[:-2], padded[2:]) * np.exp(MAX_SPIKE * np.sqrt(2.0 / freedom))
        return np.asarray(np.minimum(variances, limits))


def neighbor_dispersion(squares: Floats, expected: Floats) -> Floats:
    """Estimate by arm the ratio of squared differences of neighboring blocks [B − 1, K] to their expectation.

    Most neighbors differ by noise only, so the median is robust to changes. A ratio above 1 indicates autocorrelation.
    """
    ratio = np.divide(squares, expected, out=np.full_like(squares, np.nan), where=expected > 0)
    dispersion = np.ones(squares.shape[1])
    for k in range(squares.shape[1]):
        finite = ratio[:, k][np.isfinite(ratio[:, k])]
        if finite.size >= 5:
            dispersion[k] = np.median(finite) / MEDIAN_CHI2
    return dispersion


def _pool_noise(squares: Floats, freedom: Floats) -> Floats:
    """Estimate the noise variance of each block, pooled over neighbors for enough degrees of freedom."""
    overall = squares.sum(axis=0) / np.maximum(freedom.sum(axis=0), 1.0)
    fallback = float(overall.mean()) or 1.0
    overall = np.maximum(overall, 1e-6 * fallback)
    typical = np.maximum(np.median(freedom, axis=0), 0.5)
    reach = np.ceil(POOLED_FREEDOM / typical).astype(np.int64) // 2
    pooled = _window_sums(squares, reach)
    degrees = _window_sums(freedom, reach)
    return np.asarray((pooled + PRIOR_FREEDOM * overall) / (degrees + PRIOR_FREEDOM))


def _window_sums(table: Floats, reach: Ints) -> Floats:
    """Sum by arm over each block and `reach` [K] blocks on either side."""
    total = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
    index = np.arange(table.shape[0])[:, None]
    last = np.minimum(index + reach + 1, table.shape[0])
    first = np.maximum(index - reach, 0)
    return np.asarray(np.take_along_axis(total, last, axis=0) - np.take_along_axis(total, first, axis=0))
