"""Bootstrap intervals for skewed samples of regret, and the candidates that are indistinguishable from the best.

All candidates are evaluated on the same worlds, so comparisons resample worlds jointly.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.interval import CONFIDENCE_LEVEL, ERROR_RATE, Interval
from ravenlab.common.linear import multiply
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats

RESAMPLES = 2000
VALUE_RESAMPLES = 400  # of statistics that need the whole sample

MAX_RESAMPLED = 4000
"""Above this many replications, means of equal groups are resampled: faster, with the same skewness of the mean."""

CHUNK = 1_000_000  # numbers held in memory at a time while resampling
MIN_SPREAD = 0.1
"""Smallest standard deviation of a resample, relative to that of the sample. A resample that misses the few worlds that
differ has almost none; the floor keeps the interval finite."""


def mean_interval(sample: Floats, seed: int, level: float = CONFIDENCE_LEVEL) -> Interval:
    """Estimate a mean with its confidence interval by the studentized bootstrap.

    Regrets are skewed to the right. The interval mean ± 1.96 standard errors therefore misses the true mean too often
    on its upper side, and so does BCa; `docs/evidence/recommendations.md` shows measurements.

    >>> regret = mean_interval(np.random.default_rng(1).exponential(size=200), seed=0)
    >>> regret.mean - regret.low < regret.high - regret.mean
    True
    """
    mean = float(sample.mean())
    if sample.size < 2 or not sample.max() > sample.min():
        return Interval(mean, mean, mean, level=level)
    error = float(sample.std(ddof=1)) / sample.size**0.5
    low, high = np.quantile(_studentize(_group(sample), seed), [0.5 - level / 2, 0.5 + level / 2])
    return Interval(mean, mean - float(high) * error, mean - float(low) * error, level=level)


def level_interval(sample: Floats, seed: int, most: float = np.inf) -> Interval:
    """Estimate the mean of a quantity that is not a difference; if no value is negative, neither is the interval.

    >>> level_interval(np.array([1.0, 9.0]), seed=0).low
    0.0
    """
    return mean_interval(sample, seed).limited(0.0 if sample.min() >= 0.0 else -np.inf, most)


def paired_interval(first: Floats, second: Floats, seed: int) -> Interval:
    """Estimate the mean of first − second over the same worlds, with its 95 % interval.

    >>> paired_interval(np.array([2.0, 5.0, 3.0]), np.array([1.0, 4.0, 2.0]), seed=0)
    Interval(mean=1.0, low=1.0, high=1.0, level=0.95, of='difference')
    """
    return mean_interval(first - second, seed).as_difference()


def relative_shares(first: Floats, second: Floats) -> Floats:
    """Linearize mean(first) / mean(second) − 1 into one contribution per world, whose mean is that share.

    By the delta method, the contribution of a world is (first − ratio·second) / mean(second). Contributions from the
    same worlds can be added and subtracted, which gives intervals for sums and differences of ratios.

    >>> relative_shares(np.array([1.5, 3.0, 4.5]), np.array([1.0, 2.0, 3.0]))
    array([0.5, 0.5, 0.5])
    """
    ratio = float(first.mean() / second.mean())
    return np.asarray((first - ratio * second) / second.mean() + (ratio - 1.0))


def relative_interval(first: Floats, second: Floats, seed: int, level: float = CONFIDENCE_LEVEL) -> Interval:
    """Estimate mean(first) / mean(second) − 1 over the same worlds, with its interval.

    It is at least −1 if no value is negative.

    >>> relative_interval(np.array([1.5, 3.0, 4.5]), np.array([1.0, 2.0, 3.0]), seed=0).mean
    0.5
    """
    least = -1.0 if first.min() >= 0.0 else -np.inf
    return mean_interval(relative_shares(first, second), seed, level).as_difference().limited(least)


def relative_value_interval(
    first: Floats, second: Floats, seed: int, value: Callable[[Floats], Floats], level: float = CONFIDENCE_LEVEL
) -> Interval:
    """Estimate value(first) / value(second) − 1 for samples [C, R] of the same worlds, by resampling worlds.

    >>> worlds = np.random.default_rng(1).exponential(size=(4, 100))
    >>> relative_value_interval(2.0 * worlds, worlds, seed=0, value=np.median).mean
    1.0
    """
    rng = generator(seed, Stream.SELECTION, 0, "bootstrap")
    shares = np.empty(VALUE_RESAMPLES)
    for i in range(VALUE_RESAMPLES):
        drawn = rng.integers(0, first.shape[1], first.shape[1])
        shares[i] = float(value(first[:, drawn].ravel())) / float(value(second[:, drawn].ravel())) - 1.0
    low, high = np.quantile(shares, [0.5 - level / 2, 0.5 + level / 2])
    share = float(value(first.ravel())) / float(value(second.ravel())) - 1.0
    return Interval(share, float(low), float(high), level=level, of="difference")


def indistinguishable(samples: Floats, seed: int, value: Callable[[Floats], Floats] | None = None) -> NDArray[np.bool_]:
    """Mark the candidates [C] that are statistically indistinguishable from the best of samples [C, R] (lowest value).

    The best is chosen on the same worlds. Each candidate's distance from it is therefore compared with the largest
    studentized difference between *any* two remaining candidates over resampled worlds. Candidates beyond are removed
    and the test is repeated with the rest (a step-down procedure like Holm's that uses the correlation between
    candidates). With probability 1 − `ERROR_RATE`, no candidate that is as good as the best is removed.

    Args:
        samples: Regrets by candidate and world.
        seed: Seed of the resampling.
        value: Maps samples (last axis) to the compared statistic; by default the mean.

    >>> worlds = np.random.default_rng(1).normal(size=500)
    >>> indistinguishable(np.stack([worlds, worlds + 1e-9 * worlds**3, worlds + 1.0]), seed=0)
    array([ True,  True, False])
    """
    values = samples.mean(axis=-1) if value is None else value(samples)
    best = int(np.argmin(values))
    if value is None:
        differences = _group(samples - samples[best])
        deviations = _resample_means(differences, seed) - differences.mean(axis=-1)
    else:
        draws = _draw_indices(samples.shape[1], samples.shape[0], seed)  # of the worlds of all candidates
        deviations = np.concatenate([value(samples[:, indices]).T for indices in draws]) - values
    return step_down(values, deviations)


def step_down(values: Floats, deviations: Floats) -> NDArray[np.bool_]:
    """Apply the step-down test of `indistinguishable` to values [C] and their deviations over resamples [B, C].

    >>> deviations = np.random.default_rng(1).normal(size=(500, 3))
    >>> step_down(np.array([1.0, 2.0, 9.0]), deviations)
    array([ True,  True, False])
    """
    best = int(np.argmin(values))
    errors = np.stack([(deviations - column[:, None]).std(axis=0) for column in deviations.T])
    weights = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0.0)
    distance = values - values[best]
    statistic = np.where(errors[best] > 0.0, distance * weights[best], np.where(distance > 0.0, np.inf, 0.0))
    kept = np.ones(len(values), dtype=np.bool_)
    while True:
        largest = _largest_difference(deviations[:, kept], weights[np.ix_(kept, kept)])
        removed = kept & (statistic > np.quantile(largest, 1.0 - ERROR_RATE))
        if not removed.any():
            return kept
        kept &= ~removed


def order_best_first(values: Floats, mask: NDArray[np.bool_]) -> tuple[int, list[int]]:
    """Return the index of the lowest value, and the indices in the mask by increasing value.

    >>> order_best_first(np.array([3.0, 1.0, 2.0]), np.array([False, True, True]))
    (1, [1, 2])
    """
    return int(np.argmin(values)), [int(i) for i in np.argsort(values, kind="stable") if mask[i]]


def _largest_difference(deviations: Floats, weights: Floats) -> Floats:
    """Return the largest studentized difference between two candidates in each resample."""
    out = np.zeros(deviations.shape[0])
    for c in range(deviations.shape[1]):
        np.maximum(out, ((deviations[:, c, None] - deviations) * weights[c]).max(axis=1), out=out)
    return out


def _group(samples: Floats) -> Floats:
    """Replace a long sample by the means of equal groups; a remainder that fills no group is dropped."""
    size = -(-samples.shape[-1] // MAX_RESAMPLED)
    if size == 1:
        return samples
    groups = samples.shape[-1] // size
    return np.asarray(samples[..., : groups * size].reshape(*samples.shape[:-1], groups, size).mean(axis=-1))


def _draw_indices(count: int, width: int, seed: int) -> Iterator[NDArray[np.integer]]:
    """Yield resampled replications [chunk, count]; `width` is the amount of numbers gathered per replication."""
    rng = generator(seed, Stream.REPORT, 0, "bootstrap")
    rows = max(1, CHUNK // (count * width))
    dtype = np.uint16 if count <= 2**16 else np.int64
    for first in range(0, RESAMPLES, rows):
        yield rng.integers(0, count, (min(rows, RESAMPLES - first), count), dtype=dtype)


def _studentize(sample: Floats, seed: int) -> Floats:
    """Compute (mean* − mean) / error* over resamples."""
    count = sample.size
    standardized = (sample - sample.mean()) / sample.std(ddof=1)
    out = []
    for indices in _draw_indices(count, 1, seed):
        drawn = standardized[indices]
        means = drawn.mean(axis=1)
        squares = np.einsum("ij,ij->i", drawn, drawn) / count - means**2
        spread = np.sqrt(np.maximum(squares * count / (count - 1), MIN_SPREAD**2))
        out.append(means * count**0.5 / spread)
    return np.concatenate(out)


def _resample_means(samples: Floats, seed: int) -> Floats:
    """Compute resampled means [resamples, C] as a product of multiplicities and samples."""
    count = samples.shape[1]
    out = []
    for indices in _draw_indices(count, 1, seed):
        rows = indices.shape[0]
        flat = (indices + np.arange(rows)[:, None] * count).ravel()
        counts = np.bincount(flat, minlength=rows * count).reshape(rows, count).astype(np.float64)
        out.append(multiply(counts, samples.T) / count)
    return np.concatenate(out)
