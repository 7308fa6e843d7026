"""What a sample of regrets lets one say: intervals that hold though it is skewed, and who is as good as the best.

All candidates play the same worlds, so whatever compares two of them resamples worlds, both at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from environments.streams import Stream, generator
from environments.world import Floats

RESAMPLES = 2000

LEVEL = 0.05
"""How often, at most, someone who is as good as the best may be told from it."""

MAX_RESAMPLED = 4000
"""Above so many replications means of equal groups are resampled: skewness over root n is the same, the time is not."""

CHUNK = 1_000_000
"""Numbers held at a time while resampling."""

FLOOR = 0.1
"""A resample that hits hardly any of the few differing worlds has next to no spread; it counts with this share of the
sample's own, so that an interval is wide, but never infinite."""


def mean_interval(sample: Floats, seed: int, level: float = 0.95) -> tuple[float, float, float]:
    """A mean with its interval, by the studentised bootstrap.

    Regrets are skewed to the right: the plain interval mean ± 1.96 standard errors misses the true mean on
    its upper side too often, and so does BCa. `docs/recommendations.md` has the measurement.

    >>> mean, low, high = mean_interval(np.random.default_rng(1).exponential(size=200), seed=0)
    >>> bool(mean - low < high - mean)
    True
    """
    mean = float(sample.mean())
    if sample.size < 2 or not sample.max() > sample.min():
        return mean, mean, mean
    error = float(sample.std(ddof=1)) / sample.size**0.5
    low, high = np.quantile(_studentised(_grouped(sample), seed), [0.5 - level / 2, 0.5 + level / 2])
    return mean, mean - float(high) * error, mean - float(low) * error


def paired_interval(first: Floats, second: Floats, seed: int) -> tuple[float, float, float]:
    """The mean of first − second, world by world, with its interval.

    >>> paired_interval(np.array([2.0, 5.0, 3.0]), np.array([1.0, 4.0, 2.0]), seed=0)
    (1.0, 1.0, 1.0)
    """
    return mean_interval(first - second, seed)


def relative_shares(first: Floats, second: Floats) -> Floats:
    """What each world adds to the share by which the mean of first lies above that of second; its mean is that share.

    The ratio of two means is as good as linear where its error is small: in each world what counts is
    first − ratio·second, over the mean of second. Shares of the same worlds may be added and subtracted, which
    gives sums and differences of ratios their intervals.

    >>> relative_shares(np.array([1.5, 3.0, 4.5]), np.array([1.0, 2.0, 3.0]))
    array([0.5, 0.5, 0.5])
    """
    ratio = float(first.mean() / second.mean())
    return np.asarray((first - ratio * second) / second.mean() + (ratio - 1.0))


def relative_interval(first: Floats, second: Floats, seed: int, level: float = 0.95) -> tuple[float, float, float]:
    """By what share the mean of first lies above that of second, both in the same worlds, with its interval.

    >>> relative_interval(np.array([1.5, 3.0, 4.5]), np.array([1.0, 2.0, 3.0]), seed=0)
    (0.5, 0.5, 0.5)
    """
    return mean_interval(relative_shares(first, second), seed, level)


def indistinguishable(samples: Floats, seed: int, value: Callable[[Floats], Floats] | None = None) -> NDArray[np.bool_]:
    """Which candidates [C] can't be told from the best of samples [C, R]; less is better.

    `value` turns a sample (last axis) into what is compared, the mean if not given. The best is the best on
    these very worlds, so a rival is held against the largest studentised difference between *any* two of those
    still in question, over resamples of worlds; who is beyond goes, and the rest is asked again (a step-down, as
    Holm's, that knows how candidates go together). With probability 1 − `LEVEL` nobody goes who is as good as the best.

    >>> worlds = np.random.default_rng(1).normal(size=500)
    >>> indistinguishable(np.stack([worlds, worlds + 1e-9 * worlds**3, worlds + 1.0]), seed=0)
    array([ True,  True, False])
    """
    found = samples.mean(axis=-1) if value is None else value(samples)
    best = int(np.argmin(found))
    if value is None:
        differences = _grouped(samples - samples[best])
        drawn = _resampled_means(differences, seed) - differences.mean(axis=-1)
    else:
        drawn = _resampled(samples, seed, value) - found
    return step_down(found, drawn)


def step_down(found: Floats, drawn: Floats) -> NDArray[np.bool_]:
    """The step-down of `indistinguishable` for values found [C] and how they deviate over resamples [B, C].

    >>> drawn = np.random.default_rng(1).normal(size=(500, 3))
    >>> as_good_as_the_best(np.array([1.0, 2.0, 9.0]), drawn)
    array([ True,  True, False])
    """
    best = int(np.argmin(found))
    errors = np.stack([(drawn - one[:, None]).std(axis=0) for one in drawn.T])
    weights = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0.0)
    behind = found - found[best]
    statistic = np.where(errors[best] > 0.0, behind * weights[best], np.where(behind > 0.0, np.inf, 0.0))
    alive = np.ones(len(found), dtype=np.bool_)
    while True:
        going = alive & (statistic > np.quantile(_largest(drawn[:, alive], weights[np.ix_(alive, alive)]), 1.0 - LEVEL))
        if not going.any():
            return alive
        alive &= ~going


def order_best_first(found: Floats, mask: NDArray[np.bool_]) -> tuple[int, list[int]]:
    """The best of some values [C], less being better, and all in the mask, best first, ties by place.

    >>> best_first(np.array([3.0, 1.0, 2.0]), np.array([False, True, True]))
    (1, [1, 2])
    """
    return int(np.argmin(found)), [int(i) for i in np.argsort(found, kind="stable") if mask[i]]


def _largest(drawn: Floats, weights: Floats) -> Floats:
    """Of each resample, the largest studentised difference between two candidates."""
    out = np.zeros(drawn.shape[0])
    for c in range(drawn.shape[1]):
        np.maximum(out, ((drawn[:, c, None] - drawn) * weights[c]).max(axis=1), out=out)
    return out


def _grouped(samples: Floats) -> Floats:
    """The sample, or means of equal groups of it where it is long; a rest that fills no group is left out."""
    size = -(-samples.shape[-1] // MAX_RESAMPLED)
    if size == 1:
        return samples
    groups = samples.shape[-1] // size
    return np.asarray(samples[..., : groups * size].reshape(*samples.shape[:-1], groups, size).mean(axis=-1))


def _draws(count: int, width: int, seed: int) -> Iterator[NDArray[np.integer]]:
    """Resampled replications [chunk, count]; `width` is how many numbers each of them brings along."""
    rng = generator(seed, Stream.REPORT, 0, "bootstrap")
    rows = max(1, CHUNK // (count * width))
    kind = np.uint16 if count <= 2**16 else np.int64
    for first in range(0, RESAMPLES, rows):
        yield rng.integers(0, count, (min(rows, RESAMPLES - first), count), dtype=kind)


def _studentised(sample: Floats, seed: int) -> Floats:
    """(mean* − mean) / error* over resamples."""
    count = sample.size
    units = (sample - sample.mean()) / sample.std(ddof=1)
    out = []
    for places in _draws(count, 1, seed):
        drawn = units[places]
        means = drawn.mean(axis=1)
        squares = np.einsum("ij,ij->i", drawn, drawn) / count - means**2
        spread = np.sqrt(np.maximum(squares * count / (count - 1), FLOOR**2))
        out.append(means * count**0.5 / spread)
    return np.concatenate(out)


def _resampled(samples: Floats, seed: int, value: Callable[[Floats], Floats]) -> Floats:
    """The values of all candidates [resamples, C], each on the same resampled worlds."""
    count = samples.shape[1]
    return np.concatenate([value(samples[:, places]).T for places in _draws(count, samples.shape[0], seed)])


def _resampled_means(samples: Floats, seed: int) -> Floats:
    """The same for means: how often each world was drawn, times what it gave."""
    count = samples.shape[1]
    out = []
    for places in _draws(count, 1, seed):
        rows = places.shape[0]
        flat = (places + np.arange(rows)[:, None] * count).ravel()
        out.append(np.bincount(flat, minlength=rows * count).reshape(rows, count) @ samples.T / count)
    return np.concatenate(out)
