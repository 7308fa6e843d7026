"""Where a parameter is searched: a range that a person gave, or the policy's own."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from environments.errors import InputError
from policies import find_policy
from policies.engine.base import Param, ParamContext
from studies.spec.fields import FrozenModel, Real


class Range(FrozenModel):
    """Where a parameter is searched."""

    low: Real = Field(description="Smallest value; of 1 − x where the scale is one-minus.")
    high: Real = Field(description="Largest value.")
    scale: Literal["log", "linear", "one-minus"] = Field(default="log", description="How it is searched.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low must be below high but got {self.low:.15g} and {self.high:.15g}")
        if self.scale != "linear" and self.low <= 0:
            raise ValueError(f"low must be above 0 on a {self.scale} scale but got {self.low:.15g}")
        if self.scale == "one-minus" and self.high > 1:
            raise ValueError(f"high must be at most 1 on a one-minus scale but got {self.high:.15g}")
        return self

    def bounds(self) -> tuple[float, float]:
        """The values at both ends, of x itself on any scale.

        >>> Range(low=0.25, high=0.5, scale="one-minus").bounds()
        (0.75, 0.5)
        """
        return (1.0 - self.low, 1.0 - self.high) if self.scale == "one-minus" else (self.low, self.high)


def find_parameters(policy: str) -> tuple[Param, ...]:
    """A policy's parameters, with their own ranges and scales; none of a policy that is not at hand.

    >>> [param.name for param in find_parameters("ucb1")], find_parameters("their.py:Policy")
    (['c'], ())
    """
    try:
        return find_policy(policy).parameters
    except InputError:
        return ()


def default_range(param: Param, setting: ParamContext, factor: float = 1.0) -> Range:
    """A parameter's own range, both ends `factor` times as large.

    >>> default_range(Param("alpha0", 1.0, 0.01, 10.0), ParamContext(1000, 10, {}), factor=50.0)
    Range(low=0.5, high=500.0, scale='log')
    """
    low, high = (end(setting) if callable(end) else end for end in (param.low, param.high))
    assert low is not None
    assert high is not None
    low, high = (end if factor == 1.0 else round_digits(end * factor) for end in (low, high))
    if low >= high:
        raise InputError(f"{param.name} has no range to search at horizon {setting.horizon}; give one or fix it.")
    return Range(low=low, high=high, scale=param.scale)  # type: ignore[arg-type]


def round_digits(value: float) -> float:
    """A number as a person would write it in a study file: with three digits that count.

    >>> round_digits(0.123456)
    0.123
    """
    return float(f"{value:.3g}")
