"""The ranges that a scenario draws levels and variances from, estimated from all levels that a model holds."""

from __future__ import annotations

import numpy as np

from environments.world import Floats
from studies.diagnosis.blocks import Blocks
from studies.diagnosis.model import Fit
from studies.ranges import three_digits

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
    return {"mean_low": means[0], "mean_high": means[1], "variance_low": three_digits(low), "variance_high": high}


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
        return three_digits(low - beyond), three_digits(high + beyond)
    low, high = float(levels.min()), float(levels.max())
    beyond = (high - low) / max(levels.size - 1, 1)
    return three_digits(low - beyond), three_digits(high + beyond)
