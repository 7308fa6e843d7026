"""Who stands where: mean regret of every policy with its interval, tuned and at its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dashboards.figures._parts import legend_only, whiskers
from dashboards.figures._scales import axis, labelled, log_ticks, numbers, wide
from dashboards.figures._style import CHANGE, Trace, colour_at, make
from dashboards.figures._titles import counts, heading, safe
from environments.text import format_interval, format_number
from studies.comparison.boards import Result, Standing
from studies.comparison.spec import SettingOf
from studies.comparison.tables import mark
from studies.symbols import format_params

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW = 30
"""Pixels of a policy."""

SYMBOLS = {"tuned": "circle", "defaults": "circle-open"}
APART = 0.14
"""How far a policy's marks lie from the middle of its row where it has two, so that neither hides the other."""

NAMES = {"tuned": "tuned", "defaults": "at its defaults"}


def standings(result: Result, order: Sequence[str]) -> go.Figure:
    """Means with 95 % intervals, the best of the main board on top; `order` settles the policies' colours."""
    spec = result.comparison.spec
    rows = [each.policy for each in result.main.standings]
    marks = {each.policy: mark(each) for each in result.main.standings}
    values = [value for board in result.boards for each in board.standings for value in (each.low, each.high)]
    log = wide(values)
    dots = [
        _dot(board.find(policy), board.setting, row + shift, order.index(policy))
        for board, shift in zip(result.boards, (-APART, APART) if len(result.boards) > 1 else (0.0,), strict=True)
        for row, policy in enumerate(rows)
    ]
    said = ", ".join(f"{each.policy} {format_number(each.mean)}" for each in result.main.standings)
    return make(
        [*dots, *(_entry(board.setting) for board in result.boards)],
        heading("Regret of every policy", safe(spec.scenario), *counts(spec.horizon, spec.arms, spec.replications)),
        f"Mean regret with 95 % intervals in {spec.scenario}, T = {spec.horizon:,}, K = {spec.arms},"
        f" R = {spec.replications:,}. {NAMES[result.main.setting].capitalize()}, from the lowest: {said}.",
        height=150 + ROW * len(rows),
        margin={"t": 60, "r": 16, "b": 84, "l": 60},
        xaxis=axis("mean regret, less is better", "log" if log else "linear", log_ticks(values) if log else None),
        yaxis=labelled(
            [f"{safe(policy, 30)} {marks[policy]}".strip() for policy in rows], range=[len(rows) - 0.4, -0.6]
        ),
    )


def _dot(each: Standing, setting: SettingOf, y: float, place: int) -> Trace:
    colour = colour_at(place)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers([each.mean]),
        "y": [y],
        "error_x": whiskers([each.mean], [each.low], [each.high], colour),
        "marker": {"color": colour, "symbol": SYMBOLS[setting], "size": 9, "line": {"width": 2, "color": colour}},
        "legendgroup": setting,
        "showlegend": False,
        "hovertext": (
            f"<b>{safe(each.policy)}</b>, {NAMES[setting]}: place {each.place}<br>mean regret"
            f" {format_interval(each.mean, each.low, each.high)}<br>"
            f"{safe(format_params(each.entry.shown_params()), 120)}"
        ),
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _entry(setting: SettingOf) -> Trace:
    """What the marks of a setting are, in no policy's colour."""
    look = {"color": CHANGE, "symbol": SYMBOLS[setting], "size": 9, "line": {"width": 2, "color": CHANGE}}
    return legend_only(NAMES[setting], mode="markers", marker=look, legendgroup=setting)
