"""The critical-difference picture: mean ranks over worlds, and bars that join whom they can't tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dashboards.figures._parts import legend_only
from dashboards.figures._scales import axis, labelled, numbers
from dashboards.figures._style import CHANGE, Trace, colour_at, make, nothing
from dashboards.figures._titles import heading, safe
from environments.text import format_number
from studies.comparison.boards import Board, Result, Standing
from studies.comparison.summary import SETTINGS

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW = 28
"""Pixels of a policy."""


def critical_difference(result: Result, board: Board, order: Sequence[str]) -> go.Figure:
    """Mean ranks, the best on top, each with half the critical difference to both sides; groups joined on the right.

    Two policies whose whiskers overlap are not significantly different (Demšar 2006, Nemenyi's test). `order` sets the
    policies' colours.
    """
    spec, ranks = result.comparison.spec, board.ranks
    title = heading("Mean rank over worlds", safe(spec.scenario), SETTINGS[board.setting], f"T = {spec.horizon:,}")
    if ranks is None:
        return nothing(title, "One policy has no rank.", "Nothing to draw: only one policy was compared.")
    ordered = sorted(board.standings, key=lambda each: (each.mean_rank, each.place))
    places = {each.policy: i for i, each in enumerate(ordered)}
    half = ranks.critical / 2.0
    highest = ordered[-1].mean_rank + half
    step = 0.035 * max(1.0, highest)
    dots = [_dot(each, row, half, colour_at(order.index(each.policy))) for row, each in enumerate(ordered)]
    what = legend_only(
        "mean rank ± half the critical difference",
        mode="markers",
        marker={"color": CHANGE, "size": 9},
        legendgroup="ranks",
    )
    bars: list[Trace] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": numbers([highest + step * (i + 1)] * 2),
            "y": [places[group[0]] - 0.25, places[group[-1]] + 0.25],
            "line": {"color": CHANGE, "width": 5},
            "name": "can't be told apart",
            "legendgroup": "groups",
            "showlegend": i == 0,
            "hovertext": f"Can't be told apart:<br>{'<br>'.join(safe(name) for name in group)}",
            "hoverinfo": "text",
        }
        for i, group in enumerate(ranks.groups)
    ]
    end = highest + step * (len(ranks.groups) + 1.5)
    joined = "; ".join(", ".join(group) for group in ranks.groups) or "none"
    said = ", ".join(f"{each.policy} {each.mean_rank:.2f}" for each in ordered)
    alike = "" if ranks.friedman is None else f" Friedman's test of all being alike: p = {ranks.friedman:.2g}."
    return make(
        [*dots, what, *bars],
        title,
        f"Mean ranks over {spec.replications:,} worlds in {spec.scenario}, T = {spec.horizon:,}, with"
        f" {SETTINGS[board.setting]}; rank 1 is the best in every world. From the best: {said}."
        f" Critical difference {format_number(ranks.critical)}.{alike}"
        f" Groups that can't be told apart: {joined}.",
        height=150 + ROW * len(ordered),
        margin={"t": 60, "r": 16, "b": 84, "l": 60},
        xaxis=axis("mean rank, 1 is best", range=[min(0.9, ordered[0].mean_rank - half - 0.1), end]),
        yaxis=labelled([safe(each.policy, 30) for each in ordered], range=[len(ordered) - 0.4, -0.6]),
    )


def _dot(each: Standing, row: int, half: float, colour: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers([each.mean_rank]),
        "y": [row],
        "error_x": {"type": "constant", "value": half, "color": colour, "thickness": 1.5, "width": 4},
        "marker": {"color": colour, "size": 9},
        "legendgroup": "ranks",
        "showlegend": False,
        "hovertext": f"<b>{safe(each.policy)}</b><br>mean rank {each.mean_rank:.2f}",
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
