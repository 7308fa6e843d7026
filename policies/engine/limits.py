"""Allowed values of the arrays of a policy; a saved state is checked against them before it is used.

Compiled rules check neither indices nor numbers that they read from their arrays. A state from a file must therefore
hold only values that the rules could have written themselves. A policy declares them next to the sizes of its arrays,
in `row_limits`, `cell_limits` and `memory_layout`. Every value must be finite, whether declared or not. Those that a
built-in policy does not declare are rewards or sums of them; larger ones would overflow when they are squared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.checks import LARGEST_NUMBER, MAX_STEPS
from ravenlab.common.compiled import is_built_in
from ravenlab.common.errors import InputError

if TYPE_CHECKING:
    from ravenlab.environments.world import Floats
    from ravenlab.policies.engine.base import Policy
    from ravenlab.policies.engine.parameters import Value

PULLS_BOUND, STEP_BOUND, ARMS_BOUND, ARM_BOUND = "pulls", "step", "arms", "arm"
"""Bounds besides the parameters: pulls of the same arm, the step, the number of arms, the largest index of an arm."""


@dataclass(frozen=True)
class Limit:
    """Allowed values of a row of `arms`, of a cell, or of a part of `memory`.

    Args:
        least: Smallest allowed value.
        most: Largest allowed value: a number, or the names of one or more bounds. A name is that of a parameter,
            "pulls" (of the same arm), "step", "arms" or "arm" (the largest index of an arm).
        whole: Whether only whole numbers are allowed.
        constant: Whether the value is that after `start`.
        likelihood: If given, the limit applies only to this value of the parameter `likelihood`.
    """

    least: float = -np.inf
    most: float | str | tuple[str, ...] = np.inf
    whole: bool = False
    constant: bool = False
    likelihood: str | None = None

    def applies(self, values: Mapping[str, Value]) -> bool:
        """Whether the limit applies to a policy with these parameters."""
        return self.likelihood is None or self.likelihood == values["likelihood"]

    def largest(self, bounds: Mapping[str, Any]) -> Any:
        """Return the largest allowed value; an array with one value per arm if it depends on the pulls."""
        if isinstance(self.most, str):
            return bounds[self.most]
        if isinstance(self.most, tuple):
            return reduce(np.minimum, [bounds[name] for name in self.most])
        return self.most

    def describe(self) -> str:
        """Describe the allowed values.

        >>> Limit(0, "arm", whole=True).describe()
        'whole numbers from 0 to arm'
        """
        if self.constant:
            return "the value of a new policy"
        kind = "whole numbers" if self.whole else "finite numbers"
        most = ", ".join(self.most) if isinstance(self.most, tuple) else self.most
        if most == np.inf:
            return kind if self.least == -np.inf else f"{kind} of at least {self.least:g}"
        most = most if isinstance(most, str) else f"{most:g}"
        return f"{kind} from {self.least:g} to {most}"


LARGEST_SUM = LARGEST_NUMBER * MAX_STEPS  # of rewards
LARGEST_SQUARES = 4.0 * LARGEST_SUM**2 * MAX_STEPS  # sum of squared differences of such numbers

FINITE = Limit()
FINITE_NONNEGATIVE = Limit(0.0)
NONNEGATIVE = Limit(0.0, LARGEST_SQUARES)
SUM_OF_REWARDS = Limit(-LARGEST_SUM, LARGEST_SUM)
SUM_OF_SQUARES = Limit(-LARGEST_SQUARES, LARGEST_SQUARES)  # rounding may lead below 0
UNIT = Limit(0.0, 1.0)
FLAG = Limit(0.0, 1.0, whole=True)
COUNT_OF_PULLS = Limit(0.0, PULLS_BOUND, whole=True)
COUNT_OF_STEPS = Limit(0.0, STEP_BOUND, whole=True)
COUNT_OF_ARMS = Limit(0.0, ARMS_BOUND, whole=True)
ARM_INDEX = Limit(0.0, ARM_BOUND, whole=True)
CONSTANT = Limit(constant=True)


@dataclass(frozen=True)
class Part:
    """Consecutive entries of `memory` with the same limit, if one is declared."""

    size: int
    limit: Limit | None = None


@dataclass(frozen=True)
class Memory:
    """Layout of `memory`: parts one after another, and all of them `repeat` times, such as once per arm."""

    parts: tuple[Part, ...] = ()
    repeat: int = 1

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.repeat * sum(part.size for part in self.parts)

    def split(self, memory: Floats) -> list[Floats]:
        """Return views of the parts, each as [repeat, size of the part]."""
        if not self.parts:
            return []
        ends = np.cumsum([part.size for part in self.parts])
        return np.split(memory.reshape(self.repeat, int(ends[-1])), ends[:-1], axis=1)


def layout_of(policy: Policy) -> Memory:
    """Return the layout of a policy's memory; one part without limits if only its size is declared."""
    layout = policy.memory_layout(policy.arms, policy.values)
    return layout if layout.size == policy._memory.size else Memory((Part(policy._memory.size),))


def check_arrays(policy: Policy, step: int, arrays: Mapping[str, Any]) -> None:
    """Raise InputError if arrays of a state are not those of a policy in some state; `policy` is a new one."""
    _check_bookkeeping(step, arrays)
    stats, cells, memory = arrays["stats"], arrays["cells"], arrays["memory"]
    bounds = {
        **{name: value for name, value in policy.values.items() if not isinstance(value, str)},
        PULLS_BOUND: stats[0],
        STEP_BOUND: step,
        ARMS_BOUND: policy.arms,
        ARM_BOUND: policy.arms - 1,
    }
    for name, array in (("stats", stats), ("cells", cells), ("memory", memory)):
        _require(bool(np.isfinite(array).all()), name, FINITE)
    undeclared = SUM_OF_REWARDS if is_built_in(type(policy).choose) else FINITE
    tables = (
        ("stats", policy.row_limits, stats, policy._stats),
        ("cells", policy.cell_limits, cells, policy._cells),
    )
    for name, limits, array, initial in tables:
        for index in range(1 if name == "stats" else 0, len(array)):
            declared = limits.get(index)
            limit = declared if declared is not None and declared.applies(policy.values) else undeclared
            _check_limit(f"{name}[{index}]", array[index], limit, bounds, initial[index])
    layout = layout_of(policy)
    for index, (part, entries) in enumerate(zip(layout.parts, layout.split(memory), strict=True)):
        _check_limit(f"part {index} of memory", entries, part.limit or undeclared, bounds, 0.0)
    policy.check_state(policy.values, stats, cells, memory)


def _check_bookkeeping(step: int, arrays: Mapping[str, Any]) -> None:
    """Check the arrays that all policies share. Every pull and every outstanding reward has a step of its own."""
    pulls, pending = arrays["stats"][0], arrays["pending"]
    _check_limit("open", arrays["open"], FLAG, {}, 0)
    for name, array in (("stats[0]", pulls), ("pending", pending), ("asked", arrays["asked"])):
        _check_limit(name, array, COUNT_OF_STEPS, {STEP_BOUND: step}, 0)
    if float(pulls.sum()) + float(pending.sum()) > step:
        raise InputError("step of the state must be at least the sum of stats[0] and pending.")


def _check_limit(name: str, array: Any, limit: Limit, bounds: Mapping[str, Any], initial: Any) -> None:
    allowed = (array >= limit.least) & (array <= limit.largest(bounds))
    if limit.whole:
        allowed &= array == np.floor(array)
    if limit.constant:
        allowed &= array == initial
    _require(bool(np.all(allowed)), name, limit)


def _require(allowed: bool, name: str, limit: Limit) -> None:
    if not allowed:
        raise InputError(f"{name} of the state must hold {limit.describe()}.")
