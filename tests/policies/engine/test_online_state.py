"""Online use: saving, restoring and validating the state."""

import copy
import math
from typing import Any

import numpy as np
import pytest

from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import Policy
from tests.faults.states import with_checksum
from tests.messages import raises_naming
from tests.policies.online import NAMES, Lottery, make_trained, restore_from_json


@pytest.mark.parametrize("name", NAMES)
def test_restored_policy_continues_identically(name: str) -> None:
    policy = make_trained(name)
    policy.close(3)
    policy.select()
    restored = restore_from_json(policy)
    assert type(restored) is type(policy)
    assert restored.state() == policy.state()
    for step in range(60):
        arms = policy.select(), restored.select()
        assert arms[0] == arms[1]
        for each_policy in (policy, restored):
            each_policy.update(arms[0], math.sin(step))
    assert restored.state() == policy.state()


def test_restored_random_policy_continues_identically(lottery: type[Lottery]) -> None:
    policy = lottery(5, horizon=100, seed=3)
    for _ in range(20):
        policy.update(policy.select(), 0.5)
    restored = restore_from_json(policy)
    assert restored.values == {"horizon": 100.0}
    future = [[each_policy.select() for _ in range(200)] for each_policy in (policy, restored)]
    assert future[0] == future[1]
    assert restored.state() == policy.state()


def test_seed_makes_a_random_policy_reproducible(lottery: type[Lottery]) -> None:
    def select_arms(seed: int | None) -> list[int]:
        policy = lottery(5, horizon=100, seed=seed)
        policy.update_many(range(5), [0.5] * 5)
        return [policy.select() for _ in range(50)]

    assert select_arms(1) == select_arms(1)
    assert select_arms(1) != select_arms(2)
    assert select_arms(None) != select_arms(None)


def test_a_state_is_a_copy() -> None:
    policy = make_trained()
    state = policy.state()
    expected = copy.deepcopy(state)
    policy.update(0, 5.0)
    assert state == expected


def test_class_accepts_only_its_own_state() -> None:
    with raises_naming(ValueError, "ucb1", "raven-ucb"):
        find_policy("raven-ucb").from_state(make_trained("ucb1").state())


@pytest.mark.parametrize("field", make_trained().state())
def test_every_field_is_required(field: str) -> None:
    state = make_trained().state()
    del state[field]
    with raises_naming(ValueError, field):
        Policy.from_state(state)


@pytest.mark.parametrize("field", make_trained().state())
@pytest.mark.parametrize("value", [None, "x", -1, 3.5, [], {}, [math.nan] * 4, [[1, 2], [3]], [2**70] * 4, 10**12])
def test_rejects_damaged_fields(field: str, value: Any) -> None:
    state = make_trained().state()
    if state[field] == value:
        value = "invalid"
    with pytest.raises(ValueError):  # noqa: PT011 - the message depends on the field
        Policy.from_state({**state, field: value})


@pytest.mark.parametrize(
    ("field", "damage"),
    [
        ("params", {"alpha0": 1.0}),
        ("names", ["a", "b", "c", "d"]),
        ("minimize", True),
        ("params", {**make_trained().values, "seed": 1}),
        ("params", {**make_trained().values, "alpha0": "x"}),
        ("params", {**make_trained().values, "alpha0": 2.0}),
        ("params", dict(enumerate(make_trained().values))),
        ("generator", {}),
        ("generator", {"bit_generator": "MT19937"}),
        ("generator", {**make_trained().state()["generator"], "state": {"state": -1, "inc": 2**200}}),
        ("open", [1, 1, 1, 7]),
        ("pending", [0, 0, 0, -4]),
        ("stats", np.zeros((5, 4)).tolist()),
        ("step", 10**30),
        ("check", "0"),
    ],
)
def test_checksum_detects_small_changes(field: str, damage: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message depends on the field
        Policy.from_state({**make_trained().state(), field: damage})


@pytest.mark.parametrize("name", NAMES)
def test_states_carry_names_and_the_sign_of_costs(name: str) -> None:
    policy = find_policy(name)(2, names=["north", "söuth\n"], minimize=True)
    policy.update_many(["north", "söuth\n"], [12.5, 9.4])
    restored = restore_from_json(policy)
    assert repr(restored) == repr(policy)
    for _ in range(10):
        arm = restored.select()
        assert arm == policy.select()
        for each_policy in (policy, restored):
            each_policy.update(arm, 9.4 if arm == "söuth\n" else 12.5)
    assert arm == "söuth\n"
    assert restored.state() == policy.state()
    for field, value in (("names", ["north"]), ("names", ["a", "a"]), ("names", "ab"), ("minimize", 1)):
        with raises_naming(ValueError, field):
            Policy.from_state(with_checksum({**policy.state(), field: value}))
    for field in ("names", "minimize"):
        with raises_naming(ValueError, "damaged"):
            Policy.from_state({key: value for key, value in policy.state().items() if key != field})


def test_parameters_that_a_saved_policy_did_not_have_get_their_defaults() -> None:
    policy = find_policy("raven-ucb")(3, alpha0=2.0)
    policy.update(0, 0.5)
    state = policy.state()
    older = {name: value for name, value in state["params"].items() if name != "epsilon"}
    assert Policy.from_state(with_checksum({**state, "params": older})).state() == state


def test_invalid_memory_index_is_rejected(lottery: type[Lottery]) -> None:
    state = lottery(2, horizon=10, seed=1).state()
    with pytest.raises(ValueError, match="damaged"):
        Policy.from_state({**state, "cells": [1e9]})
    with pytest.raises(ValueError, match="horizon"):
        Policy.from_state({**state, "params": {"horizon": 10.5}})


@pytest.mark.parametrize("state", [None, [], "x", 3, {}])
def test_rejects_other_objects(state: Any) -> None:
    with pytest.raises(ValueError, match="state"):
        Policy.from_state(state)
