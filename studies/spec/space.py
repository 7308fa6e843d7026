"""Search ranges of parameters: given by the user, or the policy's defaults."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, StrictFloat, model_validator

from ravenlab.common.errors import InputError
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Param, ParamContext
from ravenlab.studies.spec.fields import FrozenModel


class Range(FrozenModel):
    """The range and scale on which a parameter is searched."""

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
        return (1.0 - self.low, 1.0 - self.high) if self.scale == "one-minus" else (self.low, self.high)


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
