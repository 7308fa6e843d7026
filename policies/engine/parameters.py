"""Parameters of policies: default, search range, allowed values, and validation."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ravenlab.common.checks import LARGEST_NUMBER
from ravenlab.common.errors import InputError
from ravenlab.common.text import format_number, format_value

Value = float | str
Values = dict[str, Value]


@dataclass(frozen=True)
class ParamContext:
    """Arguments of defaults and search ranges: horizon, number of arms, and the values of earlier parameters."""

    horizon: int | None
    arms: int
    values: Mapping[str, Value]

    def number(self, name: str) -> float:
        """Return the horizon or the value of an earlier parameter."""
        if name != "horizon":
            return float(self.values[name])
        if self.horizon is None:
            raise InputError("horizon must be given: defaults of this policy depend on it.")
        return float(self.horizon)


Number = float | Callable[[ParamContext], float]
"""A constant, or a function of the context whose docstring starts with its formula."""


@dataclass(frozen=True)
class Param:
    """One parameter: default, search range and allowed values.

    Args:
        name: Name in code and files.
        default: A number, a choice, or a function of the context.
        low: Lower end of the search range; without a range the parameter is fixed unless set explicitly.
        high: Upper end of the search range.
        scale: "log", "linear", or "one-minus" for rates near 1, of which 1 − x is searched on a log scale.
        least: Smallest allowed value.
        most: Largest allowed value.
        integer: Whether only whole numbers are allowed.
        choices: Allowed words of a categorical parameter.
        meaning: Description for lists and documentation.
        power: Rewards c times as large need c^power times the value for the same pulls.
        unit_power: The same exponent for a policy that maps rewards to [0, 1] by its parameters `low` and `high`, if
            these stay as they are.
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
    unit_power: float = 0

    def resolve(self, value: Value | None, context: ParamContext) -> Value:
        """Return a value after validation, or the default for None."""
        if value is None:
            default = self.default(context) if callable(self.default) else self.default
            return float(round(default)) if self.integer and isinstance(default, float) else default
        if self.choices:
            if value not in self.choices:
                raise InputError(f"{self.name} must be one of {', '.join(self.choices)} but got {value!r}.")
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
            raise InputError(f"{self.name} must be a finite number but got {value!r}.")
        if not self.least <= value <= self.most:
            least, most = format_number(self.least), format_number(self.most)
            allowed = f"at least {least}" if math.isinf(self.most) else f"in [{least}, {most}]"
            raise InputError(f"{self.name} must be {allowed} but got {value!r}.")
        if self.integer and value != int(value):
            raise InputError(f"{self.name} must be a whole number but got {value!r}.")
        return float(value)

    def describe(self) -> str:
        """Describe default and search range.

        >>> Param("c", 2.0, 0.001, 10.0).describe()
        '2, searched 0.001 to 10 (log)'
        """
        default = "from T and K" if callable(self.default) else format_value(self.default)
        if self.choices:
            return f"{default} of {', '.join(self.choices)}"
        if self.low is None or self.high is None:
            return default
        low, high = (format_value(x) if not callable(x) else "T" for x in (self.low, self.high))
        searched = f"1 − {self.name} searched" if self.scale == "one-minus" else "searched"
        return f"{default}, {searched} {low} to {high} ({'log' if self.scale == 'one-minus' else self.scale})"

    def encode(self, value: Value) -> float:
        """Return the number that the rules read: a choice is encoded as its index."""
        return float(self.choices.index(value)) if isinstance(value, str) else value
