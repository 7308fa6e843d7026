"""How long a series remembers: the block length of Politis and White (2004), with their flat-top window."""

from __future__ import annotations

import numpy as np

from environments.world import Floats

LONGER = 2.5
"""How many times as long as the length that is best for the variance a block is."""


def best_block(centred: Floats, longest: int) -> tuple[float, float]:
    """The length of a block that is best for the variance of a mean, and the variance of a single value.

    >>> series = np.random.default_rng(1).normal(size=500)
    >>> bool(best_block(series - series.mean(), 125)[0] < 5)
    True
    """
    n = centred.size
    covariances = _covariances(centred, longest)
    cut = _cut(covariances / covariances[0], n)
    lags = np.arange(min(2 * cut, covariances.size - 1) + 1)
    weights = np.clip(2.0 * (1.0 - lags / max(1, 2 * cut)), 0.0, 1.0) * np.where(lags == 0, 1.0, 2.0)
    total = float(weights @ covariances[lags])
    slope = float(weights @ (lags * covariances[lags]))
    best = (1.5 * (slope / total) ** 2 * n) ** (1.0 / 3.0) if total > 0.0 else 1.0
    return best, float(covariances[0])


def _covariances(centred: Floats, longest: int) -> Floats:
    """At lags 0 … longest, each a sum over n."""
    size = 1 << int(2 * centred.size - 1).bit_length()
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    return np.asarray(np.fft.irfft(power, size)[: longest + 1] / centred.size)


def _cut(correlations: Floats, n: int) -> int:
    """The lag after which several correlations in a row are no larger than those of independent rows."""
    run = max(5, round(np.sqrt(np.log10(n))))
    small = np.abs(correlations[1:]) < 2.0 * np.sqrt(np.log10(n) / n)
    for lag in range(small.size):
        if small[lag : lag + run].all():
            return lag
    return int(small.size)
