"""Replaying a log: comparison with a plain loop, unbiased scores, and the coverage of intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ravenlab
from environments.errors import InputError
from environments.recorded.log_file import Log
from environments.recorded.log_world import LogScenario
from environments.streams import Stream
from policies import find_policy
from policies.engine.play import play_logs
from tests.environments.recordings import draw_log
from tests.messages import raises_naming
from tools.replay_coverage import CASES, Case, covered


@pytest.mark.parametrize("name", ["raven-ucb", "sw-raven", "ucb1"])
@pytest.mark.parametrize("propensities", [False, True])
def test_replay_loop_matches_online_policy(name: str, propensities: bool) -> None:
    policy = find_policy(name)
    log = draw_log(events=1200, propensities=propensities)
    arms = log.arm.copy()
    arms[600:][arms[600:] == 1] = 0
    log = Log.from_columns([log.names[k] for k in arms], log.reward, log.propensity)
    scenario = LogScenario(log, "log:t")
    values = policy.resolve({}, 3, 400)
    worlds = scenario.draw(400, 5, 0, 20, Stream.SIMULATE)
    assert worlds.switch_at.size == 1
    played = play_logs(policy, values, worlds, 5, 0, Stream.SIMULATE)
    for r in (0, 1, 19):
        params: dict[str, Any] = {key: value for key, value in values.items() if key != "horizon"}
        reference = policy(3, horizon=400, **params)
        gained = weights = squares = total = 0.0
        matched, selected = 0, reference.select()
        for i in range(log.events):
            if i == worlds.switch_at[0]:
                reference.close(1)
                selected = reference.select() if selected == 1 else selected
            event = int(worlds.starts[r, i // worlds.block]) + i % worlds.block
            x, w = float(log.reward[event]), float(worlds.weight[event])
            total += x
            if selected == log.arm[event]:
                reference.update(selected, x)
                gained, weights, squares, matched = gained + w * x, weights + w, squares + w * w, matched + 1
                selected = reference.select()
        np.testing.assert_allclose(played.tally[r], [gained, weights, squares, matched, total], rtol=1e-9)
        assert played.effective[r] == pytest.approx(weights**2 / squares)
        assert played.score[r] == pytest.approx(gained / weights)


@pytest.mark.parametrize("propensities", [False, True])
def test_score_of_uniform_policy_is_unbiased(propensities: bool) -> None:
    """ε-greedy with ε = 1 earns the mean over all arms, regardless of the logging policy."""
    log = draw_log(events=20000, propensities=propensities)
    result = ravenlab.replay("epsilon-greedy", log, params={"epsilon": 1.0}, resamples=128)
    truth = 0.2 + 0.5 / 3
    assert abs(result.score - truth) < 4 * 0.4 / np.sqrt(result.matched)
    assert result.logged < truth - 0.02


def test_costs_are_negative_rewards() -> None:
    log = draw_log()
    costs = Log.from_columns([log.names[k] for k in log.arm], -log.reward)
    one = ravenlab.replay("raven-ucb", log, resamples=128)
    other = ravenlab.replay("raven-ucb", costs, minimize=True, resamples=128)
    assert (other.score, other.low, other.high) == pytest.approx((-one.score, -one.high, -one.low))
    assert one.matched == other.matched


def test_rejects_invalid_arguments() -> None:
    with raises_naming(InputError, "published-thompson"):
        ravenlab.replay("published-thompson", draw_log())
    with raises_naming(InputError, "resamples", "128"):
        ravenlab.replay("ucb1", draw_log(), resamples=5)
    with raises_naming(InputError, "clip", "1"):
        ravenlab.replay("ucb1", draw_log(), clip=0.5)


def test_interval_coverage_is_close_to_95_percent() -> None:
    """The coverage in 100 trials is within 4 standard errors of 95 %."""
    hits, _, _ = covered(Case("raven-ucb", 5, 1500), tries=100, resamples=256, runs=400)
    assert abs(hits / 100 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 100)


@pytest.mark.stress
@pytest.mark.parametrize("case", CASES, ids=str)
def test_interval_coverage_is_93_to_97_percent(case: Case) -> None:
    hits, _, _ = covered(case, tries=1000, resamples=640)
    assert 930 <= hits <= 970
