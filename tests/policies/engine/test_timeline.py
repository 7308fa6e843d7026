"""Timelines: regret is that of `simulate`, columns summarize steps, and recovery is counted as defined."""

from typing import Any

import numpy as np
import pytest

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import world_tables
from ravenlab.policies import find_policy
from ravenlab.policies.engine.simulation import simulate
from ravenlab.policies.engine.timeline import (
    Player,
    count_recovery,
    find_changes,
    keep_lasting,
    record_timeline,
    smooth_folds,
    summarize_means,
)

POLICIES = ("raven-ucb", "ucb1", "thompson")


def make_players(arms: int, horizon: int) -> list[Player]:
    return [
        Player(name, policy, policy.resolve({}, arms, horizon)) for name in POLICIES for policy in [find_policy(name)]
    ]


@pytest.mark.parametrize(
    ("name", "horizon", "arms"), [("localized-jump", 700, 4), ("arm-churn", 4321, 3), ("random-walk", 5000, 5)]
)
def test_pulls_and_regret_are_those_of_simulate(name: str, horizon: int, arms: int) -> None:
    scenario = find_scenario(name)
    players = make_players(arms + scenario.extra_arms, horizon)
    timeline = record_timeline(scenario, players, horizon, arms, seed=5, replication=2)
    ends = timeline.ends
    assert ends.size == min(2000, horizon)
    assert ends[-1] == horizon
    means, _ = world_tables(draw_worlds(scenario, horizon, arms, 5, 2, 1, Stream.SIMULATE))
    first = np.concatenate([[0], ends[:-1]])
    for row, player in enumerate(players):
        run = simulate(
            player.policy,
            scenario,
            horizon=horizon,
            arms=arms,
            replications=3,
            seed=5,
            checkpoints=ends.tolist(),
            pulls=True,
        )
        assert run.curve is not None
        assert run.pulls is not None
        np.testing.assert_array_equal(timeline.regret[row], run.curve.regret[2])
        pulls = run.pulls[2]
        regret = np.nanmax(means, axis=1) - means[np.arange(horizon), pulls]
        for column in range(0, ends.size, 97):
            part = slice(first[column], ends[column])
            assert timeline.pulls[row, column] == np.bincount(pulls[part]).argmax()
            averages = np.ma.masked_invalid(means[part]).mean(axis=0).filled(np.nan)
            np.testing.assert_allclose(timeline.means[column], averages, rtol=1e-12)
        assert timeline.hits[row, -1] >= (regret <= 1e-9).sum()
    assert [change.step for change in timeline.changes] == sorted(change.step for change in timeline.changes)
    for change in timeline.changes[:5]:
        assert np.nanargmax(means[change.step - 1]) == change.after


def test_recovery_in_a_world_made_by_hand() -> None:
    """Arm 1 replaces arm 0 at step 101; the first policy notices after 30 steps, the second one never does."""
    means = np.where(np.arange(200)[:, None] < 100, [0.9, 0.1], [0.2, 0.6])
    pulls = np.zeros((2, 200), dtype=np.int64)
    pulls[0, 130:] = 1
    pulls[0, 140:145] = 0
    averages, best, hits = summarize_means(
        lambda first, count: means[first - 1 : first - 1 + count], np.arange(20, 201, 20), pulls
    )
    np.testing.assert_allclose(averages, means[::20])
    (change,) = find_changes(keep_lasting(best), hits)
    assert (change.step, change.lasting, change.before, change.after) == (101, 100, 0, 1)
    assert change.recovery == [30, None]


def test_chunks_do_not_change_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    means = rng.normal(size=(1000, 3))
    means[rng.random(means.shape) < 0.1] = np.nan
    means[:, 0] = 0.0
    pulls = rng.integers(0, 3, (2, 1000))
    ends = np.arange(1, 301) * 1000 // 300

    def summarize() -> tuple[Any, ...]:
        return summarize_means(lambda first, count: means[first - 1 : first - 1 + count].copy(), ends, pulls)

    whole = summarize()
    monkeypatch.setattr("ravenlab.policies.engine.timeline.CHUNK_CELLS", 100)
    for expected, found in zip(whole, summarize(), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(whole[1], np.nan_to_num(means, nan=-np.inf).argmax(axis=1))


def test_recovery_needs_most_of_the_next_pulls() -> None:
    lucky = np.zeros(100, dtype=bool)
    lucky[[3, 20, 21]] = True
    assert count_recovery(lucky) is None
    lucky[60:] = True
    assert count_recovery(lucky) == 60
    lucky[60::5] = False  # 80 % of the pulls remain
    assert count_recovery(lucky) == 61
    assert count_recovery(np.ones(9, dtype=bool)) is None
    assert count_recovery(np.ones(10, dtype=bool)) == 0


def test_equal_arms_are_all_best() -> None:
    means = np.full((50, 2), 0.5)
    _, best, hits = summarize_means(
        lambda first, count: means[first - 1 : first - 1 + count], np.arange(1, 51), np.ones((1, 50), dtype=np.int64)
    )
    assert set(best) == {0}
    assert hits.all()


def test_both_folds_are_averaged_where_the_arm_is_open() -> None:
    means = np.array([[1.0, 4.0], [3.0, np.nan], [1.0, np.nan], [3.0, 6.0], [1.0, 8.0]])
    averages = smooth_folds(means, 2)
    np.testing.assert_allclose(averages[:-1, 0], 2.0)
    np.testing.assert_array_equal(np.isnan(averages), np.isnan(means))
    np.testing.assert_allclose(averages[[0, 3], 1], [4.0, 7.0])


def test_a_trace_is_played_from_its_first_to_its_last_row() -> None:
    levels = np.where(np.arange(900)[:, None] < 450, [0.9, 0.1, 0.5], [0.1, 0.8, 0.5])
    values = np.random.default_rng(3).normal(levels, 0.05)
    scenario = TraceScenario(Trace.from_values(["a", "b", "c"], values), "trace:mine")
    timeline = record_timeline(scenario, make_players(3, 900), 900, 3, seed=0, replication=0)
    assert timeline.pulls.shape == (3, 900)
    assert [(change.before, change.after) for change in timeline.changes] == [(0, 1)]
    assert abs(timeline.changes[0].step - 451) < 20
    pulled = timeline.pulls[0]
    benchmark, best_arm, _ = scenario._tables
    regret = benchmark - values[np.arange(900), pulled]
    np.testing.assert_allclose(timeline.regret[0], regret.cumsum(), atol=1e-9)
    assert timeline.hits[0, -1] == pytest.approx((pulled == best_arm).sum(), abs=30)
