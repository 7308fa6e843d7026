"""Parts of figures that several experiments share: lines with bands, and small multiples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures.style import DASHES, GREY, MARKERS, PlotlyTrace, make_band, make_figure, round_numbers

if TYPE_CHECKING:
    import plotly.graph_objects as go


COLUMNS = 2
"""Two columns at most, so that panels stay legible on a phone."""

TOP, BOTTOM = 116, 84
"""Pixels above and below all panels, for the title and for the legend with the last axis."""

GUTTER = 0.14
"""Horizontal space between panels as a share of the width."""


def line(x: Sequence[float], y: Sequence[float], name: str, colour: str, index: int, **more: Any) -> PlotlyTrace:
    """Make a line with markers; its index selects dash and marker, so that lines differ by more than colour."""
    return {
        "type": "scatter",
        "x": round_numbers(x),
        "y": round_numbers(y),
        "mode": "lines+markers",
        "line": {"color": colour, "dash": DASHES[index % len(DASHES)], "width": 2},
        "marker": {"symbol": MARKERS[index % len(MARKERS)], "size": 6, "color": colour},
        "name": name,
        "legendgroup": name,
        "hovertemplate": f"<b>{name}</b><br>%{{x}}: %{{y}}<extra></extra>",
    } | more


def guide_line(x: Sequence[float], y: Sequence[float], name: str, dash: str = "dot", **more: Any) -> PlotlyTrace:
    """Make a grey line without markers, for theory or for the paper."""
    return line(x, y, name, GREY, 0, mode="lines", line={"color": GREY, "dash": dash, "width": 2}) | more


def line_with_band(
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    name: str,
    colour: str,
    index: int,
    **more: Any,
) -> list[PlotlyTrace]:
    """Make a line with its 95 % band."""
    axes = {key: value for key, value in more.items() if key in ("yaxis", "xaxis")}
    hover = f"<b>{name}</b><br>%{{x}}: %{{y}}<br>95 %: %{{customdata[0]}} to %{{customdata[1]}}<extra></extra>"
    limits = [list(pair) for pair in zip(round_numbers(low), round_numbers(high), strict=True)]
    return [
        make_band(x, low, high, colour, legendgroup=name, **axes),
        line(x, y, name, colour, index, **({"customdata": limits, "hovertemplate": hover} | more)),
    ]


def combine_panels(
    figures: Sequence[tuple[str, go.Figure]], title: str, alt: str, *, height: int = 216, gap: int = 74
) -> go.Figure:
    """Combine titled figures as panels that share a legend; axes are titled only at the edges.

    >>> from plotly.graph_objects import Figure
    >>> one = Figure([{"type": "scatter", "x": [1], "y": [2], "name": "a"}])
    >>> both = combine_panels([("left", one), ("right", one)], "Two", "Two points.")
    >>> [trace.yaxis for trace in both.data], [trace.showlegend for trace in both.data]
    (['y', 'y2'], [True, False])
    """
    rows = -(-len(figures) // COLUMNS)
    inner = rows * height + (rows - 1) * gap
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    legend_names: set[str] = set()
    for index, (name, figure) in enumerate(figures):
        row, column = divmod(index, COLUMNS)
        number = "" if index == 0 else str(index + 1)
        content = figure.to_plotly_json()
        for trace in content["data"]:
            traces.append(trace | {"xaxis": f"x{number}", "yaxis": f"y{number}"} | _legend_entry(trace, legend_names))
        top = 1 - row * (height + gap) / inner
        left = column * (1 + GUTTER) / COLUMNS
        x_domain, y_domain = [left, left + (1 - GUTTER) / COLUMNS], [max(0.0, top - height / inner), top]
        is_lowest = index + COLUMNS >= len(figures)
        layout[f"xaxis{number}"] = _panel_axis(content["layout"].get("xaxis"), x_domain, f"y{number}", is_lowest)
        layout[f"yaxis{number}"] = _panel_axis(content["layout"].get("yaxis"), y_domain, f"x{number}", column == 0)
        notes.append(
            {
                "text": f"<b>{name}</b>",
                "xref": "paper",
                "yref": "paper",
                "x": x_domain[0],
                "y": top,
                "xanchor": "left",
                "yanchor": "bottom",
                "align": "left",
                "showarrow": False,
                "font": {"size": 12},
            }
        )
    margin = {"t": TOP, "r": 12, "b": BOTTOM, "l": 56}
    return make_figure(traces, title, alt, height=inner + TOP + BOTTOM, annotations=notes, margin=margin, **layout)


def _legend_entry(trace: PlotlyTrace, known: set[str]) -> dict[str, Any]:
    """Show each name once in the legend; it switches the traces of all panels."""
    if trace.get("type") == "heatmap":
        return {"showscale": False}
    name = trace.get("name")
    if name is None or trace.get("showlegend") is False:
        return {}
    is_first = name not in known
    known.add(name)
    return {"legendgroup": trace.get("legendgroup") or name, "showlegend": is_first}


def _panel_axis(axis: dict[str, Any] | None, domain: list[float], anchor: str, titled: bool) -> dict[str, Any]:
    out = dict(axis or {}) | {"domain": domain, "anchor": anchor}
    if not titled:
        out.pop("title", None)
    return out
