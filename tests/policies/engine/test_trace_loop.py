from typing import cast

import numpy as np
import pytest

from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream, generator
from ravenlab.policies import find_policy
from ravenlab.policies.engine.play import play_windows
from ravenlab.policies.engine.plugins import PlainPolicy
from ravenlab.policies.engine.simulation import simulate
from tests.environments.recordings import trace
from tests.messages import raises_naming

NONE = np.empty(0, dtype=np.int64)


@pytest.mark.parametrize("name", ["raven-ucb", "sw-raven", "ucb-imp", "f-dsw-ts"])
def test_trace_loop_matches_online_policy(name: str) -> None:
    """The online policy, with arms opened and closed at every row, is the reference implementation."""
    policy = find_policy(name)
    scenario = TraceScenario(trace(rows=400, missing=0.25), "trace:t")
    horizon, arms, seed = 60, 4, 5
    worlds = scenario.draw(horizon, seed, 0, 4, Stream.REPORT)
    values = policy.resolve({}, arms, horizon)
    played = play_windows(policy, values, worlds, seed, 0, Stream.REPORT, NONE, pulls=True, locate_regret=True)
    assert np.isnan(scenario.trace.values).any()
    regret = np.zeros((4, horizon))
    suboptimal = np.zeros(4)
    for r, offset in enumerate(worlds.offsets):
        reference = policy(arms, horizon=horizon)
        reference._rng = generator(seed, Stream.REPORT, r, "policy")
        reward = 0.0
        for t in range(horizon):
            row = scenario.trace.values[offset + t]
            for k in range(arms):
                (reference.close if np.isnan(row[k]) else reference.open)(k)
            arm = reference.select()
            assert arm == played.pulls[r, t], (r, t)
            reference.update(arm, float(row[arm]))
            reward += row[arm]
            regret[r, t] = worlds.best[offset + t] - row[arm]
            suboptimal[r] += arm != worlds.best_arm[offset + t]
        np.testing.assert_allclose(played.out[r], [regret[r].sum(), reward, suboptimal[r]], rtol=1e-9)
    np.testing.assert_allclose(played.regret_by_step, regret.sum(axis=0), atol=1e-12)
    by_row = np.zeros(400)
    for r, offset in enumerate(worlds.offsets):
        by_row[offset : offset + horizon] += regret[r]
    np.testing.assert_allclose(played.regret_by_row, by_row, atol=1e-12)


def test_simulation_on_a_trace() -> None:
    recorded = trace(rows=300, missing=0.1)
    result = simulate("raven-ucb", trace=recorded, horizon=40, replications=12, seed=3, checkpoints=4)
    parallel = simulate("raven-ucb", trace=recorded, horizon=40, replications=12, seed=3, jobs=2)
    np.testing.assert_array_equal(result.regret, parallel.regret)
    assert result.regret_fixed is not None
    assert parallel.regret_fixed is not None
    np.testing.assert_array_equal(result.regret_fixed, parallel.regret_fixed)
    assert result.curve is not None
    np.testing.assert_array_equal(result.curve.regret[:, -1], result.regret)
    assert "regret_fixed" in result.summary()


def test_rejects_invalid_sources() -> None:
    recorded = trace(rows=300)
    with raises_naming(InputError, "published-thompson"):
        simulate("published-thompson", trace=recorded, horizon=40)
    with raises_naming(InputError, "scenario", "trace"):
        simulate("ucb1", "blips", trace=recorded)
    with raises_naming(InputError, "scenario", "trace"):
        simulate("ucb1")


def test_plain_class_plays_the_same_windows() -> None:
    class RoundRobin:
        """Pulls the open arms in turn."""

        def __init__(self, arms: int) -> None:
            self.open_arms, self.pulls = set(range(arms)), [0] * arms

        def select(self) -> int:
            return min(self.open_arms, key=lambda k: (self.pulls[k], k))

        def update(self, arm: int, reward: float) -> None:
            assert reward == reward
            self.pulls[arm] += 1

        def open(self, arm: int) -> None:
            self.open_arms.add(arm)

        def close(self, arm: int) -> None:
            self.open_arms.discard(arm)

    attributes = {"name": "turns", "plain": RoundRobin, "takes": frozenset()}
    policy = cast("type[PlainPolicy]", type("TurnsPolicy", (PlainPolicy,), attributes))
    recorded = trace(rows=300, missing=0.2)
    scenario = TraceScenario(recorded, "trace:t")
    worlds = scenario.draw(40, 2, 0, 5, Stream.SELECTION)
    marks = np.array([10, 40], dtype=np.int64)
    played = play_windows(policy, {}, worlds, 2, 0, Stream.SELECTION, marks, pulls=True, locate_regret=True)
    for r, offset in enumerate(worlds.offsets):
        rows = np.arange(offset, offset + 40)
        regret = worlds.best[rows] - worlds.values[rows, played.pulls[r]]
        np.testing.assert_allclose(played.out[r, 0], regret.sum())
        np.testing.assert_allclose(played.curve[r, :, 0], [regret[:10].sum(), regret.sum()])
        assert len(set(played.pulls[r, :4].tolist())) > 1
    np.testing.assert_allclose(played.regret_by_step.sum(), played.out[:, 0].sum())
