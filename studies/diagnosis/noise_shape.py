"""Which noise rewards have around their means: the standardised shape under which they are most likely."""

from __future__ import annotations

import math

import numpy as np

from environments.noise import DEFAULT_NOISE, STUDENT_DEGREES
from environments.world import Floats
from studies.diagnosis.blocks import Blocks
from studies.diagnosis.model import Fit

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
