"""Intervals of shares, of means and of the difference of two independent numbers: what verdicts and tables hold."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, sqrt

from environments.world import Floats
from studies.reproduction.rules import Measured
from tuning.statistics import mean_interval

Z95 = 1.959964
"""Half the width of a 95 % interval, in standard errors."""


def measured_mean(sample: Floats, seed: int) -> Measured:
    """The mean of a sample with its interval."""
    return Measured(*mean_interval(sample, seed))


def measured_share(hits: int, count: int) -> Measured:
    """A share with Wilson's interval, which does not shrink to nothing where none or all are hit.

    >>> measured_share(0, 100).high > 0.03
    True
    """
    share, z2 = hits / count, Z95**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 * sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return Measured(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def percent(value: float, low: float, high: float) -> Measured:
    """A share with its interval, in percent.

    >>> percent(0.5, 0.25, 0.75)
    Measured(value=50.0, low=25.0, high=75.0)
    """
    return Measured(100.0 * value, 100.0 * low, 100.0 * high)


def in_columns(name: str, found: Sequence[float]) -> dict[str, float]:
    """A number with its interval, (value, low, high), in three columns of a table.

    >>> in_columns("cost", (0.5, 0.25, 0.75))
    {'cost': 0.5, 'cost_low': 0.25, 'cost_high': 0.75}
    """
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def difference(first: Measured, second: Measured) -> Measured:
    """first − second of two independent numbers: the halves of their intervals, each side by itself, add as squares.

    >>> difference(Measured(9.0, 6.0, 13.0), Measured(1.0, -2.0, 5.0))
    Measured(value=8.0, low=3.0, high=13.0)
    """
    value = first.value - second.value
    low = value - hypot(first.value - first.low, second.high - second.value)
    return Measured(value, low, value + hypot(first.high - first.value, second.value - second.low))
