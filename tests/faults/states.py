"""Saved states with mutations, and their use by a policy."""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy, policy_names
from ravenlab.policies.engine.base import Policy

ONLINE = [name for name in policy_names() if find_policy(name).hidden_knowledge() is None]

CORPUS = Path(__file__).parent / "states.json"
"""Mutations that were accepted and led to a crash, to an endless loop or to wrong statistics."""

SPECIAL = [
    *(float("nan"), float("inf"), float("-inf"), -1.0, -0.5, 0.5, 2.0, 7.0, 1e6, 1e15, -1e15, 1e19, 1e300, -1e300),
    *(5e-324, -5e-324, 2.0**53, 2.0**63, -(2.0**63)),
]
"""Values at the ends of ranges, and values that are not allowed anywhere."""

Mutation = tuple[str, list[int], Any]
"""A field of a state, the indices of an entry in it, and the new value."""


def train(name: str, arms: int = 3, steps: int = 40, seed: int = 0, **params: Any) -> Policy:
    """Create a policy with small windows and give it rewards in [0, 1], some late and some for other arms."""
    policy_class = find_policy(name)
    known = {param.name for param in policy_class.parameters}
    small = {name: value for name, value in {"tau": 7, "n": 5, "w": 6, "m": 4}.items() if name in known}
    if name == "softmax":
        small.pop("tau")
    policy = policy_class(arms, seed=seed, horizon=30, **{**small, **params})
    rng = np.random.default_rng(seed)
    for step in range(steps):
        arm = policy.select()
        if step % 11 == 5:
            continue
        policy.update(int(rng.integers(arms)) if step % 7 == 3 else arm, float(rng.random()))
    return policy


def with_checksum(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state with the checksum of its content, as an attacker would."""
    content = {field: value for field, value in state.items() if field != "check"}
    return {**content, "check": zlib.crc32(json.dumps(content, sort_keys=True).encode())}


def entries(value: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return the indices of all numbers in nested lists."""
    if isinstance(value, list):
        return [inner for index, item in enumerate(value) for inner in entries(item, (*path, index))]
    return [path]


def some_entries(value: Any, most: int = 12) -> list[tuple[int, ...]]:
    """Return the indices of at most about `most` numbers at equal distances."""
    paths = entries(value)
    return paths[:: max(1, len(paths) // most)]


def mutate(state: dict[str, Any], mutations: list[Mutation]) -> dict[str, Any]:
    """Return a copy of a state with some entries replaced and a valid checksum."""
    changed = json.loads(json.dumps(state))
    for field, path, value in mutations:
        target: Any = changed
        index: int | str = field
        for step in path:
            target, index = target[index], step
        target[index] = value
    return with_checksum(changed)


def use(state: dict[str, Any], steps: int = 40) -> bool:
    """Restore a state and use the policy; return whether the state was accepted.

    A policy from an accepted state must select valid arms, and its next state must be valid as well.
    """
    try:
        policy = Policy.from_state(state)
    except InputError:
        return False
    if not policy._open.any():
        policy.open(0)
    for step in range(steps):
        arm = policy.select()
        assert 0 <= arm < policy.arms
        policy.update(arm, (step % 5) / 4)
    return True


def check_indices(examples: int = 1) -> None:
    """Use mutated states of all policies; an IndexError is raised where compiled code would leave an array."""
    rng = np.random.default_rng(0)
    for name in ONLINE:
        for number in range(examples):
            state = train(name, arms=2, steps=int(rng.integers(1, 30)), seed=number).state()
            for field in ("stats", "cells", "memory"):
                for path in some_entries(state[field]):
                    values = SPECIAL if field == "cells" else rng.choice(SPECIAL, size=3).tolist()
                    for value in values:
                        _use_ignoring_arithmetic(mutate(state, [(field, list(path), value)]))


def _use_ignoring_arithmetic(state: dict[str, Any]) -> None:
    """Use a state; Python raises for operations such as log(0) that compiled code evaluates to −inf or NaN."""
    try:
        with np.errstate(all="ignore"):
            use(state, steps=8)
    except (ArithmeticError, ValueError):
        pass
