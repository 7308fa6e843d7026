"""Online use: late, lost, batched and invalid rewards."""

import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies.engine.base import PULLS
from tests.faults.states import ONLINE
from tests.messages import raises_naming
from tests.policies.online import Lottery, make, make_trained, restore_from_json


def test_rewards_may_arrive_late_and_in_any_order() -> None:
    policy = make("ucb1", 3)
    selected = [policy.select() for _ in range(3)]
    assert selected == [0, 1, 2]
    for arm in (2, 0, 1):
        policy.update(arm, 0.1 * arm)
    assert policy.state()["pending"] == [0, 0, 0]
    assert policy.state()["step"] == 3
    assert np.array(policy.state()["stats"])[1] == pytest.approx([0.0, 0.1, 0.2])


def test_select_works_while_all_rewards_are_outstanding() -> None:
    policy = make("raven-ucb", 3)
    selected = [policy.select() for _ in range(300)]
    assert set(selected) == {0, 1, 2}
    assert sum(policy.state()["pending"]) == 300
    policy.update_many(selected, [0.5] * 300)
    assert policy.state()["pending"] == [0, 0, 0]
    assert policy.state()["step"] == 300
    assert sum(policy.state()["stats"][PULLS]) == 300


def test_batch_equals_single_updates() -> None:
    single, batched = make("raven-ucb", 3, seed=1), make("raven-ucb", 3, seed=1)
    arms, rewards = [0, 1, 2, 2, 1], [0.1, 0.2, 0.3, 0.4, 0.5]
    for arm, reward in zip(arms, rewards, strict=True):
        single.update(arm, reward)
    batched.update_many(np.array(arms), np.array(rewards))  # type: ignore[arg-type]
    assert single.state() == batched.state()


def test_reward_of_an_unselected_arm_counts_as_a_step() -> None:
    policy = make("ucb1", 3)
    policy.update(2, 0.7)
    assert policy.state()["step"] == 1
    assert [policy.select(), policy.select()] == [0, 1]
    assert policy.state()["step"] == 3


@pytest.mark.parametrize("reward", [1, 0.5, True, np.float32(0.5), np.int64(1), np.bool_(True)])
def test_accepts_all_number_types(reward: Any) -> None:
    policy = make("ucb1", 1)
    policy.update(0, reward)
    assert policy.state()["stats"][1] == [float(reward)]


@pytest.mark.parametrize(
    "reward",
    [math.nan, math.inf, -math.inf, np.float64("nan"), 10**400, 1e300, "1", None, [1.0], 1j, np.array([1.0])],
)
def test_invalid_reward_changes_nothing(reward: Any) -> None:
    policy = make_trained()
    policy.select()
    before = policy.state()
    with raises_naming(ValueError, "reward"):
        policy.update(0, reward)
    with raises_naming(ValueError, "reward"):
        policy.update_many([0, 1], [0.5, reward])
    assert policy.state() == before


@pytest.mark.parametrize("arm", [-1, 4, 10**30, 1.0, 1.5, "1", None, True, False, np.bool_(True), [1], math.nan])
def test_invalid_arm_changes_nothing(arm: Any) -> None:
    policy = make_trained()
    before = policy.state()
    for method in (policy.open, policy.close):
        with raises_naming(ValueError, "arm", "0", "3"):
            method(arm)
    with raises_naming(ValueError, "arm", "0", "3"):
        policy.update(arm, 0.5)
    with raises_naming(ValueError, "arm", "0", "3"):
        policy.update_many([0, arm], [0.5, 0.5])
    assert policy.state() == before


def test_late_rewards_of_a_closed_arm_are_learned_from() -> None:
    closed, open_ = make_trained(), make_trained()
    closed.close(2)
    for policy in (closed, open_):
        policy.update(2, 0.5)
        policy.update_many([0, 2], [0.25, 0.75])
    assert closed.state()["stats"] == open_.state()["stats"]
    assert closed.state()["open"] == [1, 1, 0, 1]
    assert all(closed.select() != 2 for _ in range(50))


@pytest.mark.parametrize("name", ONLINE)
def test_all_policies_accept_rewards_of_closed_arms(name: str) -> None:
    """Also while all arms are closed; the state stays valid, and later the policy selects open arms only."""
    rng = np.random.default_rng(0)
    policy = make(name, 3, seed=0, horizon=200)
    for step in range(300):
        arm = policy.select()
        policy.update(arm, float(rng.random()))
        policy.close(arm)
        policy.update(arm, float(rng.random()))
        if step % 3 == 2:
            assert not any(policy.state()["open"])
            policy.update_many([0, 1, 2], rng.random(3).tolist())
            assert restore_from_json(policy).state() == policy.state()
            for closed in range(3):
                policy.open(closed)


@pytest.mark.parametrize(("arms", "rewards"), [([0, 1], [0.5]), (0, 0.5), (None, [0.5]), ([0], None), ("0", [0.5])])
def test_invalid_batch_changes_nothing(arms: Any, rewards: Any) -> None:
    policy = make_trained()
    before = policy.state()
    with pytest.raises(ValueError, match=r"arms? (and rewards )?must"):
        policy.update_many(arms, rewards)
    assert policy.state() == before


def test_lost_rewards_do_not_starve_an_arm(lottery: type[Lottery]) -> None:
    for policy in (make("ucb1", 3), lottery(3, horizon=10, seed=1)):
        counts = [0, 0, 0]
        for step in range(400):
            arm = policy.select()
            counts[arm] += 1
            if arm != 1 or step > 200:
                policy.update(arm, 0.5)
        assert counts[1] > 10
        assert policy.state()["stats"][PULLS][1] > 5


def test_arm_with_a_lost_first_reward_is_selected_again() -> None:
    policy = make("ucb1", 2)
    assert policy.select() == 0
    later = []
    for _ in range(30):
        arm = policy.select()
        later.append(arm)
        if arm == 1:
            policy.update(arm, 0.5)
    assert 0 in later
    assert later.index(0) >= 15


def test_outstanding_rewards_do_not_block_a_policy_that_skips_waiting_arms(lottery: type[Lottery]) -> None:
    policy = lottery(2, horizon=10, seed=1)
    policy.update_many([0, 1], [0.5, 0.5])
    assert {policy.select(), policy.select()} == {0, 1}
    assert {policy.select(), policy.select()} == {0, 1}
