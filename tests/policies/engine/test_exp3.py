"""Weights of the EXP3 family."""

import json
from typing import Any

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy
from ravenlab.policies.engine.exp3 import (
    ACTIVE,
    CELLS,
    LARGEST_TOTAL,
    SMALLEST_WEIGHT,
    WEIGHT,
    draw_by_weight,
    refresh_totals,
)
from ravenlab.policies.engine.play import compile_loop


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_draws_follow_the_probabilities(gamma: float) -> None:
    open_, arms, cells = np.array([1, 0, 2, 1]), np.zeros((5, 4)), np.zeros(CELLS)
    arms[WEIGHT] = [2.0, 9.0, 1.0, 7.0]
    refresh_totals(open_, arms, cells)
    steps = 10_000
    counts = np.bincount([draw_by_weight(arms, cells, gamma, (i + 0.5) / steps) for i in range(steps)], minlength=4)
    p = np.array([(1 - gamma) * w / 10.0 + gamma / 3 for w in (2.0, 0.0, 1.0, 7.0)]) * [1, 0, 1, 1]
    # With evenly spaced numbers, each count is exact to within one.
    assert np.all(np.abs(counts - steps * p) <= 1.0)
    assert draw_by_weight(arms, cells, gamma, 1.0) == 3


def test_weights_when_arms_open_and_close() -> None:
    open_, arms, cells = np.array([1, 1, 1, 0]), np.zeros((5, 4)), np.zeros(CELLS)
    arms[WEIGHT] = [8.0, 3.0, 1.0, 1.0]
    refresh_totals(open_, arms, cells)
    # The first arm closes with twice the average weight 4; the last arm opens with the average of 3 and 1.
    refresh_totals(np.array([0, 1, 1, 1]), arms, cells)
    assert arms[WEIGHT].tolist() == [2.0, 3.0, 1.0, 2.0]
    assert arms[ACTIVE].tolist() == [0.0, 1.0, 1.0, 1.0]
    assert cells.tolist() == [6.0, 3.0]
    refresh_totals(np.array([1, 1, 0, 1]), arms, cells)
    assert arms[WEIGHT].tolist() == [5.0, 3.0, 0.5, 2.0]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("exp3-s", {}),
        ("exp3-s", {"gamma": 0.2}),
        ("rexp3", {"batch": 1_000_000, "gamma": 0.2}),
        ("ars-exp3", {"eta": 10.0}),
        ("ars-exp3", {"eta": 1e6}),
    ],
)
def test_weights_stay_in_bounds_for_a_million_steps(name: str, params: dict[str, Any]) -> None:
    horizon, count = 1_000_000, 3
    policy = find_policy(name)
    values = policy.resolve(params, count, horizon)
    worlds = draw_worlds(find_scenario("stationary"), horizon, count, 1)
    sizes = policy.sizes(count, values)
    arms, cells = np.zeros((sizes.rows, count)), np.zeros(sizes.cells)
    empty, out = np.zeros(0), np.zeros((1, 3))
    compile_loop(policy)(
        *(worlds, 0, 1, policy.vector(values), np.zeros(count, dtype=np.int64), arms, cells, empty, empty),
        *(np.random.default_rng(1), np.zeros(0, dtype=np.int64), out, np.zeros((1, 0, 2))),
        np.zeros((1, 0), dtype=np.int32),
    )
    assert np.isfinite(arms).all()
    assert np.isfinite(cells).all()
    assert arms[WEIGHT].min() >= SMALLEST_WEIGHT / LARGEST_TOTAL
    assert arms[WEIGHT].max() <= LARGEST_TOTAL
    assert arms[0].sum() == horizon


@pytest.mark.parametrize("name", ["exp3-s", "rexp3", "ars-exp3"])
def test_rewards_of_unselected_arms_change_no_weight(name: str) -> None:
    policy = find_policy(name)(arms=3, horizon=1000, seed=1)
    policy.update_many([0, 1, 2, 0, 0, 1], [0.9, 0.1, 0.2, -1e90, 1e90, 0.3])
    assert policy.state()["stats"][WEIGHT] == [1.0, 1.0, 1.0]
    for _ in range(50):
        policy.update(policy.select(), 1e90)
    json.dumps(policy.state(), allow_nan=False)
