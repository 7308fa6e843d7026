"""Online use: names of arms, and costs instead of rewards."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas
import pytest

from ravenlab.environments import InputError
from ravenlab.policies import UCB1
from tests.faults.states import ONLINE
from tests.messages import assert_names, raises_naming
from tests.policies.online import make

NAMES = ["north", "söuth", "1"]


def test_select_returns_names_or_numbers() -> None:
    policy = UCB1(arms=3, names=NAMES)
    assert [policy.select() for _ in range(3)] == NAMES
    policy.update_many(NAMES, [0.1, 0.2, 0.9])
    assert policy.select(index=True) == 2
    assert UCB1(arms=3).select(index=True) == 0


def test_arms_are_given_by_name_or_number() -> None:
    named, numbered = UCB1(arms=3, names=NAMES), UCB1(arms=3)
    for arm, number in (("north", 0), (np.str_("söuth"), 1), ("1", 2), (0, 0), (np.int64(2), 2)):
        named.update(arm, 0.5)
        numbered.update(number, 0.5)
    named.close("söuth")
    numbered.close(1)
    named.open("söuth")
    named.close("north")
    numbered.open(1)
    numbered.close(0)
    for field in ("stats", "open", "step"):
        assert named.state()[field] == numbered.state()[field]


def test_number_that_is_the_name_of_another_arm_is_rejected() -> None:
    policy = UCB1(arms=3, names=NAMES)
    with raises_naming(InputError, "arm", "1", "'1'"):
        policy.update(1, 0.5)
    assert UCB1(arms=2, names=["0", "1"]).update(1, 0.5) is None


@pytest.mark.parametrize("arm", ["nort", "", "\x1b[31m\n", "x" * 10_000])
def test_unknown_names_are_rejected_with_a_list_of_names(arm: str) -> None:
    policy = UCB1(arms=3, names=[*NAMES[:2], "a\nb"])
    before = policy.state()
    for call in (policy.open, policy.close, lambda name: policy.update_many(["north", name], [1.0, 1.0])):
        with pytest.raises(InputError) as caught:
            call(arm)
        assert_names(str(caught.value), "arm", "north", "söuth", "a\\nb")
        assert str(caught.value).isprintable()
    assert policy.state() == before


@pytest.mark.parametrize("arm", [-1, 3, 1.0, None, True])
def test_other_arms_are_rejected(arm: Any) -> None:
    with raises_naming(InputError, "arm", "names", "0", "2"):
        UCB1(arms=3, names=NAMES).update(arm, 0.5)


@pytest.mark.parametrize("names", [np.array(["a", "b"]), pandas.Index(["a", "b"]), ("a", "b"), {"a": 1, "b": 2}])
def test_all_sequences_of_names_are_accepted(names: Any) -> None:
    policy = UCB1(arms=2, names=names)
    assert policy.names == ("a", "b")
    assert all(type(name) is str for name in policy.names)


@pytest.mark.parametrize("names", ["ab", 2, [], ["a"], ["a", "b", "c"], ["a", "a"], ["a", 1], ["a", ""], [["a"], "b"]])
def test_other_names_are_rejected(names: Any) -> None:
    with raises_naming(InputError, "names"):
        UCB1(arms=2, names=names)


@pytest.mark.parametrize("minimize", [None, 1, "true"])
def test_other_values_of_minimize_are_rejected(minimize: Any) -> None:
    with raises_naming(InputError, "minimize"):
        UCB1(arms=2, minimize=minimize)


@pytest.mark.parametrize("name", ONLINE)
def test_costs_are_negative_rewards(name: str) -> None:
    costs, rewards = make(name, 3, seed=1, horizon=200, minimize=True), make(name, 3, seed=1, horizon=200)
    rng = np.random.default_rng(2)
    for _ in range(100):
        arm = costs.select()
        assert arm == rewards.select()
        cost = float(arm + rng.random())
        costs.update(arm, cost)
        rewards.update(arm, -cost)
    assert costs.state()["stats"] == rewards.state()["stats"]


def test_costs_are_named_in_messages() -> None:
    with raises_naming(InputError, "cost", "nan"):
        UCB1(arms=2, minimize=True).update(0, float("nan"))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda policy: pickle.loads(pickle.dumps(policy))])
def test_copies_keep_names_and_costs(copied: Any) -> None:
    policy = UCB1(arms=2, names=["a", "b"], minimize=True)
    policy.update_many(["a", "b"], [3.0, 1.0])
    twin = copied(policy)
    assert repr(twin) == repr(policy)
    assert [twin.select() for _ in range(5)] == [policy.select() for _ in range(5)]
    assert twin.state() == policy.state()
