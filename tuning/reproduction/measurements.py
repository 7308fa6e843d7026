"""Confidence intervals of means, shares and differences; their columns in tables and their text."""

from collections.abc import Iterable, Mapping
from math import hypot, sqrt
from typing import Any

from ravenlab.common.interval import Z95
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import Measurement
from ravenlab.studies.statistics.intervals import mean_interval


def measure_mean(sample: Floats, seed: int) -> Measurement:
    """Estimate a mean with its interval."""
    return Measurement(*mean_interval(sample, seed))


def measure_share(hits: int, count: int) -> Measurement:
    """Estimate a share with Wilson's interval, which has positive width for 0 and for all hits.

    >>> measure_share(0, 100).high > 0.03
    True
    """
    share = hits / count
    z2 = Z95**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z95 * sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return Measurement(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def subtract(first: Measurement, second: Measurement) -> Measurement:
    """Subtract two independent measurements; the half-widths of their intervals add in quadrature on each side.

    >>> subtract(Measurement(9.0, 6.0, 13.0), Measurement(1.0, -2.0, 5.0))
    Measurement(value=8.0, low=3.0, high=13.0)
    """
    value = first.value - second.value
    low = value - hypot(first.value - first.low, second.high - second.value)
    return Measurement(value, low, value + hypot(first.high - first.value, second.value - second.low))


def to_percent(interval: Iterable[float]) -> Measurement:
    """Convert a share with its interval, (value, low, high), to percent."""
    return Measurement(*(100.0 * value for value in interval))


def interval_columns(name: str, interval: Iterable[float]) -> dict[str, float]:
    """Put a value with its interval, (value, low, high), in three columns: `name`, `name_low` and `name_high`."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), interval, strict=True))


def read_measurement(row: Mapping[str, Any], name: str) -> Measurement:
    """Read a measurement from the columns that `interval_columns` makes."""
    return Measurement(row[name], row[f"{name}_low"], row[f"{name}_high"])


def format_measurement(measured: Measurement, unit: str = "%") -> str:
    """Format a measurement in percent or percentage points.

    >>> format_measurement(Measurement(12.34, 11.0, 13.5))
    '12.3 % (11.0 to 13.5)'
    """
    return f"{measured.value:.1f} {unit} ({measured.low:.1f} to {measured.high:.1f})"
