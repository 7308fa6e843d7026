"""Search spaces, and the conversion between parameters and trials."""

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import FloatDistribution, IntDistribution

from ravenlab.policies import find_policy
from ravenlab.studies.spec.distributions import from_trial_params, make_distributions, to_trial_params, trial_param_name
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec

POLICIES = ("raven-ucb", "d-raven", "sw-raven", "d-ucb", "sw-ucb", "f-dsw-ts", "wls-optimistic-ts", "epsilon-greedy")


def test_scales_become_distributions() -> None:
    spec = StudySpec(
        scenario="blips", policy="d-raven", space={"alpha0": Range(low=0.0, high=2.0, scale="linear")}, horizon=500
    )
    assert make_distributions(spec) == {
        "alpha0": FloatDistribution(0.0, 2.0),
        "beta0": FloatDistribution(0.01, 10.0, log=True),
        "epsilon": FloatDistribution(0.001, 0.5, log=True),
        "one_minus_gamma": FloatDistribution(1e-5, 0.3, log=True),
    }


def test_a_window_is_an_integer() -> None:
    spec = StudySpec(scenario="blips", policy="sw-raven", horizon=500)
    assert make_distributions(spec)["tau"] == IntDistribution(10, 500, log=True)
    trial_params = to_trial_params(spec, {"tau": 30.0})
    assert trial_params is not None
    assert trial_params["tau"] == 30
    assert isinstance(trial_params["tau"], int)
    assert from_trial_params(spec, trial_params)["tau"] == 30.0


def test_fixed_parameters_override_and_are_not_part_of_a_trial() -> None:
    spec = StudySpec(scenario="blips", fixed={"epsilon": 0.2})
    assert list(make_distributions(spec)) == ["alpha0", "beta0"]
    assert to_trial_params(spec, {"alpha0": 1.0, "beta0": 5.0, "epsilon": 0.1}) == {"alpha0": 1.0, "beta0": 5.0}
    assert from_trial_params(spec, {"alpha0": 1.0, "beta0": 5.0}) == {"alpha0": 1.0, "beta0": 5.0}


def test_parameters_outside_the_search_space() -> None:
    spec = StudySpec(scenario="blips", space={"alpha0": Range(low=0.1, high=1.0)})
    assert to_trial_params(spec, {"alpha0": 0.0999}) is None
    assert to_trial_params(spec, {"alpha0": 1.001}) is None
    assert to_trial_params(spec, {"alpha0": 1.0}) is not None
    assert to_trial_params(spec, {"alpha0": 1.0, "variance": "welford"}) is not None
    assert to_trial_params(spec, {"alpha0": 1.0, "variance": "printed"}) is None


@pytest.mark.parametrize("policy", POLICIES)
def test_defaults_are_unchanged_by_the_round_trip_through_optuna(policy: str) -> None:
    spec = StudySpec(scenario="blips", policy=policy, horizon=2000)
    trial_params = to_trial_params(spec, {})
    assert trial_params is not None
    trial = optuna.create_trial(params=trial_params, distributions=make_distributions(spec), value=0.0)
    assert spec.resolve_params(from_trial_params(spec, trial.params)) == spec.resolve_params({})


@pytest.mark.parametrize("policy", POLICIES)
def test_samples_of_optuna_are_valid_and_are_unchanged_by_the_round_trip(policy: str) -> None:
    spec = StudySpec(scenario="blips", policy=policy, horizon=2000)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(20):
        drawn = study.ask(make_distributions(spec)).params
        params = from_trial_params(spec, drawn)
        values = spec.resolve_params(params)
        assert {name: values[name] for name in params} == params
        trial_params = to_trial_params(spec, params)
        assert trial_params is not None
        assert from_trial_params(spec, trial_params) == pytest.approx(params, rel=1e-12)
        assert trial_params == pytest.approx(drawn, rel=1e-9)


@given(st.floats(1e-5, 0.3))
@settings(max_examples=200)
def test_rate_near_one_is_unchanged_by_the_round_trip(gap: float) -> None:
    spec = StudySpec(scenario="blips", policy="d-ucb", horizon=100)
    others = {name: value for name, value in spec.resolve_params({}).items() if name != "gamma"}
    trial_params = to_trial_params(spec, {**others, "gamma": 1.0 - gap})
    assert trial_params is not None
    assert 1e-5 <= trial_params["one_minus_gamma"] <= 0.3
    assert from_trial_params(spec, trial_params)["gamma"] == pytest.approx(1.0 - gap, abs=1e-14)


def test_names_of_trial_parameters() -> None:
    for policy in POLICIES:
        spec = StudySpec(scenario="blips", policy=policy, horizon=2000)
        names = {param.name for param in find_policy(policy).parameters}
        assert {trial_param_name(name, range_) for name, range_ in spec.space.items()} == set(make_distributions(spec))
        assert set(spec.space) <= names


RANGES = (
    Range(low=0.01, high=10.0),
    Range(low=-2.0, high=3.0, scale="linear"),
    Range(low=1e-5, high=0.3, scale="one-minus"),
)


@pytest.mark.parametrize("range_", RANGES, ids=lambda range_: range_.scale)
@given(position=st.floats(0.0, 1.0))
@settings(max_examples=50)
def test_positions_and_coordinates_lead_back_to_the_parameter(range_: Range, position: float) -> None:
    value = range_.from_unit(position)
    number = range_.searched(value)
    assert range_.to_unit(value) == pytest.approx(position, abs=1e-9)
    assert range_.from_scale(range_.to_scale(value)) == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert range_.clip(number) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize("range_", RANGES, ids=lambda range_: range_.scale)
def test_ends_of_a_range_have_the_positions_0_and_1(range_: Range) -> None:
    low, high = range_.bounds()
    assert range_.to_unit(low) == pytest.approx(0.0, abs=1e-9)
    assert range_.to_unit(high) == pytest.approx(1.0, abs=1e-9)
    assert range_.clip(range_.low - 1.0) == range_.low
    assert range_.clip(range_.high + 1.0) == range_.high


def test_a_value_without_logarithm_is_at_the_low_end_of_a_log_scale() -> None:
    assert Range(low=0.01, high=10.0).to_unit(0.0) == 0.0
    assert Range(low=1e-5, high=0.3, scale="one-minus").to_unit(1.0) == 0.0
    assert Range(low=0.01, high=10.0).from_scale(Range(low=0.01, high=10.0).to_scale(0.0)) == pytest.approx(1e-12)
