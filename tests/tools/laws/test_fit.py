"""Fitting: surfaces find the lowest expected regret, laws recover known slopes, and regrets are predicted."""

import numpy as np
import pytest

from ravenlab.studies.laws.axes import RATES
from ravenlab.studies.laws.law import RAVEN, regret_terms
from tools.laws.fit import Point, RegretSample, count_features, cross_validate, fit_laws, fit_regret
from tools.laws.measurement import make_settings, surround
from tools.laws.surface import LawSurface, SurfaceStack, fit_law_surface

TRUE = np.array([[0.5, 0.6, -0.4, 0.3], [-1.0, 0.2, 0.0, 0.0], [-3.0, 0.0, 0.3, 0.0]])
"""Intercepts and slopes of α₀, β₀ and ε over horizon, arms and noise in all scenarios."""


def make_surface(best: np.ndarray, rng: np.random.Generator, noise: float, count: int = 60) -> LawSurface:
    """Fit a surface to trials of a regret that is lowest at a point."""
    points = best + rng.uniform(-1.5, 1.5, (count, 3))
    excess = 0.3 * (points[:, 0] - best[0]) ** 2 + 0.05 * ((points[:, 1:] - best[1:]) ** 2).sum(axis=1)
    regret = 20.0 * np.exp(excess) * rng.gamma(noise**-2, noise**2, count)
    trials = dict(zip(("alpha0", "beta0", "epsilon"), np.exp(points).T, strict=True))
    return fit_law_surface(RAVEN, {**{k: v.tolist() for k, v in trials.items()}, "regret": regret.tolist()}, 1000, 1.0)


@pytest.fixture(scope="module")
def points() -> list[Point]:
    rng = np.random.default_rng(1)
    out = []
    for _ in range(8):
        for scenario in RATES:
            places = rng.uniform(-1, 1, count_features(scenario))
            out.append(Point(scenario, places, make_surface(TRUE[:, 0] + TRUE[:, 1:] @ places[:3], rng, noise=0.05)))
    return out


def test_a_surface_is_lowest_near_the_lowest_expected_regret() -> None:
    rng = np.random.default_rng(2)
    surface = make_surface(np.array([1.0, 0.0, -2.0]), rng, noise=0.05, count=120)
    line = np.array([[1.0 + x, 0.0, -2.0] for x in np.linspace(-1, 1, 41)])
    values = [float(SurfaceStack([surface]).predict(point[None])[0][0]) for point in line]
    assert abs(line[int(np.argmin(values)), 0] - 1.0) < 0.3
    assert values[0] - min(values) == pytest.approx(0.3, abs=0.1)


def test_rare_failures_count_fully() -> None:
    """Below 0 a tenth of the trials has twelve times the regret: the mean of logarithms would overlook that."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, 400)
    regret = np.where(x < 0, np.where(rng.random(400) < 0.1, 60.0, 5.0), 8.0)
    trials = {"alpha0": np.exp(x).tolist(), "beta0": [1.0] * 400, "epsilon": [1.0] * 400, "regret": regret.tolist()}
    surface = fit_law_surface(RAVEN, trials, 1000, 1.0)
    left, right = (
        np.mean([SurfaceStack([surface]).predict(np.array([[y, 0.0, 0.0]]))[0][0] for y in side])
        for side in (np.linspace(-1.9, -0.4, 16), np.linspace(0.4, 1.9, 16))
    )
    counted = np.minimum(regret, 25.0)[x < 0]  # regrets above five times the lowest count as that
    assert left - right == pytest.approx(np.log(counted.mean() / 8.0), abs=0.08)
    assert left - right > np.log(counted).mean() - np.log(8.0) + 0.15


def test_the_gradient_is_that_of_the_surface(points: list[Point]) -> None:
    stack = SurfaceStack([point.surface for point in points[:3]])
    at = np.tile(TRUE[:, 0], (3, 1))
    _, gradient = stack.predict(at)
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = 1e-5
        difference = (stack.predict(at + step)[0] - stack.predict(at - step)[0]) / 2e-5
        assert difference == pytest.approx(gradient[:, axis], abs=1e-6)


def test_laws_recover_slopes(points: list[Point]) -> None:
    laws = fit_laws(points, shrinkage=0.1)
    slopes = np.mean([laws.coefficients[scenario][0, :4] for scenario in RATES], axis=0)
    assert slopes == pytest.approx(TRUE[0], abs=0.15)
    best = np.array([TRUE[:, 0] + TRUE[:, 1:] @ point.places[:3] for point in points])
    excess = (laws.at(points) - best) ** 2 @ [0.3, 0.05, 0.05]
    constant = (TRUE[:, 0] - best) ** 2 @ [0.3, 0.05, 0.05]
    assert excess.mean() < 0.3 * constant.mean()


def test_cross_validation_finds_that_slopes_alike_are_better_than_free_ones(points: list[Point]) -> None:
    assert cross_validate(points, 0.1).mean() < cross_validate(points, 0.0001).mean()


def test_the_regret_of_settings_left_out_is_predicted() -> None:
    """The deviation is that of the model, without the errors of the measurements."""
    rng = np.random.default_rng(4)
    samples = []
    for _ in range(60):
        for scenario, level in (("stationary", 1.0), ("blips", 2.0)):
            place = rng.uniform(-1, 1, count_features(scenario))
            number = level + place[0] - 0.5 * place[1] ** 2 + 0.3 * place[-1] + rng.normal(0, 0.05)
            samples.append(RegretSample(scenario, place, number + rng.normal(0, 0.1), error=0.1))
    fitted = fit_regret(samples)
    assert 0.03 <= fitted.deviation("blips") < 0.12
    terms = regret_terms([0.5, 0.5, 0.0, 0.0, 0.0, 0.5])
    assert float(fitted.coefficients["blips"] @ terms) == pytest.approx(2.0 + 0.5 - 0.125 + 0.15, abs=0.15)


def test_designs_are_nested_and_differ_between_seeds() -> None:
    few, many = (list(make_settings(count, seed=1, first_seed=0)) for count in (2, 8))
    assert few == many[: len(few)]
    assert len({setting.seed for setting in many}) == len(many)
    other = list(make_settings(2, seed=2, first_seed=0))
    assert not {setting.horizon for setting in few} & {setting.horizon for setting in other}


def test_surrounding_parameters_stay_within_their_factors() -> None:
    around = surround({"alpha0": 2.0, "gamma": 0.99}, {"alpha0": 0.5, "gamma": 1.0}, 16)
    assert around[0] == {"alpha0": 2.0, "gamma": 0.99}
    assert all(2.0 * np.exp(-0.5) <= candidate["alpha0"] <= 2.0 * np.exp(0.5) for candidate in around)
    assert all(0.003 < 1.0 - candidate["gamma"] < 0.03 for candidate in around)
