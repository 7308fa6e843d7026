"""A policy's parameter: its default, the range that is searched, what is allowed, how it follows the rewards' size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from environments.checks import LARGEST
from environments.errors import InputError
from environments.text import format_value

Value = float | str
Values = dict[str, Value]


@dataclass(frozen=True)
class Setting:
    """What a default or a range may depend on: the horizon, the number of arms, and parameters before it."""

    horizon: int | None
    arms: int
    values: Mapping[str, Value]

    def number(self, name: str) -> float:
        """A parameter that stands before, or the horizon."""
        if name == "horizon":
            if self.horizon is None:
                raise InputError("horizon must be given: this policy's defaults depend on it.")
            return float(self.horizon)
        return float(self.values[name])


Number = float | Callable[[Setting], float]


@dataclass(frozen=True)
class Param:
    """One parameter: its default, the range that a study searches, and what is allowed at all.

    `scale` says how it is searched: "log", "linear", or "one-minus" for rates near 1, of which 1 − x
    is searched on a log scale. Without `low` and `high` it is fixed unless set by hand. `power` says how
    it follows the size of the rewards: for rewards c times as large, c^power times the value does the same.
    """

    name: str
    default: Number | str
    low: Number | None = None
    high: Number | None = None
    scale: str = "log"
    least: float = 0.0
    most: float = math.inf
    integer: bool = False
    choices: tuple[str, ...] = ()
    meaning: str = ""
    power: float = 0

    def resolve(self, given: Value | None, setting: Setting) -> Value:
        """The value to use, checked; the default when none is given."""
        if given is None:
            default = self.default
            value = default(setting) if callable(default) else default
            if self.integer and isinstance(value, float):
                value = float(round(value))
            return value
        if self.choices:
            if given not in self.choices:
                raise InputError(f"{self.name} must be one of {', '.join(self.choices)} but got {given!r}.")
            return given
        if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= LARGEST:
            raise InputError(f"{self.name} must be a finite number but got {given!r}.")
        if not self.least <= given <= self.most:
            allowed = f"at least {self.least:g}" if math.isinf(self.most) else f"in [{self.least:g}, {self.most:g}]"
            raise InputError(f"{self.name} must be {allowed} but got {given!r}.")
        if self.integer and given != int(given):
            raise InputError(f"{self.name} must be a whole number but got {given!r}.")
        return float(given)

    def describe(self) -> str:
        """Default and search range in a few words.

        >>> Param("c", 2.0, 0.001, 10.0).describe()
        '2, searched 0.001 to 10 (log)'
        """
        default = "from T and K" if callable(self.default) else format_value(self.default)
        if self.choices:
            return f"{default} of {', '.join(self.choices)}"
        if self.low is None or self.high is None:
            return default
        low, high = (format_value(x) if not callable(x) else "T" for x in (self.low, self.high))
        what = f"1 − {self.name} searched" if self.scale == "one-minus" else "searched"
        return f"{default}, {what} {low} to {high} ({'log' if self.scale == 'one-minus' else self.scale})"

    def code(self, value: Value) -> float:
        """The number that the rule reads: a choice is its place in the list."""
        return float(self.choices.index(value)) if isinstance(value, str) else value
