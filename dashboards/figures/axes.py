"""Axes of figures and their ticks: round values, the horizon, and panels above each other."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ravenlab.common.text import format_number

LINE_COLOR = "rgba(128,128,128,0.55)"
GRID_COLOR = "rgba(128,128,128,0.22)"


def make_axis(title: str, kind: str = "linear", ticks: Sequence[float] | None = None, **more: Any) -> dict[str, Any]:
    """Make an axis, optionally with ticks at the given values only."""
    out: dict[str, Any] = {
        "title": {"text": title, "standoff": 8, "font": {"size": 12}},
        "type": kind,
        "gridcolor": GRID_COLOR,
        "linecolor": LINE_COLOR,
        "showline": True,
        "zeroline": False,
        "separatethousands": True,
        "exponentformat": "none",
        "ticks": "outside",
        "tickcolor": LINE_COLOR,
        "automargin": True,
    }
    if ticks is not None:
        out |= {"tickmode": "array", "tickvals": round_numbers(ticks), "ticktext": [format_number(v) for v in ticks]}
    elif kind == "log":
        out["dtick"] = "D2"
    return out | more


def make_step_axis(last: float, title: str = "step t", **more: Any) -> dict[str, Any]:
    """Make an axis of steps with round ticks and one at the last step, the horizon.

    >>> make_step_axis(2500)["nticks"], make_step_axis(2345)["ticktext"]
    (6, ['0', '500', '1,000', '1,500', '2,000', '2,345'])
    """
    ticks = choose_ticks(0.0, last, 6 if last < 1e5 else 4)
    if ticks[-1:] == [last]:  # Plotly chooses the same ones, and others if a reader zooms in
        return make_axis(title, range=[0, last], nticks=len(ticks), ticklabeloverflow="allow") | more
    shown = [tick for tick in ticks if tick < 0.88 * last]
    return make_axis(title, ticks=[*shown, last], range=[0, last], ticklabeloverflow="allow") | more


def make_value_axis(title: str, values: Iterable[float], ratio: float = 10.0) -> dict[str, Any]:
    """Make an axis that is logarithmic if the largest ratio of the values exceeds `ratio`."""
    values = list(values)
    return make_axis(title, "log", choose_log_ticks(values)) if spans_decades(values, ratio) else make_axis(title)


def make_category_axis(labels: Sequence[str], title: str = "", **more: Any) -> dict[str, Any]:
    """Make an axis with labels at 0, 1, 2, …

    >>> make_category_axis(["UCB", "CCB"])["tickvals"]
    [0, 1]
    """
    ticks = {"tickmode": "array", "tickvals": list(range(len(labels))), "ticktext": list(labels)}
    return make_axis(title) | ticks | more


def make_row_axis(labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """Make a vertical axis with one row per label, the first at the top."""
    return make_category_axis(labels, range=[len(labels) - 0.5, -0.5], showgrid=False) | more


def axis_number(index: int) -> str:
    """Return the suffix of Plotly's names for the axes of a panel: "" for the first, then 2, 3, …"""
    return "" if index == 0 else str(index + 1)


def stack_panels(count: int, gap: float) -> list[list[float]]:
    """Compute the vertical domains of panels of equal height, the first at the top.

    >>> stack_panels(2, gap=0.2)
    [[0.6, 1.0], [0.0, 0.4]]
    """
    height = (1.0 - gap * (count - 1)) / count
    tops = [1.0 - index * (height + gap) for index in range(count)]
    return [[max(0.0, round(top - height, 6)), round(top, 6)] for top in tops]


def round_number(value: float, digits: int = 6) -> float | None:
    """Round to a few significant digits; None for NaN and infinities.

    >>> round_number(1.23456789), round_number(float("nan"))
    (1.23457, None)
    """
    value = float(value)
    if not math.isfinite(value):
        return None
    out = float(f"{value:.{digits}g}")
    return int(out) if out.is_integer() and abs(out) < 1e15 else out


def round_numbers(values: Iterable[float]) -> list[float | None]:
    """Round numbers to a plain list, which is half the size of Plotly's base64 arrays."""
    return [round_number(value) for value in values]


def choose_axis_type(values: Sequence[float], most: float = 4.0) -> str:
    """Return "log" if values are positive and more evenly spaced on a log axis, otherwise "linear".

    >>> choose_axis_type([0.5, 1, 5, 10]), choose_axis_type([1, 2, 3, 4]), choose_axis_type([0, 1, 10])
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


def spans_decades(values: Iterable[float], ratio: float = 10.0) -> bool:
    """Whether values are positive and their largest ratio exceeds `ratio`."""
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) > ratio


def choose_log_ticks(values: Iterable[float], most: int = 7) -> list[float] | None:
    """Choose round ticks for a log axis: decades; 1, 2 and 5 of each if those are too few; even ones in short ranges.

    >>> choose_log_ticks([0.02, 30.0]), choose_log_ticks([3.0, 60.0])
    ([0.1, 1.0, 10.0], [5.0, 10.0, 20.0, 50.0])
    >>> choose_log_ticks([14.0, 89.0]), choose_log_ticks([22.0, 48.0])
    ([20.0, 50.0], [30.0, 40.0])
    """
    finite = [value for value in values if math.isfinite(value) and value > 0]
    if not finite:
        return None
    low = min(finite)
    high = max(finite)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits, enough in (((1,), 3), ((1, 2, 5), 2)):
        ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
        ticks = [tick for tick in ticks if 0.95 * low <= tick <= 1.05 * high]
        if len(ticks) >= enough:
            return ticks[:: -(-len(ticks) // most)]
    return choose_ticks(low, high, 4) or [float(f"{low:.3g}")]


def choose_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Choose at most that many ticks from `low` to `high`; their distance is 1, 2 or 5 times a power of ten.

    >>> choose_ticks(0, 2000), choose_ticks(22, 48, 4)
    ([0.0, 500.0, 1000.0, 1500.0, 2000.0], [30.0, 40.0])
    """
    if high <= low:
        return []
    power = math.floor(math.log10((high - low) / most))
    steps = (float(f"{digit}e{power + more}") for more in (0, 1) for digit in (1, 2, 5))
    step = next(step for step in steps if math.floor(high / step) - math.ceil(low / step) < most)
    return [float(f"{place * step:.12g}") for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
