"""The regret surface of one setting, fitted to the trials of its search.

A trial's mean regret is skewed: a few worlds that lose the best arm carry much of it, and more of it where exploration
is low. The mean of logarithms would therefore prefer too little exploration. The surface is the logarithm of the
expected regret: a Gaussian process with a gamma likelihood, whose mean is unbiased whatever the skewness.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.studies.laws.law import Coordinate

LENGTHS = {"alpha0": 1.4, "beta0": 8.0, "epsilon": 12.0, "tau": 3.0, "gamma": 3.0}
"""Lengths of the covariance, in units of the logarithm of a parameter; chosen by predicting trials left out."""

AMPLITUDE = 1.0  # standard deviation of the log regret over the search range
UNKNOWN = 0.9  # far from all trials, the regret is this quantile of the trials
WORST = 5.0  # trials above this multiple of the lowest regret count as that
ROUNDS = 4  # of estimating the shape of the gamma distribution
STEPS = 30  # of Newton's method
SHAPES = (4.0, 800.0)  # bounds of the shape: standard deviations of a trial of 50 % and 3.5 %


@dataclass(frozen=True)
class LawSurface:
    """The logarithm of the expected regret over the transformed parameters of a policy."""

    points: Floats
    """Transformed parameters of the trials [n, d], divided by their lengths."""
    weights: Floats
    offset: float
    lengths: Floats
    lowest: float
    """The lowest value at a trial."""
    best: Floats
    """The trial with this value [d], divided by the lengths."""
    noise: float
    """Relative standard deviation of a trial."""


class SurfaceStack:
    """The surfaces of several settings, evaluated at one point each."""

    def __init__(self, surfaces: Sequence[LawSurface]) -> None:
        longest = max(len(surface.points) for surface in surfaces)
        self.points = np.zeros((len(surfaces), longest, surfaces[0].points.shape[1]))
        self.weights = np.zeros((len(surfaces), longest))  # zero where a setting has fewer trials
        for i, surface in enumerate(surfaces):
            self.points[i, : len(surface.points)] = surface.points
            self.weights[i, : len(surface.points)] = AMPLITUDE**2 * surface.weights
        self.lengths = surfaces[0].lengths
        self.offsets = np.array([surface.offset - surface.lowest for surface in surfaces])

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Predict the log regret at points [settings, d] above the lowest one of each setting, and the gradients."""
        steps = (points / self.lengths)[:, None] - self.points
        distance = np.sqrt(5.0 * np.einsum("snd,snd->sn", steps, steps))
        decay = np.exp(-distance) * self.weights
        values = self.offsets + np.einsum("sn,sn->s", 1.0 + distance + distance**2 / 3.0, decay)
        return values, np.einsum("sn,snd->sd", -(5.0 / 3.0) * (1.0 + distance) * decay, steps) / self.lengths


def fit_law_surface(
    coordinates: Sequence[Coordinate], trials: Mapping[str, Sequence[float]], horizon: int, scale: float
) -> LawSurface:
    """Fit the surface of a setting to its trials, given as columns."""
    columns = [
        [coordinate.transform(value, horizon, scale) for value in trials[coordinate.name]] for coordinate in coordinates
    ]
    lengths = np.array([LENGTHS[coordinate.name] for coordinate in coordinates])
    points = np.array(columns).T / lengths
    regrets = np.array(trials["regret"], dtype=np.float64)
    regrets = np.minimum(regrets, WORST * regrets.min())
    offset = float(np.log(np.quantile(regrets, UNKNOWN)))
    covariance = _covariance(points)
    shape = 400.0
    fitted = np.log(regrets)
    weights = np.zeros(len(regrets))
    for _ in range(ROUNDS):
        fitted, weights, freedom = _fit_gamma(covariance, regrets, offset, shape, fitted)
        ratio = regrets / np.exp(fitted)
        deviance = 2.0 * float(np.sum(ratio - 1.0 - np.log(ratio)))
        shape = float(np.clip(max(1.0, len(regrets) - freedom) / deviance, *SHAPES))
    lowest = int(np.argmin(fitted))
    return LawSurface(points, weights, offset, lengths, float(fitted[lowest]), points[lowest], shape**-0.5)


def _fit_gamma(
    covariance: Floats, regrets: Floats, offset: float, shape: float, start: Floats
) -> tuple[Floats, Floats, float]:
    """Return the most probable log regrets, their weights, and the degrees of freedom, by Newton's method."""
    f = start
    identity = np.eye(len(regrets))
    weights = np.zeros(len(regrets))
    freedom = 0.0
    for _ in range(STEPS):
        ratio = np.minimum(regrets * np.exp(-f), 10.0)
        curvature = np.sqrt(shape * ratio)
        inner = identity + curvature[:, None] * covariance * curvature[None]
        target = shape * ratio * (f - offset) + shape * (ratio - 1.0)
        solved = np.linalg.solve(inner, curvature * (covariance @ target))
        weights = target - curvature * solved
        new = offset + covariance @ weights
        freedom = len(regrets) - float(np.trace(np.linalg.inv(inner)))
        change = float(np.abs(new - f).max())
        f = new
        if change < 1e-8:
            break
    return f, weights, freedom


def _covariance(points: Floats) -> Floats:
    steps = points[:, None] - points[None]
    distance = np.sqrt(5.0 * np.einsum("nmd,nmd->nm", steps, steps))
    return np.asarray(AMPLITUDE**2 * (1.0 + distance + distance**2 / 3.0) * np.exp(-distance))
