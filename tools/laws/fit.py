"""Fitting of laws to the surfaces of an atlas.

A law's coefficients minimise the mean predicted log excess regret over all settings, not the distance to noisy optima:
a parameter that hardly matters in a setting hardly counts there. The slopes of a scenario are shrunk towards those that
all scenarios share, and these towards zero. Cross-validation over settings chooses how strongly.

The logarithm of the regret at the law's parameters is fitted by ridge regression: terms that all scenarios share, and
deviations of each scenario.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ravenlab.environments import find_scenario
from ravenlab.environments.world import Floats
from ravenlab.studies.laws.axes import RATES, axes_of, features
from ravenlab.studies.laws.law import COORDINATES, regret_terms
from tools.laws.surface import LawSurface, SurfaceStack, fit_law_surface

SCALE = 0.5  # range of the means in the atlas
SHARED = 4  # the first features, whose slopes all scenarios share: horizon, arms, noise and crowding
SHRINKAGES = (0.0003, 0.001, 0.003, 0.01, 0.03)
"""Penalties of squared deviations from the shared slopes, per setting of the scenario, tried by cross-validation."""
COMMON = 0.001  # penalty of squared shared slopes and of the slopes over rates, relative to the shrinkage above
LEVELS = 0.1  # penalty of the levels of the scenarios, relative to that of their slopes
RATE_SLOPES = 0.2  # relative penalty of the slopes over rates, which no other scenario has
WEAK, WEAK_PARAMETERS = slice(1, 3), 5.0  # relative penalty of β₀ and ε, which matter less than α₀
ITERATIONS = 200
FOLDS = 8
RIDGES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # penalties of the deviations of a scenario's regret
SHARED_RIDGE = 0.001  # penalty of the terms of the regret that all scenarios share
TYPICAL_ERROR = 0.1  # error of the model that measurements are weighed with
SMALLEST_DEVIATION = 0.03
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
        """Return the predicted log excess regret in settings; a regret below all trials counts as the lowest one."""
        return np.maximum(SurfaceStack([point.surface for point in points]).predict(self.at(points))[0], 0.0)


@dataclass(frozen=True)
class RegretSample:
    """The log regret in one setting, relative to uniform choice, with its standard error."""

    scenario: str
    places: Floats
    number: float
    error: float


@dataclass(frozen=True)
class FittedRegret:
    """Coefficients of `regret_terms` by scenario, and the accuracy of the predictions in settings left out."""

    coefficients: dict[str, Floats]
    squares: dict[str, Floats]
    """Squared residuals minus the squared standard errors of the measurements, with their weights [2, settings]."""

    def deviation(self, scenario: str) -> float:
        """Return the standard deviation of the expected log regret around the model, in a setting left out."""
        squares, weights = self.squares[scenario]
        prior = self.typical_deviation() ** 2
        # The variance of one scenario, shrunk towards that of all.
        variance = (float(np.sum(squares * weights)) + VARIANCE_PRIOR * prior) / (float(weights.sum()) + VARIANCE_PRIOR)
        return max(SMALLEST_DEVIATION, variance**0.5 if variance > 0.0 else 0.0)

    def typical_deviation(self) -> float:
        """Return the standard deviation over all scenarios."""
        squares, weights = np.concatenate(list(self.squares.values()), axis=1)
        return float(np.sqrt(max(SMALLEST_DEVIATION**2, np.sum(squares * weights) / weights.sum())))


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
        self.scenarios = list(scenarios)
        self.parameters = parameters
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

    def penalties(self, shrinkage: float) -> Floats:
        """Return the penalty of each squared coefficient."""
        penalty = np.full(self.size, shrinkage)
        penalty[: self.shared] *= COMMON
        for scenario in self.scenarios:
            own = self.deviations(penalty, scenario)
            own[:, 0] *= LEVELS
            own[:, 1 + SHARED :] *= RATE_SLOPES
            own[WEAK] *= WEAK_PARAMETERS
        return penalty

    def deviations(self, vector: Floats, scenario: str) -> Floats:
        """Return the view of a scenario's deviations."""
        start = self.starts[scenario]
        columns = 1 + count_features(scenario)
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
    penalty = layout.penalties(shrinkage)

    def objective(vector: Floats) -> tuple[float, Floats]:
        at = np.empty((len(points), parameters))
        for name, columns in terms.items():
            at[rows[name]] = columns @ layout.matrix(vector, name).T
        values, slopes = stack.predict(at)
        slopes[values < 0.0] = 0.0
        gradient = np.zeros(layout.size)
        shared = gradient[: layout.shared].reshape(parameters, -1)
        for name, columns in terms.items():
            own = slopes[rows[name]].T @ columns / len(points)
            layout.deviations(gradient, name)[...] = own
            shared += own[:, : 1 + SHARED]
        excess = float(np.maximum(values, 0.0).mean())
        return excess + float(np.sum(penalty * vector**2)), gradient + 2.0 * penalty * vector

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


def fit_regret(samples: Sequence[RegretSample]) -> FittedRegret:
    """Fit the log regret of settings; leaving each out chooses the penalty and measures the accuracy."""
    names = [name for name in RATES if any(sample.scenario == name for sample in samples)]
    columns = {name: len(regret_terms([0.0] * count_features(name))) for name in names}
    shared = len(regret_terms([0.0] * SHARED))
    starts = dict(zip(names, shared + np.cumsum([0, *columns.values()])[:-1], strict=True))
    design = np.zeros((len(samples), shared + sum(columns.values())))
    for row, sample in enumerate(samples):
        start = starts[sample.scenario]
        design[row, :shared] = regret_terms(list(sample.places[:SHARED]))
        design[row, start : start + columns[sample.scenario]] = regret_terms(list(sample.places))
    penalty = np.full(design.shape[1], 1.0)
    for name, start in starts.items():
        penalty[start] = 0.1  # levels of the scenarios
        penalty[start + 1 : start + 1 + count_features(name)] = 0.3  # slopes; the others are curvatures
    numbers = np.array([s.number for s in samples])
    errors = np.array([s.error for s in samples])
    weights = 1.0 / (1.0 + (errors / TYPICAL_ERROR) ** 2)
    best: tuple[float, Floats, Floats] | None = None
    for ridge in RIDGES:
        ridges = np.where(np.arange(design.shape[1]) < shared, SHARED_RIDGE, ridge * penalty)
        inverse = np.linalg.inv((design.T * weights) @ design + np.diag(ridges))
        solution = inverse @ (design.T * weights) @ numbers
        leverage = weights * np.einsum("ni,ij,nj->n", design, inverse, design)
        left_out = (numbers - design @ solution) / (1.0 - leverage)
        score = float(np.mean(weights * left_out**2))
        if best is None or score < best[0]:
            best = (score, solution, left_out)
    assert best is not None
    _, solution, left_out = best
    coefficients = {}
    for name in names:
        own = solution[starts[name] : starts[name] + columns[name]].copy()
        own[_shared_places(count_features(name))] += solution[:shared]
        coefficients[name] = own
    which = np.array([sample.scenario for sample in samples])
    squares = np.stack([left_out**2 - errors**2, weights])
    return FittedRegret(coefficients, {name: squares[:, which == name] for name in names})


def _shared_places(count: int) -> list[int]:
    """Return the places of the terms of the shared features among `regret_terms` of all features of a scenario."""
    terms = [((), 0), *(((i,), 1 + i) for i in range(count))]
    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    terms += [(pair, 1 + count + k) for k, pair in enumerate(pairs)]
    return [place for members, place in terms if all(i < SHARED for i in members)]
