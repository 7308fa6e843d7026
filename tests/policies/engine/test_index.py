"""Leader runs of index policies pull exactly the arms of the general loop, and those of the formula."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from ravenlab.environments import find_scenario, scenarios
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import Worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.index import (
    FEW,
    FEWER,
    NEVER,
    IndexPolicy,
    fill_maxima,
    first_largest,
    is_monotone,
    set_leaf,
    tree_size,
)
from ravenlab.policies.engine.parameters import ParamContext, Values
from ravenlab.policies.engine.play import Played, play
from ravenlab.policies.engine.restart import forced_arm, next_forced_step
from tests.policies.reference import Reference, check_against_reference
from tests.policies.test_d_raven import ReferenceDRaven
from tests.policies.test_glr_klucb import ReferenceGLRKLUCB
from tests.policies.test_kl_ucb import ReferenceKLUCB
from tests.policies.test_sw_raven import ReferenceSWRaven
from tests.policies.test_sw_ucb import ReferenceSWUCB
from tests.policies.test_ucb1 import ReferenceUCB1
from tests.policies.test_ucb_tuned import ReferenceUCBTuned
from tests.policies.test_ucb_v import ReferenceUCBV

SCENARIOS = (*scenarios(), "periodic+blips+arm-churn+incremental-drift", "delayed+arm-churn+variance-drift")
REFERENCES: dict[str, type[Reference]] = {
    "ucb1": ReferenceUCB1,
    "ucb-v": ReferenceUCBV,
    "ucb-tuned": ReferenceUCBTuned,
    "kl-ucb": ReferenceKLUCB,
    "sw-ucb": ReferenceSWUCB,
    "sw-raven": ReferenceSWRaven,
    "d-raven": ReferenceDRaven,
    "glr-klucb": ReferenceGLRKLUCB,
}
EXTREMES: dict[str, list[dict[str, Any]]] = {
    "ucb1": [{}, {"c": 0.0}, {"c": 1e-3}, {"c": 1e6}],
    "ucb-v": [{}, {"zeta": 0.01, "c": 0.01}, {"zeta": 5.0, "c": 0.0}],
    "ucb-tuned": [{}, {"a": 0.0}, {"a": 10.0}],
    "kl-ucb": [{}, {"s2": 1e-4}, {"likelihood": "bernoulli"}],
    "sw-ucb": [{}, {"tau": 1}, {"tau": 60, "xi": 0.001}],
    "sw-raven": [{}, {"tau": 1}, {"tau": 77, "alpha0": 0.01}, {"tau": 9999, "beta0": 10.0}, {"epsilon": 20.0}],
    "d-raven": [{}, {"gamma": 0.0}, {"gamma": 0.7, "alpha0": 0.01}, {"gamma": 0.95, "beta0": 10.0}, {"gamma": 1.0}],
    "glr-klucb": [
        {},
        {"delta": 1.0, "xi": 0.001, "exploration": 0.0},
        {"delta": 1.0, "xi": 5.0, "exploration": 0.5},
        {"delta": 0.0, "exploration": 1.0},
        {"delta": 0.5, "exploration": 1e-4, "s2": 0.02},
        {"delta": 1.0, "likelihood": "bernoulli"},
    ],
}
"""Defaults, ends of the ranges, windows shorter and longer than the horizon, and a coefficient that is not monotone."""


@cache
def draw(scenario: str, horizon: int, arms: int) -> Worlds:
    return draw_worlds(find_scenario(scenario), horizon, arms, 11, 0, 2)


def play_both(name: str, params: Mapping[str, Any], scenario: str, horizon: int, arms: int) -> tuple[Played, Played]:
    """Play two worlds with leader runs and with the general loop, and record pulls and a curve."""
    policy = find_policy(name)
    worlds = draw(scenario, horizon, arms)
    values = policy.resolve(params, worlds.level.shape[2], horizon)
    marks = np.array([max(1, horizon // 2), horizon][-min(2, horizon) :], dtype=np.int64)
    runs, general = (play(policy, values, worlds, 11, 0, 0, marks, pulls=True, runs=runs) for runs in (True, False))
    return runs, general


def test_every_index_policy_is_listed() -> None:
    from ravenlab.policies import policy_names

    assert {name for name in policy_names() if issubclass(find_policy(name), IndexPolicy)} == set(EXTREMES)
    assert set(REFERENCES) == set(EXTREMES)


@pytest.mark.parametrize("name", EXTREMES)
def test_leader_runs_equal_the_general_loop(name: str) -> None:
    for scenario in SCENARIOS:
        for params in EXTREMES[name]:
            runs, general = play_both(name, params, scenario, 700, 6)
            assert np.array_equal(runs.pulls, general.pulls), (scenario, params)
            assert runs.out.tobytes() == general.out.tobytes()
            assert runs.curve.tobytes() == general.curve.tobytes()


def random_candidates(name: str, count: int, arms: int, horizon: int) -> list[Values]:
    """Draw candidates from the search space of a policy."""
    policy, rng = find_policy(name), np.random.default_rng(arms)
    candidates = []
    for _ in range(count):
        params: dict[str, Any] = {}
        for param in policy.parameters:
            context = ParamContext(horizon, arms, {})
            low, high = (bound(context) if callable(bound) else bound for bound in (param.low, param.high))
            if low is not None and high is not None:
                value = float(np.exp(rng.uniform(np.log(low), np.log(high))))
                value = 1.0 - value if param.scale == "one-minus" else value
                params[param.name] = round(value) if param.integer else value
        candidates.append(policy.resolve(params, arms, horizon))
    return candidates


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("arms", [FEWER, FEWER + 1, FEW, FEW + 1, 100])
def test_random_candidates_with_many_arms(name: str, arms: int) -> None:
    """More than FEW or FEWER arms, depending on the policy, are searched in a tree of bounds."""
    for scenario in SCENARIOS:
        for values in random_candidates(name, 3, arms, 1500):
            runs, general = play_both(name, values, scenario, 1500, arms)
            assert np.array_equal(runs.pulls, general.pulls), (scenario, values)
            assert runs.out.tobytes() == general.out.tobytes()


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_candidates_with_many_arms(name: str) -> None:
    for scenario in SCENARIOS:
        for params in EXTREMES[name]:
            runs, general = play_both(name, params, scenario, 800, FEW + 6)
            assert np.array_equal(runs.pulls, general.pulls), (scenario, params)


def test_tree_of_bounds() -> None:
    rng = np.random.default_rng(2)
    for count in (1, 2, 3, 25, 64, 100):
        tree = np.full(tree_size(count), NEVER)
        leaves = tree[tree.size // 2 :]
        leaves[:count] = rng.integers(0, 9, count)
        fill_maxima(tree)
        for _ in range(50):
            assert first_largest(tree) == leaves.argmax()
            assert tree[1] == leaves.max()
            set_leaf(tree, int(rng.integers(count)), float(rng.choice([*range(9), NEVER, np.inf, np.nan])))


@pytest.mark.parametrize("rate", [0.0, 1e-4, 0.03, 0.3, 0.77, 1.0])
def test_next_step_of_forced_exploration(rate: float) -> None:
    for count in (1, 2, 7):
        open_ = np.ones(count, dtype=np.int64)
        forced = [step for step in range(1, 400) if forced_arm(step, open_, rate) >= 0]
        for step in range(1, 200):
            following = [other for other in forced if other > step]
            found = next_forced_step(step, open_, rate)
            assert found == following[0] if following else found >= 400


@pytest.mark.parametrize("name", REFERENCES)
def test_pulls_are_those_of_the_formula_in_all_scenarios(name: str) -> None:
    for scenario in SCENARIOS:
        check_against_reference(name, REFERENCES[name], scenario, horizon=150, arms=5)


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize(("horizon", "arms"), [(1, 1), (5, 5), (40, 1), (300, 2), (400, 70)])
def test_leader_runs_of_small_worlds_and_many_arms(name: str, horizon: int, arms: int) -> None:
    for params in EXTREMES[name]:
        runs, general = play_both(name, params, "stationary", horizon, arms)
        assert np.array_equal(runs.pulls, general.pulls), params


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("scenario", ["stationary", "delayed", "arm-churn"])
def test_fewer_steps_than_arms(name: str, scenario: str) -> None:
    """Worlds are drawn with at least one step per arm, so the first steps of such a world are played."""
    policy, steps = find_policy(name), 4
    worlds = draw_worlds(find_scenario(scenario), 12, 9, 3, 0, 2)
    worlds = worlds._replace(
        starts=np.minimum(worlds.starts, steps + 1),
        closes=np.minimum(worlds.closes, steps + 1),
        noise=worlds.noise[:, :steps].copy(),
        best=worlds.best[:, :steps].copy(),
    )
    for params in EXTREMES[name]:
        values = policy.resolve(params, worlds.level.shape[2], steps)
        marks = np.array([steps], dtype=np.int64)
        runs, general = (play(policy, values, worlds, 3, 0, 0, marks, pulls=True, runs=runs) for runs in (True, False))
        assert runs.pulls.tolist() == general.pulls.tolist() == [[0, 1, 2, 3]] * 2
        assert runs.out.tobytes() == general.out.tobytes()


@pytest.mark.parametrize("name", EXTREMES)
def test_ties_go_to_the_lowest_arm(name: str) -> None:
    """All arms always pay the same, so that all indices with equal counts tie."""
    policy = find_policy(name)
    for arms in (4, FEW + 6):
        worlds = draw_worlds(find_scenario("stationary"), 50 * arms, arms, 1)
        worlds.level[..., 0], worlds.level[..., 1] = 0.5, 0.0
        for params in EXTREMES[name]:
            values = policy.resolve(params, arms, 50 * arms)
            marks = np.empty(0, dtype=np.int64)
            runs, general = (play(policy, values, worlds, 1, 0, 0, marks, pulls=True, runs=x) for x in (True, False))
            assert np.array_equal(runs.pulls, general.pulls), params
            assert runs.pulls[0, :4].tolist() == [0, 1, 2, 3]


def test_monotone_coefficients() -> None:
    assert is_monotone(np.array([9.0, 9.0, 1.0, 2.0, 2.0, 3.0]))
    assert is_monotone(np.array([0.0, 0.0, 3.0, 2.0, 2.0, 1.0]))
    assert not is_monotone(np.array([0.0, 0.0, 1.0, 2.0, 1.0]))
    assert not is_monotone(np.array([0.0, 0.0, 1.0, np.nan, 2.0]))
    assert is_monotone(np.array([0.0, 5.0, 1.0]))
