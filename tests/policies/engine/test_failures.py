"""Failing worlds: found by screening, as defined."""

from __future__ import annotations

import numpy as np
import pytest

from environments import find_scenario
from environments.draw import draw_worlds
from environments.streams import Stream
from environments.world import world_tables
from policies import find_policy
from policies.engine.play import REGRET, evaluate, find_failures, last_mark, play, uniform_regret

HORIZON, ARMS, WORLDS, SEED = 400, 4, 60, 5


@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "gradual-drift", "delayed"])
def test_uniform_regret_is_that_of_the_tables(scenario: str) -> None:
    worlds = draw_worlds(find_scenario(scenario), HORIZON, ARMS, SEED, 0, 5, Stream.REPORT)
    for r, regret in enumerate(uniform_regret(worlds)):
        means, _ = world_tables(worlds, r)
        expected = (worlds.best[r] - np.nanmean(means, axis=1))[last_mark(HORIZON) :].sum()
        assert regret == pytest.approx(expected)


@pytest.mark.parametrize(("name", "params"), [("raven-ucb", {"alpha0": 0.05}), ("epsilon-greedy", {"epsilon": 0.3})])
def test_screening_finds_the_failures_of_the_definition(name: str, params: dict[str, float]) -> None:
    policy, first = find_policy(name), 7
    worlds = draw_worlds(find_scenario("stationary"), HORIZON, ARMS, SEED, first, WORLDS, Stream.REPORT)
    values = policy.resolve(params, ARMS, HORIZON)
    marks = np.array([last_mark(HORIZON)], dtype=np.int64)
    played = play(policy, values, worlds, SEED, first, Stream.REPORT, marks, fast=False)
    expected = played.out[:, REGRET] - played.curve[:, 0, REGRET] > 0.5 * uniform_regret(worlds)
    regret = evaluate(policy, [values], worlds, SEED, first, Stream.REPORT)[0, :, REGRET]
    failed = find_failures(policy, values, worlds, SEED, first, Stream.REPORT, regret, uniform_regret(worlds))
    assert failed.tolist() == expected.tolist()
    assert 0 < failed.sum() < WORLDS
