"""Laws: formulas, scales, ranges, and the shipped data file."""

import math

import pytest

from ravenlab.environments import find_scenario
from ravenlab.policies import find_policy
from ravenlab.studies.laws.axes import CROWDING, RATES, NoLawError, axes_of, features, measure
from ravenlab.studies.laws.law import COORDINATES, LAWS_FILE, answer, load_document, load_laws

SIZES = [(300, 2), (2000, 10), (10_000, 100), (100_000, 30)]


def test_the_data_file_has_a_law_for_every_scenario_and_policy() -> None:
    assert set(load_laws()) == {(scenario, policy) for scenario in RATES for policy in COORDINATES}
    assert LAWS_FILE.stat().st_size < 300_000
    assert {"command", "version", "seeds", "budgets", "settings"} <= load_document()["provenance"].keys()


@pytest.mark.parametrize("scenario", RATES)
@pytest.mark.parametrize("policy", COORDINATES)
def test_parameters_are_valid_everywhere(scenario: str, policy: str) -> None:
    for horizon, arms in SIZES:
        found = answer(find_scenario(scenario), horizon, arms, policy)
        values = find_policy(policy).resolve(found.answer.params, arms, horizon)
        assert 0.01 < float(values["alpha0"]) < 100.0
        mean, low, high = found.answer.regret
        assert 0.0 < low < mean < high < 10.0 * mean


@pytest.mark.parametrize("scenario", RATES)
def test_the_formula_gives_the_parameters_of_the_law(scenario: str) -> None:
    law, problem = load_laws()[scenario, "raven-ucb"], find_scenario(scenario)
    places = features(problem, 7000, 13)
    coordinates = measure(problem, 7000, 13)
    for name, value in law.at(places, 7000, 1.0).items():
        product = law.factor(name) * (1.0 + CROWDING * 13 / 7000) ** law.exponents(name)["crowding"]
        for axis in axes_of(scenario):
            exponent, x = law.exponents(name)[axis.name], coordinates[axis.name]
            product *= x**exponent if axis.logarithmic else math.exp(exponent * x)
        assert product == pytest.approx(value, rel=0.006)


def test_rewards_of_another_scale_change_parameters_and_regret_accordingly() -> None:
    settings = {"mean_low": 3.0, "mean_high": 8.0, "variance_low": 1.0, "variance_high": 9.0}
    plain = answer(find_scenario("stationary"), 5000, 10, "raven-ucb").answer
    large = answer(find_scenario("stationary", settings), 5000, 10, "raven-ucb").answer
    assert large.params["alpha0"] == pytest.approx(10.0 * plain.params["alpha0"], rel=0.006)
    assert large.params["beta0"] == plain.params["beta0"]
    assert large.params["epsilon"] == pytest.approx(100.0 * plain.params["epsilon"], rel=0.006)
    assert [*large.regret] == pytest.approx([*plain.regret.scaled(10.0)])


def test_problems_outside_the_design_are_extrapolated_or_refused() -> None:
    blips = find_scenario("blips")
    assert answer(blips, 100_000, 100, "raven-ucb").kind == "interpolated"
    assert answer(blips, 200_000, 100, "raven-ucb").kind == "extrapolated"
    assert answer(find_scenario("blips", {"noise": "laplace"}), 1000, 10, "raven-ucb").kind == "extrapolated"
    assert answer(find_scenario("blips", {"variance_low": 0.05}), 1000, 10, "raven-ucb").kind == "extrapolated"
    for horizon, arms in ((1_000_000, 10), (60, 10), (10_000, 400)):
        with pytest.raises(NoLawError, match="outside"):
            answer(blips, horizon, arms, "raven-ucb")
    with pytest.raises(NoLawError, match="outside"):
        answer(find_scenario("blips", {"every": 2, "lasting": 1}), 10_000, 10, "raven-ucb")
    with pytest.raises(NoLawError, match="ucb1"):
        answer(blips, 10_000, 10, "ucb1")


def test_policies_that_forget_are_raven_ucb_where_it_is_better() -> None:
    """Stationary rewards need no forgetting; after jumps the own law is better."""
    raven = answer(find_scenario("stationary"), 10_000, 10, "raven-ucb").answer
    for policy, memory in (("sw-raven", {"tau": 10_000.0}), ("d-raven", {"gamma": 1.0 - 1e-6})):
        found = answer(find_scenario("stationary"), 10_000, 10, policy)
        assert found.answer.params == {**raven.params, **memory}
        assert found.answer.regret == raven.regret
        assert found.better is None
        jumps = answer(find_scenario("localized-jump"), 10_000, 10, policy).answer
        raven_after_jumps = answer(find_scenario("localized-jump"), 10_000, 10, "raven-ucb").answer
        assert jumps.regret.mean < raven_after_jumps.regret.mean
        assert jumps.params.items() & memory.items() == set()
