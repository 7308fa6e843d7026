"""Search ranges of parameters: given by the user, or the policy's defaults."""

import math
from typing import Literal, Self

from pydantic import Field, StrictFloat, model_validator

from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Param, ParamContext
from ravenlab.studies.spec.fields import FrozenModel

TINY = 1e-12
"""Stands for zero on a logarithmic scale."""


class Range(FrozenModel):
    """The range and scale on which a parameter is searched.

    The searched number of a parameter x is x itself or, with the scale one-minus, 1 − x.
    """

    low: StrictFloat = Field(description="Smallest value; with the scale one-minus, of 1 − x.")
    high: StrictFloat = Field(description="Largest value; with the scale one-minus, of 1 − x.")
    scale: Literal["log", "linear", "one-minus"] = Field(default="log", description="Scale of the search.")

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low must be below high but got {self.low:.15g} and {self.high:.15g}")
        if self.scale != "linear" and self.low <= 0:
            raise ValueError(f"low must be above 0 on a {self.scale} scale but got {self.low:.15g}")
        if self.scale == "one-minus" and self.high > 1:
            raise ValueError(f"high must be at most 1 on a one-minus scale but got {self.high:.15g}")
        return self

    def bounds(self) -> tuple[float, float]:
        """Return the values of x at both ends, on any scale.

        >>> Range(low=0.25, high=0.5, scale="one-minus").bounds()
        (0.75, 0.5)
        """
        return self.parameter(self.low), self.parameter(self.high)

    @property
    def logarithmic(self) -> bool:
        """Whether the logarithm of the searched number is searched."""
        return self.scale != "linear"

    def searched(self, value: float) -> float:
        """Return the searched number of a parameter.

        >>> Range(low=0.25, high=0.5, scale="one-minus").searched(0.75)
        0.25
        """
        return 1.0 - value if self.scale == "one-minus" else value

    def parameter(self, number: float) -> float:
        """Return the parameter with this searched number.

        >>> Range(low=0.25, high=0.5, scale="one-minus").parameter(0.25)
        0.75
        """
        return 1.0 - number if self.scale == "one-minus" else number

    def clip(self, number: float) -> float:
        """Return the number in the range that is nearest to a searched number.

        >>> Range(low=0.25, high=0.5).clip(0.75)
        0.5
        """
        return min(max(number, self.low), self.high)

    def to_scale(self, value: float) -> float:
        """Return the coordinate of a parameter on the search scale: its searched number, or the logarithm of it.

        >>> Range(low=0.25, high=0.5).to_scale(1.0)
        0.0
        """
        number = self.searched(value)
        return math.log(max(number, TINY)) if self.logarithmic else number

    def from_scale(self, coordinate: float) -> float:
        """Return the parameter with this coordinate on the search scale.

        >>> Range(low=0.25, high=0.5, scale="one-minus").from_scale(0.0)
        0.0
        """
        return self.parameter(math.exp(coordinate) if self.logarithmic else coordinate)

    def to_unit(self, value: float) -> float:
        """Return the position of a parameter on the search scale: 0 at the low end, 1 at the high end.

        >>> Range(low=0.01, high=1.0).to_unit(0.1)
        0.5
        """
        number = self.searched(value)
        if not self.logarithmic:
            return (number - self.low) / (self.high - self.low)
        return math.log(number / self.low) / math.log(self.high / self.low) if number > 0.0 else 0.0

    def from_unit(self, position: float) -> float:
        """Return the parameter at a position on the search scale.

        >>> Range(low=0.25, high=1.0).from_unit(0.5)
        0.5
        """
        if self.logarithmic:
            return self.parameter(self.low * (self.high / self.low) ** position)
        return self.low + (self.high - self.low) * position


def find_parameters(policy: str) -> tuple[Param, ...]:
    """Return the parameters of a policy; none if the policy is not loaded.

    >>> [param.name for param in find_parameters("ucb1")], find_parameters("their.py:Policy")
    (['c'], ())
    """
    try:
        return find_policy(policy).parameters
    except InputError:
        return ()


def default_range(param: Param, context: ParamContext, factor: float = 1.0) -> Range:
    """Return the default range of a searchable parameter, both ends multiplied by `factor`.

    >>> default_range(Param("alpha0", 1.0, 0.01, 10.0), ParamContext(1000, 10, {}), factor=50.0)
    Range(low=0.5, high=500.0, scale='log')
    """
    low, high = (end(context) if callable(end) else end for end in (param.low, param.high))
    if low is None or high is None:
        raise ValueError(f"{param.name} has no default range")
    low *= factor
    high *= factor
    if low >= high:
        raise InputError(
            f"{param.name} has no default range at horizon {context.horizon}; give a range or fix the parameter."
        )
    return Range(low=low, high=high, scale=param.scale)  # type: ignore[arg-type]


def round_digits(value: float) -> float:
    """Round to three significant digits.

    >>> round_digits(0.123456)
    0.123
    """
    return float(f"{value:.3g}")
