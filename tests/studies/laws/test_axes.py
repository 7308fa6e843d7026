"""Coordinates of a problem: settings and coordinates agree, rewards have any scale, and other problems are refused."""

import pytest

from ravenlab.environments import find_scenario
from ravenlab.studies.laws.axes import RATES, NoLawError, axes_of, measure, positions, settings_at


@pytest.mark.parametrize("scenario", RATES)
@pytest.mark.parametrize("place", [-1.0, 0.3, 1.0])
def test_settings_have_the_coordinates_that_they_were_made_from(scenario: str, place: float) -> None:
    coordinates = {axis.name: axis.value(place) for axis in axes_of(scenario)}
    horizon, arms = round(coordinates["horizon"]), round(coordinates["arms"])
    settings = settings_at(scenario, coordinates)
    problem = find_scenario(scenario, settings)
    problem.check(horizon, arms)
    measured = measure(problem, horizon, arms)
    if scenario == "localized-jump" and place == -1.0:
        assert measured.pop("share") == 0.5  # at least one of two arms jumps
    for name, value in measured.items():
        assert value == pytest.approx(coordinates[name], rel=0.07), name


@pytest.mark.parametrize("scenario", RATES)
def test_default_settings_are_inside_the_design(scenario: str) -> None:
    assert all(abs(place) <= 1.0 for place in positions(find_scenario(scenario), 10_000, 10).values())


def test_coordinates_do_not_depend_on_the_scale_of_the_rewards() -> None:
    plain = find_scenario("periodic", {"amplitude": 0.1})
    large = {"mean_low": 30.0, "mean_high": 80.0, "variance_low": 100.0, "variance_high": 900.0, "amplitude": 10.0}
    expected = measure(plain, 3000, 7)
    assert measure(find_scenario("periodic", large), 3000, 7) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scenario", "settings", "arms", "reason"),
    [
        ("random-walk", {}, 10, "random-walk"),
        ("periodic+blips", {}, 10, "periodic"),
        ("stationary", {"noise": "bernoulli"}, 10, "Bernoulli"),
        ("arm-churn", {"closing": "random"}, 10, "best arm"),
        ("stationary", {"mean_low": 0.5, "mean_high": 0.5}, 10, "mean_high"),
        ("stationary", {}, 1, "at least 2"),
    ],
)
def test_problems_without_a_law_are_refused(scenario: str, settings: dict[str, object], arms: int, reason: str) -> None:
    with pytest.raises(NoLawError, match=reason):
        measure(find_scenario(scenario, settings), 1000, arms)
