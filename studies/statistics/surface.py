"""A quadratic surface of the objective over the searched parameters.

Parameters that differ by a thousandth lose the best arm in different worlds, so the values of two candidates differ by
chance even on the same worlds. A surface averages over many candidates. It is fitted to the logarithm of the objective,
and candidates near its lowest point weigh most.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ravenlab.common.linear import invert, multiply
from ravenlab.environments.world import Floats

NEAR = 0.25  # a candidate whose fitted value is this share above the lowest ones weighs 1 / e
ROUNDS = 4  # rounds of fitting; each weighs the candidates by the surface of the previous one
RIDGE = 1e-6  # keeps the equations solvable if parameters do not vary
LINE = 25  # points per line of the search for the lowest point
SWEEPS = 10  # passes over the coordinates
UPPER = 1.645  # standard errors of an upper 95 % bound
RANGE_POINTS = 201  # points between a value and the end of its search range


@dataclass(frozen=True)
class Surface:
    """The objective as a quadratic function, in the logarithm, of points on their search scale."""

    mean: Floats
    spread: Floats
    coefficients: Floats
    covariance: Floats
    """Covariance of the coefficients, from the deviations of the fitted values (a sandwich estimate)."""

    def predict(self, points: Floats) -> Floats:
        """Predict the objective at points [n, d]."""
        return np.exp(self._logarithms(points))

    def _logarithms(self, points: Floats) -> Floats:
        """Predict the logarithm of the objective, which is finite however steep the surface is."""
        return np.asarray(np.einsum("nt,t->n", _terms((points - self.mean) / self.spread), self.coefficients))

    def lowest(self, low: Floats, high: Floats) -> Floats:
        """Find the lowest point of a box, one coordinate after the other."""
        point = (low + high) / 2.0
        for _ in range(SWEEPS):
            for i in range(point.size):
                line = np.tile(point, (LINE, 1))
                line[:, i] = np.linspace(low[i], high[i], LINE)
                point = line[int(np.argmin(self._logarithms(line)))]
        return point


def fit_surface(points: Floats, values: Floats) -> Surface:
    """Fit a surface to positive values [n] at points [n, d].

    >>> rng = np.random.default_rng(1)
    >>> points = rng.uniform(-2, 2, (100, 2))
    >>> values = np.exp((points[:, 0] - 0.5) ** 2) * rng.lognormal(0, 0.05, 100)
    >>> surface = fit_surface(points, values)
    >>> bool(abs(surface.lowest(np.array([-2.0, -2.0]), np.array([2.0, 2.0]))[0] - 0.5) < 0.2)
    True
    """
    mean = points.mean(axis=0)
    spread = points.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    terms = _terms((points - mean) / spread)
    target = np.log(values)
    weights = np.exp(-(target - target.min()) / NEAR)
    for _ in range(ROUNDS):
        normal = np.einsum("ni,n,nj->ij", terms, weights, terms) + RIDGE * np.eye(terms.shape[1])
        solver = multiply(invert(normal), terms.T * weights)
        coefficients = multiply(solver, target)
        fitted = np.einsum("nt,t->n", terms, coefficients)
        weights = np.exp(-np.maximum(fitted - np.quantile(fitted, 0.05), 0.0) / NEAR)
    residuals = target - fitted
    freedom = max(1.0, len(values) - terms.shape[1]) / len(values)
    covariance = np.einsum("in,n,jn->ij", solver, residuals**2, solver) / freedom
    return Surface(mean, spread, coefficients, covariance)


def exceeds(surface: Surface, points: Floats, point: Floats, margin: float) -> NDArray[np.bool_]:
    """Whether the upper 95 % bound of the excess of points [n, d] over a point [d] is above a margin."""
    terms = _terms((points - surface.mean) / surface.spread)
    terms -= _terms((point[None] - surface.mean) / surface.spread)
    error = np.sqrt(np.einsum("pi,ij,pj->p", terms, surface.covariance, terms))
    return np.asarray(np.einsum("pt,t->p", terms, surface.coefficients) + UPPER * error > np.log1p(margin))


def tied_range(
    surface: Surface, point: Floats, axis: int, low: float, high: float, margin: float
) -> tuple[float, float]:
    """Return how far a coordinate of a point may move while the upper 95 % bound of the excess is at most `margin`.

    Args:
        surface: The surface.
        point: The point [d].
        axis: The coordinate.
        low: Least value of the coordinate.
        high: Largest value.
        margin: Largest excess relative to the value at the point.
    """
    ends = []
    for end in (min(low, float(point[axis])), max(high, float(point[axis]))):
        line = np.tile(point, (RANGE_POINTS, 1))
        line[:, axis] = np.linspace(point[axis], end, RANGE_POINTS)
        beyond = exceeds(surface, line, point, margin)
        last = int(np.argmax(beyond)) - 1 if beyond.any() else RANGE_POINTS - 1
        ends.append(float(line[last, axis]))
    return ends[0], ends[1]


def _terms(points: Floats) -> Floats:
    """Return 1, the coordinates and their products [n, terms]."""
    rows, columns = np.triu_indices(points.shape[1])
    return np.hstack([np.ones((len(points), 1)), points, points[:, rows] * points[:, columns]])
