"""Worlds against the reference implementation."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.environments import find_scenario
from ravenlab.environments.catalog import EFFECTS
from ravenlab.environments.draw import draw_worlds
from ravenlab.environments.world import DELAYED, world_tables
from ravenlab.policies.engine.simulation import simulate
from tests.environments import reference_world
from tests.environments.properties import quick
from tests.environments.reference_means import PlainWorld

SCENARIOS: list[tuple[str, dict[str, Any]]] = [
    ("stationary", {}),
    *((name, {}) for name in EFFECTS),
    ("bernoulli", {}),
    ("logistics", {"every": 12}),
    ("gradual-drift+localized-jump", {}),
    ("localized-jump+blips+arm-churn", {"blips.every": 7, "lasting": 3, "fraction": 0.4}),
    ("incremental-drift+periodic+blips", {"period": 500}),
    ("variance-drift+gradual-drift", {"growth": 3.0}),
    ("gradual-drift+incremental-drift+periodic+localized-jump+blips+arm-churn", {"blips.every": "9%"}),
    ("incremental-drift+gradual-drift", {"noise": "bernoulli", "drift": 3.0}),
    ("localized-jump", {"times": "geometric"}),
    ("localized-jump+incremental-drift", {"times": "jittered", "every": 7}),
    ("blips", {"times": "geometric", "every": 9, "lasting": 4}),
    ("gradual-drift+localized-jump+blips+arm-churn", {"localized-jump.times": "jittered", "blips.times": "geometric"}),
    ("random-walk", {"segments": 7, "over": "20%"}),
    ("random-walk+periodic", {"noise": "bernoulli", "deviation": 3.0}),
    (
        "random-walk+gradual-drift+localized-jump+blips+arm-churn",
        {"localized-jump.times": "geometric", "blips.times": "jittered"},
    ),
    ("arm-churn+blips", {"closing": "random", "opens": 60, "closes": 60}),
    ("arm-churn+delayed", {"noise": "laplace", "longest": 500}),
    *((f"published-{name}", {"every": 20}) for name in ("variance-drift", "incremental-drift", "blips", "logistics")),
]


@pytest.mark.parametrize(("name", "settings"), [case for case in SCENARIOS if "published" not in case[0]])
def test_worlds_equal_the_reference_implementation(name: str, settings: dict[str, Any]) -> None:
    horizon, arms, seed = 97, 5, 3
    scenario = find_scenario(name, settings)
    worlds = draw_worlds(scenario, horizon, arms, seed, replications=2)
    for r in range(2):
        reference = PlainWorld(scenario, horizon, arms, seed, r)
        means, variances = world_tables(worlds, r)
        for t in range(1, horizon + 1):
            for k in range(reference.arms):
                if reference.is_open(k, t):
                    assert means[t - 1, k] == pytest.approx(reference.mean(k, t), abs=1e-12)
                    assert variances[t - 1, k] == pytest.approx(reference.variance(k, t), abs=1e-12)
                else:
                    assert np.isnan(means[t - 1, k])
                    assert np.isnan(variances[t - 1, k])
            assert worlds.best[r, t - 1] == np.nanmax(means[t - 1])


@pytest.mark.parametrize(("name", "settings"), SCENARIOS)
def test_best_is_the_largest_mean_of_the_open_arms(name: str, settings: dict[str, Any]) -> None:
    worlds = draw_worlds(find_scenario(name, settings), 150, 6, seed=4, replications=2)
    for r in range(2):
        for t in range(1, 151):
            expected = max(reference_world.mean(worlds, r, k, t) for k in reference_world.open_arms(worlds, r, t))
            assert worlds.best[r, t - 1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["stationary", "incremental-drift", "incremental-drift+blips", "arm-churn"])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_best_is_exact_for_nearly_equal_means_of_any_size(name: str, size: float) -> None:
    """The means differ by a few units of the last digit, so that rounding decides which is the largest."""
    settings = {"mean_low": size, "mean_high": size * (1.0 + 1e-14)}
    settings |= {"drift": 1e-13 * size} if "drift" in name else {}
    worlds = draw_worlds(find_scenario(name, settings), 300, 20, seed=4, replications=3)
    for r in range(3):
        np.testing.assert_array_equal(worlds.best[r], np.nanmax(world_tables(worlds, r)[0], axis=1))


@pytest.mark.parametrize(("name", "settings"), SCENARIOS)
def test_regret_reward_and_suboptimal_pulls_follow_from_the_pulls(name: str, settings: dict[str, Any]) -> None:
    horizon, arms = 180, 5
    result = simulate("ucb1", name, horizon=horizon, arms=arms, settings=settings, replications=2, seed=9, pulls=True)
    worlds = draw_worlds(find_scenario(name, settings), horizon, arms, 9, 0, 2)
    assert result.pulls is not None
    for r in range(2):
        regret = reward = suboptimal = 0.0
        for t in range(1, horizon + 1):
            open_arms, k = reference_world.open_arms(worlds, r, t), int(result.pulls[r, t - 1])
            assert k in open_arms
            gap = max(reference_world.mean(worlds, r, j, t) for j in open_arms) - reference_world.mean(worlds, r, k, t)
            regret += gap
            suboptimal += gap > 1e-12
            reward += reference_world.reward(worlds, r, k, t)
        assert result.regret[r] == pytest.approx(regret, abs=1e-9)
        assert result.reward[r] == pytest.approx(reward, abs=1e-9)
        assert result.suboptimal_pulls[r] == suboptimal


@pytest.mark.parametrize("policy", ["ucb1", "raven-ucb"])
def test_all_policies_play_the_same_worlds(policy: str) -> None:
    """The reward of an arm at a step is a function of the world."""
    runs = [
        simulate(policy, "blips", horizon=200, arms=4, replications=3, seed=2, params=params, pulls=True)
        for params in ({}, {"c": 0.1} if policy == "ucb1" else {"alpha0": 0.1})
    ]
    assert not np.array_equal(np.array(runs[0].pulls), np.array(runs[1].pulls))
    worlds = draw_worlds(find_scenario("blips"), 200, 4, 2, 0, 3)
    for run in runs:
        assert run.pulls is not None
        for r in range(3):
            expected = sum(reference_world.reward(worlds, r, int(k), t) for t, k in enumerate(run.pulls[r], start=1))
            assert run.reward[r] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("name", "settings"), SCENARIOS)
def test_no_array_has_steps_times_arms_entries(name: str, settings: dict[str, Any]) -> None:
    horizon, arms, replications = 4000, 100, 2
    shares = {key: value for key, value in settings.items() if not isinstance(value, int)}
    most = 3
    if "random-walk" in name or any(key.endswith("times") for key in settings):
        most = 25  # room for more changes than expected
    if "random-walk" in name:  # has up to 1,000 levels of every arm at any horizon
        shares["segments"] = 20
    worlds = draw_worlds(find_scenario(name, shares), horizon, arms, 1, 0, replications)
    for array in worlds[1:]:
        assert array.size <= most * replications * horizon < replications * horizon * arms


def test_the_estimated_memory_is_the_memory_used() -> None:
    for name, settings in SCENARIOS:
        scenario = find_scenario(name, settings)
        worlds = draw_worlds(scenario, 3000, 20, 1, 0, 2)
        shared = ("kind", "season", "share")
        per_world = sum(getattr(worlds, part).nbytes for part in worlds._fields if part not in shared) / 2
        unplanned = 48 * (20 + scenario.extra_arms) + 8  # motion, opens, closes and the last start: negligible
        assert per_world <= scenario.bytes_per_world(3000, 20) + unplanned


@quick
@given(drift=st.floats(0, 5), seed=st.integers(0, 10**6))
def test_only_bernoulli_means_are_clipped(drift: float, seed: int) -> None:
    for noise in ("bernoulli", "normal"):
        scenario = find_scenario("incremental-drift", {"drift": drift, "noise": noise})
        means, _ = world_tables(draw_worlds(scenario, 40, 3, seed))
        raw = draw_worlds(find_scenario("incremental-drift", {"drift": drift}), 40, 3, seed)
        line = raw.level[0, 0, :, 0] + raw.motion[0, :, 0] * np.arange(1, 41)[:, None]
        assert np.allclose(means, np.clip(line, 0, 1) if noise == "bernoulli" else line, atol=1e-12)


def test_delayed_feedback_only_loses_parts_after_the_horizon() -> None:
    worlds = draw_worlds(find_scenario("delayed"), 300, 3, seed=1)
    assert worlds.kind & DELAYED
    feedback = reference_world.Feedback(worlds, 0)
    received = sum(feedback(0, t) for t in range(1, 301))
    total = sum(reference_world.reward(worlds, 0, 0, t) for t in range(1, 301))
    assert received + sum(feedback.due.values()) == pytest.approx(total, abs=1e-9)
