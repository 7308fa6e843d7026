"""Lines, alone and in their bands: what the figures of several sections are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboards.figures._parts import band
from dashboards.figures._scales import numbers
from dashboards.figures._style import DASHES, GREY, MARKERS, Trace


def line(x: Sequence[float], y: Sequence[float], name: str, colour: str, place: int, **more: Any) -> Trace:
    """A line with markers; its place settles dash and marker, so that colour is never all there is."""
    return {
        "type": "scatter",
        "x": numbers(x),
        "y": numbers(y),
        "mode": "lines+markers",
        "line": {"color": colour, "dash": DASHES[place % len(DASHES)], "width": 2},
        "marker": {"symbol": MARKERS[place % len(MARKERS)], "size": 6, "color": colour},
        "name": name,
        "legendgroup": name,
        "hovertemplate": f"<b>{name}</b><br>%{{x}}: %{{y}}<extra></extra>",
    } | more


def guide(x: Sequence[float], y: Sequence[float], name: str, dash: str = "dot", **more: Any) -> Trace:
    """A line of theory or of the paper: grey, without markers."""
    return line(x, y, name, GREY, 0, mode="lines", line={"color": GREY, "dash": dash, "width": 2}) | more


def with_band(
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    name: str,
    colour: str,
    place: int,
    **more: Any,
) -> list[Trace]:
    """A line in its 95 % band."""
    inner = {key: value for key, value in more.items() if key in ("yaxis", "xaxis")}
    hover = f"<b>{name}</b><br>%{{x}}: %{{y}}<br>95 %: %{{customdata[0]}} to %{{customdata[1]}}<extra></extra>"
    told = [list(pair) for pair in zip(numbers(low), numbers(high), strict=True)]
    return [
        band(x, low, high, colour, legendgroup=name, **inner),
        line(x, y, name, colour, place, **({"customdata": told, "hovertemplate": hover} | more)),
    ]
