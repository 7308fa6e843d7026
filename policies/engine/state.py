"""Saving and restoring the state of a policy as plain data.

A state has a checksum, because the compiled rules do not check indices that they read from their memory.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

import policies
from environments.checks import check_integer
from environments.errors import InputError
from policies.engine.base import Policy

P = TypeVar("P", bound=Policy)

ARRAYS = ("open", "pending", "asked", "stats", "cells", "memory")
"""Arrays of a policy; each is the attribute with an underscore before its name."""


def save_state(policy: Policy) -> dict[str, Any]:
    """Return the state of a policy with its checksum.

    >>> from policies import UCB1
    >>> save_state(UCB1(arms=2))["step"]
    0
    """
    with policy._lock:
        state = {
            "policy": policy.name,
            "arms": policy.arms,
            "params": dict(policy.values),
            "step": policy._step,
            **{field: getattr(policy, f"_{field}").tolist() for field in ARRAYS},
            "generator": policy._rng.bit_generator.state,
        }
    return {**state, "check": zlib.crc32(json.dumps(state, sort_keys=True).encode())}


def restore_policy(cls: type[P], state: Mapping[str, Any]) -> P:
    """Create a policy from its state; raise InputError if it is not a `cls` or the state is damaged."""
    if not isinstance(state, Mapping):
        raise InputError(f"state must be a dict but got {state!r}.")
    policy_class = policies.find_policy(_entry(state, "policy"))
    if not issubclass(policy_class, cls):
        raise InputError(f"policy of the state must be {cls.name} but is {policy_class.name}.")
    params, arms = _entry(state, "params"), check_integer("arms", _entry(state, "arms"), least=1)
    if not isinstance(params, Mapping) or set(params) != {param.name for param in policy_class.parameters}:
        raise InputError(f"params of the state must be those of {policy_class.name} but got {params!r}.")
    if np.size(_entry(state, "open")) != arms:
        raise InputError(f"open of the state must hold {arms} numbers.")
    values = dict(params)
    horizon = values.pop("horizon", None)
    if isinstance(horizon, float) and horizon.is_integer():
        horizon = int(horizon)
    policy = policy_class(arms, horizon=horizon, **values)
    policy._step = check_integer("step", _entry(state, "step"), least=0)
    for field in ARRAYS:
        array = getattr(policy, f"_{field}")
        try:
            array[...] = np.asarray(_entry(state, field), dtype=array.dtype).reshape(array.shape)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{field} of the state must hold {array.size} numbers.") from None
    generator = _entry(state, "generator")
    try:
        policy._rng.bit_generator.state = generator
    except (TypeError, ValueError, KeyError, OverflowError):
        raise InputError("generator of the state must be the state of a PCG64 generator.") from None
    if save_state(policy)["check"] != _entry(state, "check"):
        raise InputError("check of the state does not match its content: the state is damaged.")
    return policy


def _entry(state: Mapping[str, Any], field: str) -> Any:
    if field not in state:
        raise InputError(f"state has no field {field}.")
    return state[field]
