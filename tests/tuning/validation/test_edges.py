"""An optimum on the edge of its box is said to be so, with a range that goes on."""

from __future__ import annotations

import pytest

from policies.engine.base import Value
from studies.spec.space import Range
from studies.spec.study import StudySpec
from tuning.validation.recommend import boundary_hits


def found(spec: StudySpec, **values: Value) -> dict[str, tuple[float, float]]:
    resolved = spec.resolved()
    middle = {name: spec.values({})[name] for name in resolved.space}
    return {edge.param: (edge.low, edge.high) for edge in boundary_hits(spec, {**middle, **values})}


def test_inside_there_is_none() -> None:
    assert found(StudySpec(scenario="blips"), alpha0=0.012, beta0=9.0) == {}


def test_near_is_one_hundredth_of_the_log_range() -> None:
    spec = StudySpec(scenario="blips")
    just = 0.01 * 1000**0.0099
    assert found(spec, alpha0=just)["alpha0"] == pytest.approx((0.01 / 3, 10.0))
    assert found(spec, alpha0=0.01 * 1000**0.0101) == {}
    assert found(spec, alpha0=10.0)["alpha0"] == pytest.approx((0.01, 30.0))


def test_beyond_the_range_is_on_its_edge_and_the_new_range_holds_it() -> None:
    low, high = found(StudySpec(scenario="blips"), beta0=50.0)["beta0"]
    assert (low, high) == pytest.approx((0.01, 150.0))


def test_linear_goes_on_by_its_width_as_far_as_is_allowed() -> None:
    spec = StudySpec(scenario="blips", space={"alpha0": Range(low=1.0, high=3.0, scale="linear")})
    assert found(spec, alpha0=3.0)["alpha0"] == (1.0, 5.0)
    assert found(spec, alpha0=1.0)["alpha0"] == (0.0, 3.0)


def test_one_minus_is_told_as_it_is_searched_and_stays_below_one() -> None:
    spec = StudySpec(scenario="blips", policy="d-raven", horizon=1000)
    assert found(spec, gamma=0.7)["gamma"] == pytest.approx((1e-5, 0.9))
    assert found(spec, gamma=1 - 1e-5)["gamma"] == pytest.approx((1e-5 / 3, 0.3))
    wide = StudySpec(scenario="blips", policy="d-raven", space={"gamma": Range(low=0.1, high=0.5, scale="one-minus")})
    assert found(wide, gamma=0.5)["gamma"] == pytest.approx((0.1, 1.0))


def test_an_end_that_cannot_move_is_no_edge() -> None:
    spec = StudySpec(scenario="blips", policy="sw-raven", horizon=1000)
    assert found(spec, tau=1000.0) == {}
    assert found(spec, tau=10.0)["tau"] == (3.0, 1000.0)
    zero = StudySpec(scenario="blips", space={"alpha0": Range(low=0.0, high=3.0, scale="linear")})
    assert found(zero, alpha0=0.0) == {}


def test_the_range_can_be_given_to_a_study() -> None:
    for policy, values in (("d-raven", {"gamma": 0.7}), ("sw-raven", {"tau": 10.0}), ("raven-ucb", {"epsilon": 0.5})):
        spec = StudySpec(scenario="blips", policy=policy, horizon=1000).resolved()
        settled = found(spec, **values)
        assert set(settled) == set(values)
        for name, (low, high) in settled.items():
            scale = spec.space[name].scale
            StudySpec(
                scenario="blips", policy=policy, horizon=1000, space={name: Range(low=low, high=high, scale=scale)}
            )
