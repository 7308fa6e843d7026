"""A Gaussian process that predicts the objective between the trials of a search.

The covariance is Matérn's with ν = 5/2 and one length per parameter. It is approximated by its values at a few support
points, so that a fitted process consists of about a thousand numbers, whatever the number of trials. They are
rounded when the process is made: a program that reads them as decimal text predicts exactly the same values.
"""

import math
from dataclasses import dataclass

import numpy as np

from ravenlab.environments.world import Floats

SUPPORTS = 40  # support points
DIGITS = 7  # significant digits of every number
SMALLEST_EIGENVALUE = 1e-4  # relative to the largest; smaller directions are left out
TYPICAL_LENGTH = 0.5  # of the search range; lengths far from it need evidence
ITERATIONS = 40


@dataclass(frozen=True)
class GaussianProcess:
    """A fitted process of points in the unit cube. Predictions are logarithms if `logarithmic`."""

    lengths: Floats
    supports: Floats
    projection: Floats
    """Maps covariances with the support points to independent features [supports, features]."""
    weights: Floats
    covariance: Floats
    """Covariance of the weights [features, features]."""
    offset: float
    amplitude: float
    """Standard deviation far from all trials."""
    noise: float
    """Standard deviation of a trial around the smooth surface."""
    logarithmic: bool
    error: float
    """Median error when each trial is predicted from all others: relative if `logarithmic`, otherwise absolute."""

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Predict the value at points [n, d] and the standard deviation of a trial there.

        Both are on the scale of the logarithm if `logarithmic`.
        """
        features = np.einsum("nm,mr->nr", _covariance(points, self.supports, self.lengths), self.projection)
        mean = self.offset + np.einsum("nr,r->n", features, self.weights)
        unexplained = np.maximum(1.0 - np.einsum("nr,nr->n", features, features), 0.0)
        variance = np.einsum("nr,rs,ns->n", features, self.covariance, features)
        return mean, np.sqrt(variance + self.amplitude**2 * unexplained + self.noise**2)


def fit_gaussian_process(points: Floats, values: Floats) -> GaussianProcess:
    """Fit a process to values [n] at points [n, d] in the unit cube; to their logarithms if all are positive.

    >>> rng = np.random.default_rng(1)
    >>> points = rng.uniform(0, 1, (100, 2))
    >>> values = (1 + (points[:, 0] - 0.5) ** 2) * rng.lognormal(0, 0.01, 100)
    >>> process = fit_gaussian_process(points, values)
    >>> mean, deviation = process.predict(np.array([[0.5, 0.5]]))
    >>> bool(abs(mean[0]) < 0.02), bool(0.005 < deviation[0] < 0.02), process.error < 0.015
    (True, True, True)
    """
    from scipy.optimize import minimize

    logarithmic = bool((values > 0.0).all())
    target = np.log(values) if logarithmic else values
    offset = float(target.mean())
    spread = float(target.std()) or 1.0
    target = (target - offset) / spread
    supports = _choose_supports(points)
    dimension = points.shape[1]
    start = np.log([*[TYPICAL_LENGTH] * dimension, 0.05, 1.0])
    bounds = [*[(0.05, 20.0)] * dimension, (1e-5, 1.0), (0.01, 100.0)]
    best = minimize(
        _negative_log_evidence,
        start,
        args=(points, target, supports),
        method="L-BFGS-B",
        bounds=np.log(bounds),
        options={"maxiter": ITERATIONS},
    ).x
    lengths = _round(np.exp(best[:dimension]))
    noise = math.exp(best[-2] / 2)
    amplitude = math.exp(best[-1] / 2)
    supports = _round(supports)
    eigenvalues, vectors = np.linalg.eigh(_covariance(supports, supports, lengths))
    kept = eigenvalues > SMALLEST_EIGENVALUE * eigenvalues[-1]
    projection = _round(vectors[:, kept] / np.sqrt(eigenvalues[kept]))
    features = amplitude * _covariance(points, supports, lengths) @ projection
    inverse = np.linalg.inv(features.T @ features + noise**2 * np.eye(features.shape[1]))
    weights = inverse @ features.T @ target
    leverage = np.einsum("nr,rs,ns->n", features, inverse, features)
    left_out = spread * (target - features @ weights) / (1.0 - leverage)
    errors = np.abs(np.expm1(-left_out)) if logarithmic else np.abs(left_out)
    return GaussianProcess(
        lengths=lengths,
        supports=supports,
        projection=projection,
        weights=_round(spread * amplitude * weights),
        covariance=_round((spread * amplitude * noise) ** 2 * (inverse + inverse.T) / 2.0),
        offset=_round_one(offset),
        amplitude=_round_one(spread * amplitude),
        noise=_round_one(spread * noise),
        logarithmic=logarithmic,
        error=float(np.median(errors)),
    )


def _negative_log_evidence(parameters: Floats, points: Floats, target: Floats, supports: Floats) -> float:
    """Bound of the negative log likelihood for logarithms of lengths, noise and amplitude, with a prior on lengths."""
    lengths = np.exp(parameters[:-2])
    noise = math.exp(parameters[-2])
    amplitude = math.exp(parameters[-1])
    jitter = 1e-6 * np.eye(len(supports))
    root = np.linalg.cholesky(_covariance(supports, supports, lengths) + jitter)
    features = math.sqrt(amplitude) * np.linalg.solve(root, _covariance(supports, points, lengths))
    inner = np.linalg.cholesky(features @ features.T / noise + np.eye(len(supports)))
    fitted = np.linalg.solve(inner, features @ target) / noise
    lost = target.size * amplitude - float(np.sum(features**2))
    likelihood = (
        target.size * math.log(noise)
        + 2.0 * float(np.sum(np.log(np.diag(inner))))
        + (float(target @ target) + lost) / noise
        - float(fitted @ fitted)
    )
    prior = float(np.sum((parameters[:-2] - math.log(TYPICAL_LENGTH)) ** 2))
    return 0.5 * (likelihood + prior)


def _covariance(points: Floats, supports: Floats, lengths: Floats) -> Floats:
    """Matérn's covariance with ν = 5/2 and variance 1 [points, supports]."""
    steps = (points[:, None] - supports[None]) / lengths
    distance = np.sqrt(5.0 * np.einsum("nmd,nmd->nm", steps, steps))
    return np.asarray((1.0 + distance + distance**2 / 3.0) * np.exp(-distance))


def _choose_supports(points: Floats) -> Floats:
    """Choose points far from each other, starting in the middle."""
    squares = np.sum((points - np.median(points, axis=0)) ** 2, axis=1)
    chosen = [int(np.argmin(squares))]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < min(SUPPORTS, len(points)):
        nearest = np.minimum(nearest, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
        chosen.append(int(np.argmax(nearest)))
    return points[chosen]


def _round(values: Floats) -> Floats:
    return np.array([_round_one(value) for value in values.ravel()]).reshape(values.shape)


def _round_one(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
