"""Search-space boundary hits and the extended ranges."""

import pytest

from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.validation.candidates import boundary_hits


def hits(spec: StudySpec, **values: Value) -> dict[str, tuple[float, float]]:
    middle = {name: spec.resolve_params({})[name] for name in spec.space}
    return {edge.param: (edge.low, edge.high) for edge in boundary_hits(spec, {**middle, **values})}


def test_no_hit_inside() -> None:
    assert hits(StudySpec(scenario="blips"), alpha0=0.012, beta0=9.0) == {}


def test_near_is_one_percent_of_the_log_range() -> None:
    spec = StudySpec(scenario="blips")
    just = 0.01 * 1000**0.0099
    assert hits(spec, alpha0=just)["alpha0"] == pytest.approx((0.01 / 3, 10.0))
    assert hits(spec, alpha0=0.01 * 1000**0.0101) == {}
    assert hits(spec, alpha0=10.0)["alpha0"] == pytest.approx((0.01, 30.0))


def test_value_outside_the_range_is_inside_the_extended_range() -> None:
    low, high = hits(StudySpec(scenario="blips"), beta0=50.0)["beta0"]
    assert (low, high) == pytest.approx((0.01, 150.0))


def test_linear_range_is_extended_by_its_width_within_limits() -> None:
    spec = StudySpec(scenario="blips", space={"alpha0": Range(low=1.0, high=3.0, scale="linear")})
    assert hits(spec, alpha0=3.0)["alpha0"] == (1.0, 5.0)
    assert hits(spec, alpha0=1.0)["alpha0"] == (0.0, 3.0)


def test_one_minus_range_stays_below_one() -> None:
    spec = StudySpec(scenario="blips", policy="d-raven", horizon=1000)
    assert hits(spec, gamma=0.7)["gamma"] == pytest.approx((1e-5, 0.9))
    assert hits(spec, gamma=1 - 1e-5)["gamma"] == pytest.approx((1e-5 / 3, 0.3))
    wide = StudySpec(scenario="blips", policy="d-raven", space={"gamma": Range(low=0.1, high=0.5, scale="one-minus")})
    assert hits(wide, gamma=0.5)["gamma"] == pytest.approx((0.1, 1.0))


def test_boundary_that_cannot_move_is_no_hit() -> None:
    spec = StudySpec(scenario="blips", policy="sw-raven", horizon=1000)
    assert hits(spec, tau=1000.0) == {}
    assert hits(spec, tau=10.0)["tau"] == (3.0, 1000.0)
    zero = StudySpec(scenario="blips", space={"alpha0": Range(low=0.0, high=3.0, scale="linear")})
    assert hits(zero, alpha0=0.0) == {}


def test_extended_range_is_valid_in_a_study() -> None:
    for policy, values in (("d-raven", {"gamma": 0.7}), ("sw-raven", {"tau": 10.0}), ("raven-ucb", {"epsilon": 0.5})):
        spec = StudySpec(scenario="blips", policy=policy, horizon=1000)
        extended = hits(spec, **values)
        assert set(extended) == set(values)
        for name, (low, high) in extended.items():
            scale = spec.space[name].scale
            StudySpec(
                scenario="blips", policy=policy, horizon=1000, space={name: Range(low=low, high=high, scale=scale)}
            )
