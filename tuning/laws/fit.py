"""Fitting of laws to the surfaces of an atlas.

A law's coefficients minimise the mean predicted log excess regret over all settings, not the distance to noisy optima:
a parameter that hardly matters in a setting hardly counts there. The slopes of a scenario are shrunk towards those that
all scenarios share, and these towards zero. Cross-validation over settings chooses how strongly.

The logarithm of the regret at the law's parameters is fitted by ridge regression: terms that all scenarios share, and
deviations of each scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from environments import find_scenario
from environments.world import Floats
from studies.laws.axes import RATES, axes_of, features
from studies.laws.law import COORDINATES, regret_terms
from tuning.laws.surface import LawSurface, SurfaceStack, fit_law_surface

SCALE = 0.5  # range of the means in the atlas
SHARED = 4  # the first features, whose slopes all scenarios share: horizon, arms, noise and crowding
SHRINKAGES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Penalties of squared deviations from the shared slopes, per setting of the scenario, tried by cross-validation."""
COMMON = 0.001  # penalty of squared shared slopes and of the slopes over rates, relative to the shrinkage above
LEVELS = 0.1  # penalty of the levels of the scenarios, relative to that of their slopes
ITERATIONS = 200
FOLDS = 8
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # penalties of the deviations of a scenario's regret
SHARED_RIDGE = 0.001  # penalty of the terms of the regret that all scenarios share
VARIANCE_PRIOR = 8.0  # settings that the variance over all scenarios is worth in that of one scenario


@dataclass(frozen=True)
class Point:
    """A setting of the atlas with its surface for one policy."""

    scenario: str
    places: Floats
    """Features of the problem."""
    surface: LawSurface


@dataclass(frozen=True)
class FittedLaws:
    """Coefficients [parameters, 1 + axes] by scenario."""

    coefficients: dict[str, Floats]

    def at(self, points: Sequence[Point]) -> Floats:
        """Return the transformed parameters in settings [settings, parameters]."""
        rows = []
        for point in points:
            matrix = self.coefficients[point.scenario]
            rows.append(matrix[:, 0] + matrix[:, 1:] @ point.places)
        return np.array(rows)

    def excess(self, points: Sequence[Point]) -> Floats:
        """Return the predicted log excess regret in settings."""
        return SurfaceStack([point.surface for point in points]).predict(self.at(points))[0]


@dataclass(frozen=True)
class FittedRegret:
    """Coefficients of `regret_terms` by scenario, and the residuals of settings left out, by scenario."""

    coefficients: dict[str, Floats]
    residuals: dict[str, Floats]

    def deviation(self, scenario: str) -> float:
        """Return the standard deviation of the log regret around the model, of a setting that was left out."""
        everything = np.concatenate(list(self.residuals.values()))
        own = self.residuals[scenario]
        # The variance of one scenario, shrunk towards that of all.
        total = float(np.sum(own**2)) + VARIANCE_PRIOR * float(np.mean(everything**2))
        return float(np.sqrt(total / (own.size + VARIANCE_PRIOR)))


def make_points(records: Sequence[Mapping[str, Any]], policy: str) -> list[Point]:
    """Fit the surfaces of a policy in all settings."""
    points = []
    for record in records:
        scenario = find_scenario(record["scenario"], record["settings"])
        places = features(scenario, record["horizon"], record["arms"])
        surface = fit_law_surface(COORDINATES[policy], record["policies"][policy]["trials"], record["horizon"], SCALE)
        points.append(Point(record["scenario"], np.array(places), surface))
    return points


def count_features(scenario: str) -> int:
    """Return the number of features of a scenario: its axes and the crowding."""
    return len(axes_of(scenario)) + 1


class _Layout:
    """Places of the coefficients in the vector that is optimised: shared slopes, then each scenario's deviations."""

    def __init__(self, scenarios: Sequence[str], parameters: int) -> None:
        self.scenarios, self.parameters = list(scenarios), parameters
        self.shared = parameters * (1 + SHARED)
        self.starts: dict[str, int] = {}
        end = self.shared
        for scenario in scenarios:
            self.starts[scenario] = end
            end += parameters * (1 + count_features(scenario))
        self.size = end

    def matrix(self, vector: Floats, scenario: str) -> Floats:
        """Return the coefficients of a scenario: shared ones plus its deviations."""
        own = self.deviations(vector, scenario).copy()
        own[:, : 1 + SHARED] += vector[: self.shared].reshape(self.parameters, -1)
        return own

    def deviations(self, vector: Floats, scenario: str) -> Floats:
        """Return the view of a scenario's deviations."""
        start, columns = self.starts[scenario], 1 + count_features(scenario)
        return vector[start : start + self.parameters * columns].reshape(self.parameters, columns)


def fit_laws(points: Sequence[Point], shrinkage: float) -> FittedLaws:
    """Fit the laws of one policy in all scenarios to settings."""
    from scipy.optimize import minimize

    parameters = points[0].surface.lengths.size
    scenarios = list(RATES)
    layout = _Layout(scenarios, parameters)

    stack = SurfaceStack([point.surface for point in points])
    rows = {name: np.array([i for i, point in enumerate(points) if point.scenario == name]) for name in scenarios}
    terms = {
        name: np.array([[1.0, *points[i].places] for i in rows[name]]).reshape(len(rows[name]), -1)
        for name in scenarios
        if rows[name].size
    }
    penalty = np.full(layout.size, shrinkage)
    penalty[: layout.shared] *= COMMON
    for scenario in scenarios:
        layout.deviations(penalty, scenario)[:, 0] *= LEVELS

    def objective(vector: Floats) -> tuple[float, Floats]:
        at = np.empty((len(points), parameters))
        for name, columns in terms.items():
            at[rows[name]] = columns @ layout.matrix(vector, name).T
        values, slopes = stack.predict(at)
        gradient = np.zeros(layout.size)
        shared = gradient[: layout.shared].reshape(parameters, -1)
        for name, columns in terms.items():
            own = slopes[rows[name]].T @ columns / len(points)
            layout.deviations(gradient, name)[...] = own
            shared += own[:, : 1 + SHARED]
        return float(values.mean() + np.sum(penalty * vector**2)), gradient + 2.0 * penalty * vector

    start = np.zeros(layout.size)
    lowest = [point.surface.best * point.surface.lengths for point in points]
    start[: layout.shared].reshape(parameters, -1)[:, 0] = np.median(lowest, axis=0)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS})
    return FittedLaws({scenario: layout.matrix(best.x, scenario) for scenario in scenarios})


def cross_validate(points: Sequence[Point], shrinkage: float) -> Floats:
    """Return the predicted log excess in each setting of laws that were fitted without it."""
    out = np.empty(len(points))
    places = np.arange(len(points))
    for fold in range(FOLDS):
        # Settings are ordered by index, one of each scenario in turn: a fold takes whole rounds.
        held = (places // len(RATES)) % FOLDS == fold
        if not held.any() or held.all():
            continue
        laws = fit_laws([points[i] for i in places[~held]], shrinkage)
        out[held] = laws.excess([points[i] for i in places[held]])
    return out


def choose_shrinkage(points: Sequence[Point]) -> tuple[float, Floats]:
    """Return the shrinkage with the lowest mean excess in cross-validation, and the excesses."""
    results = {shrinkage: cross_validate(points, shrinkage) for shrinkage in SHRINKAGES}
    best = min(results, key=lambda shrinkage: float(np.mean(results[shrinkage])))
    return best, results[best]


def fit_regret(scenarios: Sequence[str], places: Sequence[Floats], log_regrets: Floats) -> FittedRegret:
    """Fit the log regret (in units of R) of settings; leaving each out chooses the penalty and gives the residuals."""
    names = [name for name in RATES if name in scenarios]
    columns = {name: len(regret_terms([0.0] * count_features(name))) for name in names}
    shared = len(regret_terms([0.0] * SHARED))
    starts = dict(zip(names, shared + np.cumsum([0, *columns.values()])[:-1], strict=True))
    design = np.zeros((len(scenarios), shared + sum(columns.values())))
    for row, (scenario, place) in enumerate(zip(scenarios, places, strict=True)):
        design[row, :shared] = regret_terms(list(place[:SHARED]))
        design[row, starts[scenario] : starts[scenario] + columns[scenario]] = regret_terms(list(place))
    penalty = np.full(design.shape[1], 1.0)
    for start in starts.values():
        penalty[start] = 0.1  # levels of the scenarios
    best = None
    for ridge in RIDGES:
        weights = np.where(np.arange(design.shape[1]) < shared, SHARED_RIDGE, ridge * penalty)
        inverse = np.linalg.inv(design.T @ design + np.diag(weights))
        solution = inverse @ design.T @ log_regrets
        leverage = np.einsum("ni,ij,nj->n", design, inverse, design)
        left_out = (log_regrets - design @ solution) / (1.0 - leverage)
        score = float(np.mean(left_out**2))
        if best is None or score < best[0]:
            best = (score, solution, left_out)
    assert best is not None
    _, solution, left_out = best
    coefficients = {}
    for name in names:
        own = solution[starts[name] : starts[name] + columns[name]].copy()
        own[_shared_places(count_features(name))] += solution[:shared]
        coefficients[name] = own
    which = np.array(scenarios)
    return FittedRegret(coefficients, {name: left_out[which == name] for name in names})


def _shared_places(count: int) -> list[int]:
    """Return the places of the terms of the shared features among `regret_terms` of all features of a scenario."""
    terms = [((), 0), *(((i,), 1 + i) for i in range(count))]
    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    terms += [(pair, 1 + count + k) for k, pair in enumerate(pairs)]
    return [place for members, place in terms if all(i < SHARED for i in members)]
