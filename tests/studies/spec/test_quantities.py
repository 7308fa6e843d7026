"""Descriptions in plain quantities: the drawn worlds have them, in any unit."""

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.studies.spec.quantities import Quantities


def test_drawn_arms_have_the_described_difference_and_noise() -> None:
    quantities = Quantities(difference=3.0, sd=8.0)
    scenario = find_scenario("stationary", quantities.settings("stationary", 1000))
    mean, variance = scenario.base.draw(np.random.default_rng(1), 20_000)
    differences = np.abs(mean[::2] - mean[1::2])
    assert abs(differences.mean() - 3.0) < 4.0 * differences.std() / np.sqrt(differences.size)
    assert np.allclose(variance, 64.0)


def test_effects_have_the_unit_of_the_difference() -> None:
    usual = find_scenario("periodic+incremental-drift").parameters()
    settings = Quantities(difference=0.5 / 3.0 * 64.0, sd=1.0).settings("periodic+incremental-drift", 1000)
    assert settings["amplitude"] == usual["amplitude"] * 64.0
    assert settings["drift"] == usual["drift"] * 64.0
    growth = Quantities(difference=1.0, sd=np.sqrt(0.05) * 10.0).settings("variance-drift", 1000)["growth"]
    assert growth == pytest.approx(100.0 * find_scenario("variance-drift").parameters()["growth"])


def test_changes_are_counted_within_the_horizon() -> None:
    described = Quantities(difference=1.0, sd=1.0, changes=4)
    assert described.settings("blips", 1000)["every"] == 200
    described = Quantities(difference=1.0, sd=1.0, changes=5)
    assert described.settings("periodic", 1000)["period"] == 200
    assert "5 times" in described.describe("blips", 1000, 10)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"difference": 0.0, "sd": 1.0}, "difference must be above 0"),
        ({"difference": 1.0}, "either"),
        ({"difference": 1.0, "sd": 1.0, "rate": 0.1}, "either"),
        ({"difference": 0.1, "rate": 0.02}, "at most 0.0133"),
        ({"difference": 1.0, "sd": 1.0, "changes": 0}, "changes must be at least 1"),
    ],
)
def test_impossible_descriptions_are_refused(fields: dict[str, float], text: str) -> None:
    with pytest.raises(InputError, match=text):
        Quantities(**fields)  # type: ignore[arg-type]


def test_changes_need_a_kind_that_can_be_counted() -> None:
    with pytest.raises(InputError, match="localized-jump, periodic or blips"):
        Quantities(difference=1.0, sd=1.0, changes=3).settings("stationary", 1000)
