"""Confidence intervals of means, shares and differences; their columns in tables and their text."""

from collections.abc import Iterable, Mapping
from math import hypot, sqrt
from typing import Any

from ravenlab.common.interval import Z95, Interval
from ravenlab.common.text import set_minus


def measure_share(hits: int, count: int) -> Interval:
    """Estimate a share with Wilson's interval, which has positive width for 0 and for all hits.

    >>> measure_share(0, 100).high > 0.03
    True
    """
    share = hits / count
    z2 = Z95**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 * sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return Interval(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def subtract(first: Interval, second: Interval) -> Interval:
    """Subtract two independent measurements; the half-widths of their intervals add in quadrature on each side.

    >>> subtract(Interval(9.0, 6.0, 13.0), Interval(1.0, -2.0, 5.0))
    Interval(mean=8.0, low=3.0, high=13.0, level=0.95, of='mean')
    """
    value = first.mean - second.mean
    low = value - hypot(first.mean - first.low, second.high - second.mean)
    return Interval(value, low, value + hypot(first.high - first.mean, second.mean - second.low))


def interval_columns(name: str, interval: Iterable[float]) -> dict[str, float]:
    """Put a value with its interval, (value, low, high), in three columns: `name`, `name_low` and `name_high`."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), interval, strict=True))


def read_measurement(row: Mapping[str, Any], name: str) -> Interval:
    """Read a measurement from the columns that `interval_columns` makes."""
    return Interval(row[name], row[f"{name}_low"], row[f"{name}_high"])


def format_measurement(measured: Interval, unit: str = "%") -> str:
    """Format a measurement in percent or percentage points.

    >>> format_measurement(Interval(12.34, 11.0, 13.5))
    '12.3 % (11.0 to 13.5)'
    """
    return set_minus(f"{measured.mean:.1f} {unit} ({measured.low:.1f} to {measured.high:.1f})")
