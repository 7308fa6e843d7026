"""How far regrets lie apart: the printed ones from what was measured, and single worlds from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import WHITE, box, whiskers
from dashboards.figures._scales import axis, labelled, log_ticks, numbers
from dashboards.figures._style import BLUE, GREY, ORANGE, VERMILION, Trace, make
from dashboards.reproduction._figure3_figures import PRINTED, grids, rows_of, title_of
from environments.text import format_number
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

QUANTILES = ("q05", "q25", "q50", "q75", "q95")


def printed_against(optima: Table, protocol: str, few: int) -> go.Figure:
    """The printed regret beside the true mean of its cell, and where the smallest of sixteen small means lies."""
    rows = list(optima.where(protocol=protocol))
    places = list(range(len(rows)))
    labels = [f"{row['scenario']}<br>T = {row['horizon']}" for row in rows]

    def bar(low: str, middle: str, high: str, shift: float, **more: Any) -> Trace:
        values, lows, highs = ([row[name] for row in rows] for name in (middle, low, high))
        return {
            "type": "scatter",
            "mode": "markers",
            "x": numbers(values),
            "y": [place + shift for place in places],
            "error_x": whiskers(values, lows, highs, more["marker"]["color"], thickness=2, width=5),
            "customdata": [[*numbers((row[low], row[high]))] for row in rows],
            "hovertemplate": "%{x} (95 %: %{customdata[0]} to %{customdata[1]})<extra></extra>",
        } | more

    traces = [
        bar(
            "smallest_low",
            "smallest_median",
            "smallest_high",
            -0.22,
            name=f"smallest of 16 means of {few}: median and 95 %",
            marker={"color": GREY, "symbol": "line-ns-open", "size": 12},
        ),
        bar(
            "ten_low",
            "ten_median",
            "ten_high",
            0.0,
            name=f"mean of {few} in the printed cell: median and 95 %",
            marker={"color": ORANGE, "symbol": "diamond", "size": 7},
        ),
        bar(
            "regret_low",
            "regret",
            "regret_high",
            0.22,
            name="true mean of the printed cell, 95 %",
            marker={"color": BLUE, "symbol": "circle", "size": 9},
        ),
        {
            "type": "scatter",
            "mode": "markers",
            "x": numbers(row["printed_regret"] for row in rows),
            "y": [place - 0.22 for place in places],
            "marker": PRINTED,
            "name": "printed in the paper",
            "hovertemplate": "printed %{x}<extra></extra>",
        },
    ]
    reach = [row[name] for row in rows for name in ("smallest_low", "ten_high", "printed_regret", "regret_high")]
    return make(
        traces,
        title_of("The printed regret, and where it comes from", protocol, optima),
        f"For each of the six optima, as {protocol}: the printed regret, the mean of its cell, and where the smallest "
        f"of sixteen means of {few} replications lies. "
        + "; ".join(
            f"{row['scenario']}, T = {row['horizon']}: printed {row['printed_regret']:g}, cell"
            f" {format_number(row['regret'])}, "
            f"smallest {format_number(row['smallest_low'])} to {format_number(row['smallest_high'])}"
            for row in rows
        )
        + ".",
        height=190 + 66 * len(rows),
        margin={"t": 70, "r": 16, "b": 118, "l": 60},
        xaxis=axis("regret (reward units)", "log", log_ticks(reach)),
        yaxis=labelled(labels, range=[len(rows) - 0.5, -0.5], showgrid=False),
    )


def boxes(cells: Table, protocol: str) -> go.Figure:
    """How regret spreads over single worlds: the lowest cell of each grid, and the one that the paper prints."""
    traces: list[Trace] = []
    labels: list[str] = []
    parts: list[str] = []
    shown: set[str] = set()
    for title, grid in grids(cells, protocol):
        rows = rows_of(cells, protocol, grid)
        lowest, printed = min(rows, key=lambda row: row["regret"]), next(row for row in rows if row["printed"])
        pair = [(lowest, "lowest cell"), (printed, "printed cell")]
        for place, (row, kind) in enumerate(pair):
            colour = (BLUE, VERMILION)[place]
            at = len(labels) + (place - 0.5) * 0.36
            legend = {"name": kind, "legendgroup": kind, "showlegend": kind not in shown}
            traces.append(box(at, [row[name] for name in QUANTILES], colour, width=0.3, **legend))
            shown.add(kind)
            traces.append(_mean_mark(row, kind, at))
            parts.append(
                f"{title.replace('<br>', ', ')}, {kind}: median {format_number(row['q50'])}, mean"
                f" {format_number(row['regret'])}"
            )
        labels.append(title)
    reach = [x for row in cells.where(protocol=protocol) for x in (row["q05"], row["q95"])]
    return make(
        traces,
        title_of("Spread of the regret over single worlds", protocol, cells),
        f"Box plots, as {protocol}, of the regret of single worlds: quartiles, whiskers from 5 % to 95 %. "
        + "; ".join(parts)
        + ".",
        height=190 + 62 * len(labels),
        xaxis=axis("regret of one world (reward units)", "log", log_ticks(reach)),
        yaxis=labelled(labels, range=[len(labels) - 0.5, -0.5], showgrid=False),
    )


def _mean_mark(row: dict[str, Any], kind: str, place: float) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers([row["regret"]]),
        "y": [place],
        "marker": {"symbol": "diamond", "size": 8, **WHITE},
        "legendgroup": kind,
        "showlegend": False,
        "hovertemplate": (
            f"<b>{kind}</b>: α₀ = {row['alpha0']:g}, β₀ = {row['beta0']:g}<br>mean {format_number(row['regret'])},"
            " median "
            f"{format_number(row['q50'])}<br>quartiles {format_number(row['q25'])} to"
            f" {format_number(row['q75'])}<br>5 % to 95 %: "
            f"{format_number(row['q05'])} to {format_number(row['q95'])}<extra></extra>"
        ),
    }
