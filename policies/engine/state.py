"""What a policy knows as plain data, and the policy that goes on from it.

A state carries a checksum: rules trust what they find in their memory, so a damaged one must not come back.
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
"""The fields that hold a policy's arrays, each under its name with a dash before it."""


def taken(policy: Policy) -> dict[str, Any]:
    """The state of a policy, with its checksum.

    >>> from policies import UCB1
    >>> taken(UCB1(arms=2))["step"]
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


def restored(cls: type[P], state: Mapping[str, Any]) -> P:
    """The policy that a state was taken from, if it is one of `cls` and the state is whole."""
    if not isinstance(state, Mapping):
        raise InputError(f"state must be a dict but got {state!r}.")
    found = policies.find_policy(_entry(state, "policy"))
    if not issubclass(found, cls):
        raise InputError(f"state is of {found.name}, not of {cls.name}.")
    params, arms = _entry(state, "params"), check_integer("arms", _entry(state, "arms"), least=1)
    if not isinstance(params, Mapping) or set(params) != {param.name for param in found.parameters}:
        raise InputError(f"params of the state must be those of {found.name} but got {params!r}.")
    if np.size(_entry(state, "open")) != arms:
        raise InputError(f"open of the state must hold {arms} numbers.")
    values = dict(params)
    horizon = values.pop("horizon", None)
    if isinstance(horizon, float) and horizon.is_integer():
        horizon = int(horizon)
    policy = found(arms, horizon=horizon, **values)
    policy._step = check_integer("step", _entry(state, "step"), least=0)
    for field in ARRAYS:
        target, given = getattr(policy, f"_{field}"), _entry(state, field)
        try:
            target[...] = np.asarray(given, dtype=target.dtype).reshape(target.shape)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{field} of the state must hold {target.size} numbers.") from None
    generator = _entry(state, "generator")
    try:
        policy._rng.bit_generator.state = generator
    except (TypeError, ValueError, KeyError, OverflowError):
        raise InputError("generator of the state is not one that this policy uses.") from None
    if taken(policy)["check"] != _entry(state, "check"):
        raise InputError("check of the state does not fit the rest of it: the state is damaged.")
    return policy


def _entry(state: Mapping[str, Any], field: str) -> Any:
    if field not in state:
        raise InputError(f"state has no {field}.")
    return state[field]
