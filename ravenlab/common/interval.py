"""The type of an estimate with its confidence interval, and the constants that all statistical decisions share."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, Self

CONFIDENCE_LEVEL = 0.95
"""Confidence level of every interval that is shown."""

ERROR_RATE = 0.05
"""Probability of an error of the first kind of a test, or of a family of tests together."""

TIE_MARGIN = 0.02
"""Relative difference up to which two candidates are tied."""

Z95 = 1.959964
"""Half the width of a 95 % interval, in standard errors of a normal distribution."""

EstimateKind = Literal["mean", "difference"]

NOT_STORED = {"exclude": True}
"""Pydantic reads this metadata: models store an interval as mean, low and high."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval. Pydantic models that have it as a field store mean, low and high only.

    Args:
        mean: The estimate. It need not be in the middle, because regrets are skewed.
        low: Lower end.
        high: Upper end; both ends are NaN where the data support no interval.
        level: Confidence level.
        of: What is estimated: a mean, or the difference of two means, which may be relative to a reference. Only the
            interval of a difference says whether two means differ.

    >>> difference = Interval(12.0, 9.0, 16.0, of="difference")
    >>> difference.excludes_zero, difference.half_width, difference / 100.0
    (True, 3.5, Interval(mean=0.12, low=0.09, high=0.16, level=0.95, of='difference'))
    """

    mean: float
    low: float
    high: float
    level: float = field(default=CONFIDENCE_LEVEL, kw_only=True, metadata=NOT_STORED)
    of: EstimateKind = field(default="mean", kw_only=True, metadata=NOT_STORED)

    @classmethod
    def from_error(cls, mean: float, error: float, *, of: EstimateKind = "mean") -> Self:
        """Return the 95 % interval of an estimate whose error is normally distributed, from its standard error.

        >>> Interval.from_error(10.0, 1.0).low
        8.040036
        """
        return cls(mean, mean - Z95 * error, mean + Z95 * error, of=of)

    @property
    def half_width(self) -> float:
        """Half the distance between the ends."""
        return (self.high - self.low) / 2.0

    @property
    def standard_error(self) -> float:
        """Standard error of a normal distribution with this 95 % interval.

        >>> round(Interval(10.0, 8.040036, 11.959964).standard_error, 12)
        1.0
        """
        if self.level != CONFIDENCE_LEVEL:
            raise ValueError(f"the standard error follows from a 95 % interval, not from one of {self.level:.4g}")
        return self.half_width / Z95

    @property
    def excludes_zero(self) -> bool:
        """Whether a difference is significant: both ends are on one side of 0. An interval of NaN excludes nothing."""
        return self.low > 0.0 or self.high < 0.0

    @property
    def is_zero(self) -> bool:
        """Whether the estimate and both ends are 0, as for two candidates with equal samples."""
        return self.mean == self.low == self.high == 0.0

    def contains(self, value: float) -> bool:
        """Whether a value lies between the ends, or at one.

        >>> Interval(10.0, 9.0, 12.0).contains(9.0)
        True
        """
        return self.low <= value <= self.high

    def is_within(self, margin: float) -> bool:
        """Whether the whole interval lies within −margin and margin, as that of a tie does.

        >>> Interval(0.01, -0.01, 0.015, of="difference").is_within(TIE_MARGIN)
        True
        """
        return -margin <= self.low and self.high <= margin

    def limited(self, least: float = -math.inf, most: float = math.inf) -> Self:
        """Move the ends of an interval from few replications into the range of values that are possible.

        >>> Interval(97.0, 91.0, 103.0).limited(most=100.0).high
        100.0
        """
        return replace(self, low=max(self.low, min(least, self.mean)), high=min(self.high, max(most, self.mean)))

    def shifted(self, offset: float) -> Self:
        """Add a constant to the estimate and to both ends."""
        return self._mapped(lambda value: value + offset)

    def scaled(self, factor: float) -> Self:
        """Multiply the estimate and both ends; a negative factor exchanges the ends.

        >>> Interval(0.12, 0.09, 0.16).scaled(-100.0)
        Interval(mean=-12.0, low=-16.0, high=-9.0, level=0.95, of='mean')
        """
        return self._mapped(lambda value: factor * value)

    def as_difference(self) -> Self:
        """Return the interval of a difference, which was estimated as the mean of paired differences."""
        return replace(self, of="difference")

    def as_object(self, name: str = "mean") -> dict[str, float]:
        """Convert to the flat keys of files; the estimate is stored under its own name.

        >>> Interval(12.0, 9.0, 16.0).as_object("difference")
        {'difference': 12.0, 'low': 9.0, 'high': 16.0}
        """
        return {name: self.mean, "low": self.low, "high": self.high}

    def as_columns(self, name: str) -> dict[str, float]:
        """Convert to three columns of a table.

        >>> Interval(12.0, 9.0, 16.0).as_columns("price")
        {'price': 12.0, 'price_low': 9.0, 'price_high': 16.0}
        """
        return {name: self.mean, f"{name}_low": self.low, f"{name}_high": self.high}

    def __iter__(self) -> Iterator[float]:
        """Iterate over the estimate, the lower and the upper end, the order in which files list them."""
        return iter((self.mean, self.low, self.high))

    def __truediv__(self, reference: float) -> Self:
        return self._mapped(lambda value: value / reference)

    def __neg__(self) -> Self:
        return self._mapped(lambda value: -value)

    def _mapped(self, function: Callable[[float], float]) -> Self:
        """Apply a monotone function to the estimate and both ends."""
        ends = function(self.low), function(self.high)
        return replace(self, mean=function(self.mean), low=min(ends), high=max(ends))


@dataclass(frozen=True)
class Difference(Interval):
    """The interval of a difference, for fields that hold nothing else; stored ones are differences again when read."""

    of: EstimateKind = field(default="difference", kw_only=True, metadata=NOT_STORED)
