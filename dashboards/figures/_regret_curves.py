"""Regret over time of all policies of a board, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dashboards.figures._parts import change_lines, line_in_band
from dashboards.figures._scales import axis
from dashboards.figures._style import Trace, make
from dashboards.figures._titles import counts, heading, safe
from environments.moments import moments_of_change
from environments.text import format_number
from studies.comparison.boards import Board, Result, Standing
from studies.comparison.summary import SETTINGS

if TYPE_CHECKING:
    import plotly.graph_objects as go

SHOWN = 7
"""Lines in sight at first; the others are a click on the legend away."""


def regret_curves(result: Result, board: Board, order: Sequence[str]) -> go.Figure:
    """Mean cumulative regret with 95 % bands, the best policies first; `order` settles colours and dashes."""
    spec = result.comparison.spec
    changes = moments_of_change(spec.open_scenario(), spec.horizon)
    entry, shapes = change_lines(changes)
    traces = [trace for each in board.standings for trace in _line(each, order.index(each.policy))]
    hidden = max(0, len(board.standings) - SHOWN)
    more = f" The other {hidden} are shown by a click on their name." if hidden else ""
    said = ", ".join(f"{each.policy} {format_number(each.mean)}" for each in board.standings)
    rows = -(-len(board.standings) // 3)
    return make(
        [*traces, *entry],
        heading(
            "Regret over time",
            safe(spec.scenario),
            SETTINGS[board.setting],
            *counts(spec.horizon, spec.arms, spec.replications),
        ),
        f"Mean cumulative regret over {spec.horizon:,} steps in {spec.scenario}, {SETTINGS[board.setting]}, with 95 %"
        " bands."
        f" At the end: {said}.{more}",
        height=420 + 20 * rows,
        margin={"t": 60, "r": 16, "b": 64 + 20 * rows, "l": 60},
        shapes=shapes,
        xaxis=axis("step t", range=[0, spec.horizon]),
        yaxis=axis("cumulative regret", rangemode="tozero"),
    )


def _line(each: Standing, look: int) -> list[Trace]:
    curve = each.entry.curve
    return line_in_band(
        curve.steps,
        curve.mean,
        curve.stderr,
        look,
        both={"visible": True if each.place <= SHOWN else "legendonly"},
        name=safe(each.policy, 30),
        hovertemplate=(
            f"<b>{safe(each.policy)}</b><br>t = %{{x}}<br>mean regret %{{y}} ± %{{customdata}}"
            " (standard error)<extra></extra>"
        ),
    )
