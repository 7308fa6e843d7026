"""Several figures as panels of one: small multiples that share a legend.

Two columns at most, so that a panel keeps its room on a telephone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures._style import make

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLUMNS = 2
ABOVE, BELOW = 116, 84
"""Pixels above and below all panels: the title, and the legend with the last axis."""


def panels(
    titled: Sequence[tuple[str, go.Figure]], title: str, alt: str, *, height: int = 216, gap: int = 74
) -> go.Figure:
    """Lay figures out row by row; axes keep what they are, and are titled at the edges alone.

    >>> from plotly.graph_objects import Figure
    >>> one = Figure([{"type": "scatter", "x": [1], "y": [2], "name": "a"}])
    >>> both = panels([("left", one), ("right", one)], "Two", "Two points.")
    >>> [trace.yaxis for trace in both.data], [trace.showlegend for trace in both.data]
    (['y', 'y2'], [True, False])
    """
    rows = -(-len(titled) // COLUMNS)
    inner = rows * height + (rows - 1) * gap
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    notes: list[dict[str, Any]] = []
    known: set[str] = set()
    for place, (name, figure) in enumerate(titled):
        row, column = divmod(place, COLUMNS)
        number = "" if place == 0 else str(place + 1)
        drawn = figure.to_plotly_json()
        for trace in drawn["data"]:
            traces.append(trace | {"xaxis": f"x{number}", "yaxis": f"y{number}"} | _legend(trace, known))
        top = 1 - row * (height + gap) / inner
        left = column * (1 + 0.14) / COLUMNS
        across, up = [left, left + (1 - 0.14) / COLUMNS], [max(0.0, top - height / inner), top]
        below = place + COLUMNS >= len(titled)
        layout[f"xaxis{number}"] = _axis(drawn["layout"].get("xaxis"), across, f"y{number}", below)
        layout[f"yaxis{number}"] = _axis(drawn["layout"].get("yaxis"), up, f"x{number}", column == 0)
        notes.append(
            {
                "text": f"<b>{name}</b>",
                "xref": "paper",
                "yref": "paper",
                "x": across[0],
                "y": top,
                "xanchor": "left",
                "yanchor": "bottom",
                "align": "left",
                "showarrow": False,
                "font": {"size": 12},
            }
        )
    margin = {"t": ABOVE, "r": 12, "b": BELOW, "l": 56}
    return make(traces, title, alt, height=inner + ABOVE + BELOW, annotations=notes, margin=margin, **layout)


def _legend(trace: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """A name stands in the legend once, and switches its traces in every panel."""
    out: dict[str, Any] = {}
    if trace.get("type") == "heatmap":
        return {"showscale": False}
    name = trace.get("name")
    if name is not None and trace.get("showlegend") is not False:
        out = {"legendgroup": trace.get("legendgroup") or name, "showlegend": name not in known}
        known.add(name)
    return out


def _axis(found: dict[str, Any] | None, domain: list[float], anchor: str, titled: bool) -> dict[str, Any]:
    out = dict(found or {}) | {"domain": domain, "anchor": anchor}
    if not titled:
        out.pop("title", None)
    return out
