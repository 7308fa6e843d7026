"""What users describe: a common cycle, decay with age, an arm that replaces another, an outage of one arm."""

from typing import Any

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.view import change_steps
from ravenlab.environments.world import Floats, world_tables
from tests.messages import raises_naming


def means_of(name: str, arms: int = 5, **settings: Any) -> Floats:
    scenario = find_scenario(name, {key.replace("__", "."): value for key, value in settings.items()})
    return world_tables(draw_worlds(scenario, 200, arms, seed=1))[0]


def test_all_arms_may_have_the_same_phase_or_cycle() -> None:
    for common, rank in (("nothing", 2), ("phase", 1), ("cycle", 1)):
        cycles = means_of("periodic", common=common)
        cycles -= cycles.mean(axis=0)
        assert np.linalg.matrix_rank(cycles, tol=1e-9) == rank
        assert np.allclose(cycles, cycles[:, :1]) == (common == "cycle")


@pytest.mark.parametrize(("direction", "sign"), [("up", 1), ("down", -1)])
def test_a_drift_may_be_one_sided(direction: str, sign: int) -> None:
    steps = np.diff(means_of("incremental-drift", direction=direction, arms=50), axis=0)
    assert (sign * steps > 0).all()
    both = np.diff(means_of("incremental-drift", arms=50), axis=0)
    assert (both > 0).any()
    assert (both < 0).any()


def test_a_replacement_is_fresh_and_decays_with_its_age() -> None:
    settings: dict[str, Any] = {"opens": "50%", "closes": "50%", "closing": "random"}
    still = means_of("arm-churn", **settings)
    decaying = means_of("incremental-drift+arm-churn", direction="down", **settings)
    assert (np.isnan(still).sum(axis=1) == 1).all()
    assert np.isnan(still[:99, -1]).all()
    closed = int(np.flatnonzero(np.isnan(still[150]))[0])
    assert not np.isnan(still[:99, closed]).any()
    assert decaying[99, -1] == pytest.approx(still[99, -1])
    assert decaying[199, -1] < still[199, -1] - 1e-3


@pytest.mark.parametrize("effects", ["blips", "incremental-drift+localized-jump+periodic+blips", "random-walk+blips"])
def test_an_outage_changes_one_arm_by_its_size_and_ends(effects: str) -> None:
    times = "blips.times" if "localized-jump" in effects else "times"
    settings: dict[str, Any] = {"lasting": 20, "affected": "1/5", "size": -2.0, times.replace(".", "__"): "once"}
    every = "blips__every" if "localized-jump" in effects else "every"
    settings[every] = "40%"
    outage = means_of(effects, **settings)
    without = means_of(effects.removesuffix("+blips") if "+" in effects else "stationary")
    difference = outage - without
    hit = np.flatnonzero(np.abs(difference).max(axis=0) > 1e-9)
    assert hit.size == 1
    expected = np.zeros(200)
    expected[79:99] = -2.0
    assert np.allclose(difference[:, hit[0]], expected, atol=1e-12)


def test_a_share_of_the_arms_may_be_drawn_anew() -> None:
    change = means_of("blips", affected="40%", every="50%") - means_of("stationary")
    assert (np.abs(change[100:103]) > 1e-9).sum(axis=1).tolist() == [2, 2, 2]
    assert np.abs(change[:99]).max() == np.abs(change[104:198]).max() == 0.0
    assert change_steps(find_scenario("blips", {"affected": 0.1, "every": 50, "lasting": 5, "times": "once"}), 200) == [
        50,
        55,
    ]


@pytest.mark.parametrize(
    ("name", "settings", "field"),
    [
        ("periodic", {"common": "amplitude"}, "common"),
        ("incremental-drift", {"direction": "sideways"}, "direction"),
        ("blips", {"affected": 0}, "affected"),
        ("blips", {"size": float("nan")}, "size"),
        ("blips", {"size": 1.0, "times": "geometric"}, "times"),
        ("arm-churn", {"closing": "worst"}, "closing"),
    ],
)
def test_invalid_options_are_refused(name: str, settings: dict[str, Any], field: str) -> None:
    with raises_naming(InputError, field):
        find_scenario(name, settings).check(1000, 5)
