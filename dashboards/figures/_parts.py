"""Parts of which several figures are made: bands, whiskers, boxes, marks, moments of change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dashboards.figures._scales import numbers, rounded
from dashboards.figures._style import CHANGE, DASHES, Z95, Trace, colour_at

WHITE = {"color": "#ffffff", "line": {"color": "#000000", "width": 1.5}}
"""Marks that read on every colour, on paper and in the dark."""

DARK = 0.45
"""Share of the way from the lightest to the darkest cell from which on writing is white."""


def band(x: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str, **more: Any) -> Trace:
    """An interval around a line."""
    return {
        "type": "scatter",
        "x": numbers([*x, *reversed(x)]),
        "y": numbers([*high, *reversed(low)]),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": faded(colour),
        "hoverinfo": "skip",
        "showlegend": False,
    } | more


def line_in_band(
    x: Sequence[float],
    mean: Sequence[float],
    stderr: Sequence[float],
    place: int,
    *,
    both: Mapping[str, Any] | None = None,
    **more: Any,
) -> list[Trace]:
    """The 95 % band of some means, and the line through them; their place settles colour and dash.

    `both` is said of band and line, the rest of the line alone.

    >>> [trace["legendgroup"] for trace in line_in_band([1, 2], [5.0, 6.0], [0.5, 0.5], 0)]
    ['g0', 'g0']
    """
    colour, shared = colour_at(place), {"legendgroup": f"g{place}", **(both or {})}
    low = [value - Z95 * error for value, error in zip(mean, stderr, strict=True)]
    high = [value + Z95 * error for value, error in zip(mean, stderr, strict=True)]
    line: Trace = {
        "type": "scatter",
        "x": list(x),
        "y": numbers(mean),
        "mode": "lines",
        "line": {"color": colour, "dash": DASHES[place % len(DASHES)], "width": 2},
        "customdata": numbers(stderr),
    }
    return [band(x, low, high, colour, **shared), line | shared | more]


def legend_only(name: str, **more: Any) -> Trace:
    """An entry of the legend that has no points of its own."""
    return {"type": "scatter", "x": [None], "y": [None], "name": name} | more


def whiskers(
    values: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str | None = None, **more: Any
) -> dict[str, Any]:
    """Error bars from intervals.

    >>> bars = whiskers([5.0], [4.0], [7.0])
    >>> bars["arrayminus"], bars["array"]
    ([1], [2])
    """
    return {
        "type": "data",
        "symmetric": False,
        "array": numbers(top - value for top, value in zip(high, values, strict=True)),
        "arrayminus": numbers(value - bottom for bottom, value in zip(low, values, strict=True)),
        "color": colour,
        "thickness": 1.5,
        "width": 4,
    } | more


def box(place: float, quantiles: Sequence[float], colour: str, **more: Any) -> Trace:
    """A lying box at a place, from its quantiles: lower whisker, quartile, median, quartile, upper whisker."""
    low, q1, median, q3, high = ([rounded(each)] for each in quantiles)
    return {
        "type": "box",
        "orientation": "h",
        "y": [place],
        "q1": q1,
        "median": median,
        "q3": q3,
        "lowerfence": low,
        "upperfence": high,
        "fillcolor": faded(colour, 0.35),
        "line": {"color": colour, "width": 1.5},
        "width": 0.6,
        "showlegend": False,
        "hoverinfo": "skip",
    } | more


def shaded(start: float, end: float, colour: str) -> dict[str, Any]:
    """A stretch of the horizontal axis on a ground of its own."""
    corners = {"x0": start, "x1": end, "y0": 0, "y1": 1, "xref": "x", "yref": "paper"}
    return {"type": "rect", **corners, "fillcolor": colour, "line": {"width": 0}, "layer": "below"}


def ink(shades: Sequence[float]) -> list[str]:
    """What to write in on cells of these shades, the largest being the darkest.

    >>> ink([0.0, 1.0])
    ['#000000', '#ffffff']
    """
    low, reach = min(shades), max(shades) - min(shades)
    return ["#ffffff" if shade - low > DARK * (reach or 1.0) else "#000000" for shade in shades]


def faded(colour: str, opacity: float = 0.22) -> str:
    """A hex colour, half-transparent.

    >>> faded("#0072B2")
    'rgba(0,114,178,0.22)'
    """
    return f"rgba({','.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))},{opacity:g})"


def change_lines(
    changes: Sequence[int], name: str = "moment of change", dash: str = "dot"
) -> tuple[list[Trace], list[dict[str, Any]]]:
    """Moments of change: one shape of vertical lines, and the legend entry that says what they are."""
    if not changes:
        return [], []
    kept = list(changes)
    if len(kept) > 60:
        every = -(-len(kept) // 60)
        kept, name = kept[::every], f"{name} (1 of {every} drawn)"
    path = "".join(f"M{t},0V1" for t in kept)
    line = {"color": CHANGE, "width": 1, "dash": dash}
    shape = {"type": "path", "path": path, "xref": "x", "yref": "paper", "line": line, "layer": "below"}
    return [legend_only(name, mode="lines", line=line)], [shape]
