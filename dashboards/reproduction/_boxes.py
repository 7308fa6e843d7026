"""Box plots of nine policies, a panel a measure, with the paper's printed means, from a table of quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures._distributions import MEAN
from dashboards.figures._parts import box, whiskers
from dashboards.figures._scales import axis, labelled, numbers
from dashboards.figures._style import GREY, Trace, make
from dashboards.figures._titles import heading, safe
from dashboards.reproduction._logistics import AXES, LINES, MEASURES, NAMES, PAPER
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

WHISKERS = ("low", "q1", "median", "q3", "high")

ABOVE = 0.42
"""How far above its box a printed number stands, so that it does not hide our mean."""

GAP = 0.07
"""Room between panels, as a share of the whole."""


def boxes(table: Table, panels: Sequence[str], title: str, context: Sequence[str]) -> go.Figure:
    """Quartiles, whiskers from 5 % to 95 %, the mean with its interval, and what the paper prints."""
    traces: list[Trace] = []
    layout: dict[str, Any] = {}
    share = (1.0 + GAP) / len(panels)
    for place, measure in enumerate(panels):
        rows = list(table.where(measure=measure))
        end = "" if place == 0 else str(place + 1)
        axes = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
        traces += [
            box(i, [row[key] for key in WHISKERS], LINES[row["policy"]]["color"]) | axes for i, row in enumerate(rows)
        ]
        traces.append(_means(rows, place == 0) | axes)
        if any(row["paper"] is not None for row in rows):
            first = not any(trace.get("name") == "printed in the paper" for trace in traces)
            traces.append(_paper(rows, first) | axes)
        top = 1.0 - place * share
        names = [safe(NAMES[row["policy"]]) for row in rows]
        layout[f"yaxis{end}"] = labelled(
            names,
            range=[len(rows) - 0.4, -0.8],
            gridcolor="rgba(0,0,0,0)",
            domain=[max(0.0, top - share + GAP), top],
            anchor=f"x{end}",
        )
        layout[f"xaxis{end}"] = axis(AXES[measure], nticks=6, anchor=f"y{end}")
    return make(
        traces,
        heading(title, *context),
        f"{title}: box plots over worlds. " + " ".join(_told(table, measure) for measure in panels),
        height=130 + 330 * len(panels),
        **layout,
    )


def _means(rows: list[dict[str, Any]], legend: bool) -> Trace:
    mean, low, high = ([row[key] for row in rows] for key in ("mean", "mean_low", "mean_high"))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(mean),
        "y": list(range(len(rows))),
        "marker": MEAN,
        "error_x": whiskers(mean, low, high, GREY, thickness=2, width=5),
        "name": "our mean and its 95 % interval",
        "legendgroup": "mean",
        "showlegend": legend,
        "text": [
            f"<b>{NAMES[row['policy']]}</b><br>mean {row['mean']:.0f} (95 %: {row['mean_low']:.0f} to "
            f"{row['mean_high']:.0f})<br>median {row['median']:.0f}, quartiles {row['q1']:.0f} to {row['q3']:.0f}<br>"
            f"5 % to 95 % of the worlds: {row['low']:.0f} to {row['high']:.0f}"
            for row in rows
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _paper(rows: list[dict[str, Any]], legend: bool) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(row["paper"] for row in rows),
        "y": [place - ABOVE for place in range(len(rows))],
        "marker": PAPER,
        "name": "printed in the paper",
        "legendgroup": "paper",
        "showlegend": legend,
        "text": [f"<b>{NAMES[row['policy']]}</b><br>printed in the paper: {row['paper']:g}" for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _told(table: Table, measure: str) -> str:
    rows = table.where(measure=measure)
    parts = [f"{NAMES[row['policy']]} mean {row['mean']:.0f}, median {row['median']:.0f}" for row in rows]
    return f"{MEASURES[measure]}: {'; '.join(parts)}."
