"""Online use: opening and closing arms."""

import pytest

from tests.messages import raises_naming
from tests.policies.online import NAMES, make, make_trained


@pytest.mark.parametrize("name", NAMES)
def test_a_closed_arm_is_never_selected(name: str) -> None:
    policy = make_trained(name)
    policy.close(0)
    policy.close(3)
    for _ in range(100):
        arm = policy.select()
        assert arm in (1, 2)
        policy.update(arm, -1.0)


def test_new_arm_is_selected_when_it_opens() -> None:
    policy = make("ucb1", 3)
    policy.close(2)
    for _ in range(20):
        arm = policy.select()
        assert arm != 2
        policy.update(arm, 0.5)
    policy.open(2)
    assert policy.select() == 2


def test_statistics_survive_closing() -> None:
    policy = make_trained()
    stats = policy.state()["stats"]
    policy.close(1)
    policy.open(1)
    assert policy.state()["stats"] == stats


def test_arm_closed_without_a_reward_is_selected_again() -> None:
    policy = make("ucb1", 3)
    assert policy.select() == 0
    policy.close(0)
    assert policy.state()["pending"] == [0, 0, 0]
    policy.open(0)
    assert policy.select() == 0


def test_select_fails_if_all_arms_are_closed() -> None:
    policy = make("ucb1", 2)
    policy.close(0)
    policy.close(1)
    before = policy.state()
    with raises_naming(ValueError, "arms", "closed"):
        policy.select()
    assert policy.state() == before
    policy.open(1)
    assert policy.select() == 1
