"""Saved states from untrusted files: every mutation is rejected, or harmless."""

import json
import math
import os
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ravenlab.common.checks import LARGEST_NUMBER, MAX_STEPS
from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.rules import MEAN
from tests.faults import states
from tests.faults.states import ONLINE, SPECIAL, Mutation
from tests.messages import raises_naming
from tests.project import ROOT, python

BERNOULLI = [(name, {"likelihood": "bernoulli"}) for name in ("thompson", "kl-ucb", "sw-ts", "d-ts", "glr-klucb")]
VARIANTS: list[tuple[str, dict[str, Any]]] = [*((name, {}) for name in ONLINE), *BERNOULLI]
EXAMPLES = 8 * int(os.environ.get("RAVENLAB_FUZZ", "25"))
"""Mutated states; 8,000 in `make stress`."""

FIELDS = ("open", "pending", "asked", "stats", "cells", "memory")


@pytest.mark.parametrize(("name", "params"), VARIANTS)
def test_states_of_a_policy_are_accepted(name: str, params: dict[str, Any]) -> None:
    for steps in (0, 1, 2, 3, 5, 8, 13, 40, 75):
        policy = states.train(name, steps=steps, seed=steps, **params)
        state = json.loads(json.dumps(policy.state(), allow_nan=False))
        assert Policy.from_state(state).state() == state
        assert states.use(state)


@pytest.mark.parametrize(("name", "params"), VARIANTS)
def test_numbers_that_are_not_finite_are_rejected(name: str, params: dict[str, Any]) -> None:
    state = states.train(name, **params).state()
    for field in ("stats", "cells", "memory"):
        for path in states.some_entries(state[field]):
            for value in (math.nan, math.inf, -math.inf):
                with pytest.raises(InputError):
                    Policy.from_state(states.mutate(state, [(field, list(path), value)]))


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.parametrize("value", [-1.0, 0.5, 1e15])
def test_impossible_numbers_of_pulls_are_rejected(name: str, value: float) -> None:
    state = states.train(name).state()
    with raises_naming(InputError, "stats[0]"):
        Policy.from_state(states.mutate(state, [("stats", [0, 1], value)]))


def test_states_of_raven_auto_are_accepted_when_the_noise_grows() -> None:
    """Rounding makes a product of factors that are 1 slightly smaller than 1."""
    for seed in range(5):
        rng, policy = np.random.default_rng(seed), find_policy("raven-auto")(arms=2)
        for step in range(60):
            policy.update(policy.select(), float(rng.random()) * (1e-10 if step < 20 else 1.0))
            state = policy.state()
            assert Policy.from_state(state).state() == state


@pytest.mark.parametrize("name", ONLINE)
def test_states_with_the_largest_rewards_are_accepted(name: str) -> None:
    policy = find_policy(name)(arms=3, seed=0, horizon=300)
    rng = np.random.default_rng(0)
    for step in range(400):
        policy.update(policy.select(), float(rng.choice([-LARGEST_NUMBER, LARGEST_NUMBER])))
        if step % 20 == 0:
            state = json.loads(json.dumps(policy.state(), allow_nan=False))
            assert Policy.from_state(state).state() == state


def test_corpus_is_rejected() -> None:
    for case in json.loads(states.CORPUS.read_text(encoding="utf-8")):
        state = states.train(case["policy"], **case["params"]).state()
        with pytest.raises(InputError):
            Policy.from_state(states.mutate(state, [tuple(mutation) for mutation in case["mutations"]]))


@st.composite
def mutated_states(draw: st.DrawFn) -> dict[str, Any]:
    name, params = draw(st.sampled_from(VARIANTS))
    arms, steps, seed = draw(st.integers(1, 4)), draw(st.integers(0, 60)), draw(st.integers(0, 9))
    state = states.train(name, arms, steps, seed, **params).state()
    mutations: list[Mutation] = []
    for _ in range(draw(st.integers(1, 3))):
        field = draw(st.sampled_from([field for field in FIELDS if states.entries(state[field])]))
        path = draw(st.sampled_from(states.entries(state[field])))
        value = draw(st.sampled_from(SPECIAL) | st.floats() | st.integers(-3, 12).map(float))
        integer = field in ("open", "pending", "asked") and math.isfinite(value)
        mutations.append((field, list(path), int(value) if integer else value))
    return states.mutate(state, mutations)


@settings(max_examples=EXAMPLES)
@given(mutated_states())
def test_mutated_states_are_rejected_or_harmless(state: dict[str, Any]) -> None:
    states.use(state)


def test_accepted_states_never_lead_out_of_an_array() -> None:
    """Without compilation Python checks every index; compiled code would read or write foreign memory."""
    code = "from tests.faults.states import check_indices\ncheck_indices()"
    done = python("-c", code, folder=ROOT, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("memory", [[], []]),
        ("memory", [[[0.0] * 100], [[0.0] * 100]]),
        ("memory", [[["x"]], [[1.0]]]),
        ("memory", {"0": []}),
        ("memory", [0.0] * 13),
        ("cells", [[0.0, 0.0], [0.0, 0.0]]),
        ("open", [[[]], 1, 1]),
        ("open", 1),
        ("step", 2**63),
        ("generator", {"bit_generator": "PCG64", "state": {"state": 1.5, "inc": "x"}, "has_uint32": 0, "uinteger": 0}),
    ],
)
def test_other_shapes_are_rejected(field: str, value: Any) -> None:
    state = states.train("sw-raven").state()
    with pytest.raises(InputError):
        Policy.from_state(states.with_checksum({**state, field: value}))


def test_state_with_the_whole_memory_in_one_list_is_accepted() -> None:
    """Earlier versions saved it so."""
    policy = states.train("sw-raven", steps=5)
    flat = states.with_checksum({**policy.state(), "memory": policy._memory.tolist()})
    assert Policy.from_state(flat).state() == policy.state()


@pytest.mark.parametrize("arms", [1, 2, 3])
def test_published_ccb_accepts_its_own_states(arms: int) -> None:
    """Its deadline M falls far below zero once the horizon is over."""
    policy = find_policy("published-ccb")(arms=arms, seed=0, horizon=50)
    for _ in range(800):
        policy.update(policy.select(), 0.5)
    assert Policy.from_state(policy.state()).state() == policy.state()


def test_arms_without_pulls_have_no_statistics() -> None:
    state = find_policy("thompson")(arms=2, seed=0).state()
    state["stats"][MEAN][1] = 1e90
    with pytest.raises(InputError, match="without pulls"):
        Policy.from_state(states.with_checksum(state))


@pytest.mark.parametrize("step", [MAX_STEPS - 1, MAX_STEPS])
def test_last_step_of_a_policy_can_be_saved(step: int) -> None:
    state = states.with_checksum({**states.train("ucb1").state(), "step": step})
    policy = Policy.from_state(state)
    calls = (policy.select, lambda: policy.update(0, 0.5), lambda: policy.update_many([0, 1, 2], [0.5] * 3))
    for call in calls:
        with suppress(InputError):
            call()
        assert Policy.from_state(policy.state()).state() == policy.state()
