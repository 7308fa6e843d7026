"""Online use: the same pulls as in simulations, and robustness to late and lost rewards."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ravenlab.environments import find_scenario
from ravenlab.environments.draw import draw_worlds
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.base import PULLS
from ravenlab.policies.engine.simulation import simulate
from tests.environments import reference_world
from tests.environments.properties import quick
from tests.policies.online import MEAN, NAMES, make, restore_from_json


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scenario", ["stationary", "arm-churn", "localized-jump", "bernoulli", "delayed"])
def test_online_pulls_equal_simulated_pulls(name: str, scenario: str) -> None:
    horizon, arms = 250, 4
    result = simulate(name, scenario, horizon=horizon, arms=arms, replications=1, seed=6, pulls=True)
    world = find_scenario(scenario)
    worlds = draw_worlds(world, horizon, arms, 6)
    policy = make(name, arms + world.extra_arms)
    feedback = reference_world.Feedback(worlds, 0)
    pulls = []
    for t in range(1, horizon + 1):
        for k in range(policy.arms):
            (policy.open if k in reference_world.open_arms(worlds, 0, t) else policy.close)(k)
        arm = policy.select()
        pulls.append(arm)
        policy.update(arm, feedback(arm, t))
        if t == horizon // 2:
            policy = restore_from_json(policy)
    assert result.pulls is not None
    assert pulls == result.pulls[0].tolist()


@quick
@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(-100, 100)), min_size=1, max_size=60),
    st.sampled_from(NAMES),
)
def test_mean_and_variance_match_numpy(events: list[tuple[int, float]], name: str) -> None:
    policy = make(name, 3)
    policy.update_many([arm for arm, _ in events], [x for _, x in events])
    stats = np.array(policy.state()["stats"])
    for k in range(3):
        rewards = [x for arm, x in events if arm == k]
        assert stats[PULLS, k] == len(rewards)
        if rewards:
            assert stats[MEAN, k] == pytest.approx(np.mean(rewards), rel=1e-9, abs=1e-9)
        if len(rewards) > 1 and name == "raven-ucb":
            assert stats[2, k] == pytest.approx(np.var(rewards, ddof=1), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in policy_names() if find_policy(name).hidden_knowledge() is None])
def test_late_and_lost_rewards_closed_arms_and_restore(name: str) -> None:
    arms, rng = 4, np.random.default_rng(3)
    policy = restored = find_policy(name)(arms, seed=5, horizon=400)
    outstanding: list[tuple[int, float]] = []
    for step in range(400):
        if step in (50, 250):
            (policy.close if step == 50 else policy.open)(2)
            (restored.close if step == 50 else restored.open)(2)
            outstanding = [(arm, x) for arm, x in outstanding if arm != 2]
        if step == 150:
            restored = restore_from_json(policy)
        arm = policy.select()
        assert 0 <= arm < arms
        assert arm != 2 or not 50 <= step < 250
        u = rng.random()
        if u < 0.9:
            outstanding.append((arm, rng.normal(0.2 * arm, 0.2)))
        if restored is not policy:
            assert restored.select() == arm
        if u < 0.6:
            for each_policy in {id(policy): policy, id(restored): restored}.values():
                each_policy.update_many([arm for arm, _ in outstanding], [x for _, x in outstanding])
            outstanding = []
    assert restored.state() == policy.state()
    assert min(policy.state()["stats"][PULLS]) > 0


@pytest.mark.parametrize("name", NAMES)
def test_concurrent_use_gives_consistent_counts(name: str) -> None:
    policy, rounds, errors = make(name, 5), 300, []
    barrier = threading.Barrier(8)

    def select_and_update(worker: int) -> None:
        try:
            barrier.wait()
            for i in range(rounds):
                arm = policy.select()
                if worker == 0 and i % 10 == 0:
                    policy.state()
                policy.update(arm, i % 2)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=select_and_update, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = policy.state()
    assert not errors
    assert sum(state["stats"][PULLS]) == state["step"] == 8 * rounds
    assert state["pending"] == [0] * 5
