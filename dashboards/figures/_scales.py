"""Numbers of a sensible length, and axes that fit them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dashboards.figures._style import GRID, LINE
from environments.text import format_number


def axis(title: str, kind: str = "linear", ticks: Sequence[float] | None = None, **more: Any) -> dict[str, Any]:
    """An axis; with ticks at given values only."""
    out: dict[str, Any] = {
        "title": {"text": title, "standoff": 8, "font": {"size": 12}},
        "type": kind,
        "gridcolor": GRID,
        "linecolor": LINE,
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "tickcolor": LINE,
        "automargin": True,
    }
    if ticks is not None:
        out |= {"tickmode": "array", "tickvals": numbers(ticks), "ticktext": [format_number(v) for v in ticks]}
    elif kind == "log":
        out |= {"dtick": "D2", "exponentformat": "none"}
    return out | more


def labelled(labels: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """An axis of names: places from 0 on, each with its label.

    >>> labelled(["UCB", "CCB"])["tickvals"]
    [0, 1]
    """
    ticks = {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": list(labels)}
    return axis(title) | ticks | more


def rounded(value: float, digits: int = 6) -> float | None:
    """A few digits that count; None for what is no number.

    >>> rounded(1.23456789), rounded(float("nan"))
    (1.23457, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    out = float(f"{value:.{digits}g}")
    return int(out) if out.is_integer() and abs(out) < 1e15 else out


def numbers(values: Iterable[float]) -> list[float | None]:
    """Plain short numbers: half the size of a base64 array of doubles, and readable by every Plotly."""
    return [rounded(value) for value in values]


def scale_of(values: Sequence[float], most: float = 4.0) -> str:
    """ "log" where values are positive and better spread on a log axis, else "linear".

    >>> scale_of([0.5, 1, 5, 10]), scale_of([1, 2, 3, 4]), scale_of([0, 1, 10])
    ('log', 'linear', 'linear')
    """
    if len(values) < 2 or min(values) <= 0:
        return "linear"
    if len(values) == 2:
        return "log" if max(values) / min(values) >= most else "linear"

    def unevenness(points: Any) -> float:
        gaps = np.diff(np.sort(points))
        return float(gaps.std() / gaps.mean()) if gaps.mean() > 0 else 0.0

    return "log" if unevenness(np.log(values)) < unevenness(np.asarray(values, dtype=float)) else "linear"


def wide(values: Iterable[float], ratio: float = 10.0) -> bool:
    """Whether positive values span so much that a log scale shows more."""
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) > ratio


def log_ticks(values: Iterable[float], most: int = 7) -> list[float] | None:
    """Round numbers for a log axis over positive values: decades, or 1, 2 and 5 of each where these are too few.

    >>> log_ticks([0.02, 30.0]), log_ticks([3.0, 60.0])
    ([0.1, 1.0, 10.0], [5.0, 10.0, 20.0, 50.0])
    """
    finite = [value for value in values if math.isfinite(value) and value > 0]
    if not finite:
        return None
    low, high = min(finite), max(finite)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1,), (1, 2, 5)):
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        ticks = [tick for tick in ticks if 0.95 * low <= tick <= 1.05 * high]
        if len(ticks) >= 3:
            return ticks[:: -(-len(ticks) // most)]
    return [float(f"{value:.2g}") for value in (low, high)] if high > 1.2 * low else [float(f"{low:.3g}")]
