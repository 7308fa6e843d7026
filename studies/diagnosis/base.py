"""The ranges that a scenario draws levels and variances from, estimated from all levels that a model holds."""

from __future__ import annotations

import math

import numpy as np

from environments.noise import DEFAULT_NOISE, STUDENT_DEGREES
from environments.world import Floats
from studies.diagnosis.blocks import Blocks
from studies.diagnosis.model import Fit
from studies.spec.space import round_to_three_digits

FRESH = ("gradual-drift", "localized-jump", "blips")
"""Kinds whose new levels are draws from the same ranges."""
MANY, FAR = 40, 0.025
"""Levels from which on so many at either end are left out."""
STILL = 1e-3
"""Smallest variance, as a share of the mean one."""


def base_ranges(blocks: Blocks, fitted: Fit) -> dict[str, float]:
    """mean_low, mean_high, variance_low and variance_high.

    >>> from studies.diagnosis.model import fit
    >>> blocks = Blocks.of(np.random.default_rng(0).normal(size=(2000, 2)))
    >>> sorted(base_ranges(blocks, fit(blocks, [])))
    ['mean_high', 'mean_low', 'variance_high', 'variance_low']
    """
    means = _range(_levels(fitted, fitted.base_mean, fitted.mean_weights, "mean_used"))
    if blocks.binary:
        return {"mean_low": max(0.0, means[0]), "mean_high": min(1.0, means[1])}
    levels = _levels(fitted, fitted.base_variance, fitted.variance_weights, "variance_used")
    levels = levels[levels > 0] if (levels > 0).any() else blocks.noise.mean(axis=0)
    # Rewards that stand still for a while have no variance to speak of, but a scenario needs one.
    levels = np.maximum(levels, STILL * float(levels.mean()))
    low, high = _range(levels)
    low = max(low, 0.5 * float(levels.min()))
    return {
        "mean_low": means[0],
        "mean_high": means[1],
        "variance_low": round_to_three_digits(low),
        "variance_high": high,
    }


def _levels(fitted: Fit, base: Floats, weights: list[Floats], used: str) -> Floats:
    """The base levels of the arms, and every level that a jump, a blip or a gradual drift leads to."""
    out = [base]
    for term, weight in zip(fitted.terms, weights, strict=True):
        if term.kind in FRESH:
            new = base + (np.cumsum(weight, axis=0) if term.kind == "localized-jump" else weight)
            out.append(new[getattr(term, used)])
    return np.concatenate([each.ravel() for each in out])


def _range(levels: Floats) -> tuple[float, float]:
    """Ends of a uniform draw: a little beyond the extremes, the less the more draws there are.

    Of many levels a few far ones are left out, as one odd arm would set the range for all.
    """
    if levels.size >= MANY:
        low, high = (float(end) for end in np.quantile(levels, [FAR, 1.0 - FAR]))
        beyond = FAR / (1.0 - 2.0 * FAR) * (high - low)
        return round_to_three_digits(low - beyond), round_to_three_digits(high + beyond)
    low, high = float(levels.min()), float(levels.max())
    beyond = (high - low) / max(levels.size - 1, 1)
    return round_to_three_digits(low - beyond), round_to_three_digits(high + beyond)


MOST_ROWS = 4000
"""That are looked at."""
FARTHEST = 10.0
"""Standard deviations: what lies beyond says no more of the shape."""
OUTSIDE = -100.0
"""Log-density of what a uniform noise can't be; the variance is only estimated, so a little is forgiven."""


def noise_shape(blocks: Blocks, fitted: Fit) -> str:
    """The name of a noise; normal unless another is clearly likelier.

    >>> from studies.diagnosis.model import fit
    >>> blocks = Blocks.of(np.random.default_rng(0).laplace(size=(2000, 2)))
    >>> noise_shape(blocks, fit(blocks, []))
    'laplace'
    """
    if blocks.binary:
        return "bernoulli"
    rows = np.linspace(0, blocks.rows - 1, min(blocks.rows, MOST_ROWS)).astype(np.int64)
    block = np.searchsorted(blocks.starts, rows, side="right") - 1
    z = np.clip(fitted.residuals[rows] / np.sqrt(fitted.variance[block]), -FARTHEST, FARTHEST)
    of_row = {name: _mean_over_arms(density) for name, density in _log_densities(z).items()}
    normal = of_row.pop(DEFAULT_NOISE)
    best = max(of_row, key=lambda name: float(of_row[name].mean()))
    ahead = of_row[best] - normal
    error = float(ahead.std()) / math.sqrt(ahead.size)
    return best if float(ahead.mean()) > 3.0 * error else DEFAULT_NOISE


def _mean_over_arms(table: Floats) -> Floats:
    """One value a row: arms may share their noise, so that rows are counted and not cells."""
    seen = ~np.isnan(table)
    rows = seen.any(axis=1)
    return np.asarray(np.where(seen, table, 0.0).sum(axis=1)[rows] / seen.sum(axis=1)[rows])


def _log_densities(z: Floats) -> dict[str, Floats]:
    """Of the standardised noises that a scenario knows (mean 0, variance 1)."""
    size, width = np.abs(z), math.sqrt(3.0) / math.pi
    v = STUDENT_DEGREES
    constant = math.lgamma((v + 1) / 2) - math.lgamma(v / 2) - 0.5 * math.log((v - 2) * math.pi)
    inside = np.where(size <= math.sqrt(3.0) * 1.02, -math.log(2.0 * math.sqrt(3.0)), OUTSIDE)
    return {
        "normal": -0.5 * z**2 - 0.5 * math.log(2.0 * math.pi),
        "laplace": -math.sqrt(2.0) * size - 0.5 * math.log(2.0),
        "logistic": -size / width - math.log(width) - 2.0 * np.log1p(np.exp(-size / width)),
        "uniform": np.where(np.isnan(z), np.nan, inside),
        "student-t": constant - (v + 1) / 2 * np.log1p(z**2 / (v - 2)),
    }
