"""Saving and restoring the state of a policy as plain data.

A state may come from an untrusted file: every value is checked against the limits that the policy declares
(`policies/engine/limits.py`) before it reaches compiled code. A checksum detects accidental damage.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from ravenlab import policies
from ravenlab.common.checks import MAX_STEPS, check_integer
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.base import Policy
from ravenlab.policies.engine.limits import check_arrays, layout_of
from ravenlab.policies.engine.parameters import Value

P = TypeVar("P", bound=Policy)

ARRAYS = ("open", "pending", "asked", "stats", "cells")
"""Arrays of a policy besides its memory; each is the attribute with an underscore before its name."""


def save_state(policy: Policy) -> dict[str, Any]:
    """Return the state of a policy with its checksum.

    Arrays are copied while the policy is locked and converted afterwards. `memory` holds a table for each part of
    the memory, without the columns at the end that have not been filled yet.

    >>> from ravenlab.policies import UCB1
    >>> save_state(UCB1(arms=2))["step"]
    0
    """
    with policy._lock:
        arrays = {field: getattr(policy, f"_{field}").copy() for field in ARRAYS}
        parts = [_filled(part).copy() for part in layout_of(policy).split(policy._memory)]
        step, generator = policy._step, policy._rng.bit_generator.state
    return _with_checksum(policy, policy.values, step, arrays, [part.tolist() for part in parts], generator)


def _filled(part: Floats) -> Floats:
    """Return the columns of a part up to the last one that is not zero."""
    used = np.flatnonzero((part != 0.0).any(axis=0))
    return part[:, : used[-1] + 1 if used.size else 0]


def _with_checksum(
    policy: Policy,
    params: Mapping[str, Value],
    step: int,
    arrays: Mapping[str, Any],
    memory: list[Any],
    generator: Any,
) -> dict[str, Any]:
    state = {
        "policy": policy.name,
        "arms": policy.arms,
        **({} if policy.names is None else {"names": list(policy.names)}),
        **({"minimize": True} if policy.minimize else {}),
        "params": dict(params),
        "step": step,
        **{field: array.tolist() for field, array in arrays.items()},
        "memory": memory,
        "generator": generator,
    }
    return {**state, "check": zlib.crc32(json.dumps(state, sort_keys=True).encode())}


def restore_policy(cls: type[P], state: Mapping[str, Any]) -> P:
    """Create a policy from its state; raise InputError if it is not a `cls` or the state is invalid.

    Parameters that the policy did not have when the state was saved get their defaults.
    """
    if not isinstance(state, Mapping):
        raise InputError(f"state must be a dict but got {state!r}.")
    policy_class = policies.find_policy(_entry(state, "policy"))
    if not issubclass(policy_class, cls):
        raise InputError(f"policy of the state must be {cls.name} but is {policy_class.name}.")
    params, arms = _entry(state, "params"), check_integer("arms", _entry(state, "arms"), least=1)
    if not isinstance(params, Mapping) or not set(params) <= {param.name for param in policy_class.parameters}:
        raise InputError(f"params of the state must be those of {policy_class.name} but got {params!r}.")
    opened = _entry(state, "open")
    if not isinstance(opened, list | tuple) or len(opened) != arms:
        raise InputError(f"open of the state must hold {arms} numbers.")
    values = dict(params)
    horizon = values.pop("horizon", None)
    if isinstance(horizon, float) and horizon.is_integer():
        horizon = int(horizon)
    minimize = state.get("minimize", False)
    policy = policy_class(arms, names=state.get("names"), minimize=minimize, horizon=horizon, **values)
    step = check_integer("step", _entry(state, "step"), least=0, most=MAX_STEPS)
    arrays = {field: _read_array(state, field, getattr(policy, f"_{field}")) for field in ARRAYS}
    memory = _read_memory(policy, _entry(state, "memory"))
    check_arrays(policy, step, {**arrays, "memory": memory})
    generator = _entry(state, "generator")
    try:
        policy._rng.bit_generator.state = generator
    except (TypeError, ValueError, KeyError, OverflowError):
        raise InputError("generator of the state must be the state of a PCG64 generator.") from None
    policy._step = step
    for field, array in (*arrays.items(), ("memory", memory)):
        getattr(policy, f"_{field}")[...] = array
    restored = save_state(policy)
    tables = memory.tolist() if _is_flat(state["memory"]) else restored["memory"]
    saved_params = {name: policy.values[name] for name in params}
    saved = _with_checksum(policy, saved_params, step, arrays, tables, restored["generator"])
    if saved["check"] != _entry(state, "check"):
        raise InputError("check of the state does not match its content: the state is damaged.")
    return policy


def _read_array(state: Mapping[str, Any], field: str, like: Any) -> Any:
    """Return an array of a state with the type and shape of another one."""
    try:
        return np.asarray(_entry(state, field), dtype=like.dtype).reshape(like.shape)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{field} of the state must hold {like.size} numbers.") from None


def _read_memory(policy: Policy, tables: Any) -> Floats:
    """Return the memory of a state: one table per part, or all entries in one list as older versions saved it."""
    memory = np.zeros(policy._memory.size)
    if _is_flat(tables):
        return np.asarray(_read_array({"memory": tables}, "memory", memory))
    parts = layout_of(policy).split(memory)
    if not isinstance(tables, list | tuple) or len(tables) != len(parts):
        raise InputError(f"memory of the state must hold {len(parts)} tables.")
    for part, table in zip(parts, tables, strict=True):
        try:
            filled = np.asarray(table, dtype=np.float64).reshape(part.shape[0], -1)
            part[:, : filled.shape[1]] = filled
        except (TypeError, ValueError, OverflowError):
            rows, columns = part.shape
            raise InputError(f"tables in memory of the state must have {rows} × {columns} numbers or less.") from None
    return memory


def _is_flat(memory: Any) -> bool:
    """Whether the memory of a state is one list of numbers."""
    return isinstance(memory, list | tuple) and len(memory) > 0 and not isinstance(memory[0], list | tuple)


def _entry(state: Mapping[str, Any], field: str) -> Any:
    if field not in state:
        raise InputError(f"state has no field {field}.")
    return state[field]
