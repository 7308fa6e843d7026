"""Who stands where: mean regret of every policy with its interval, tuned and at its defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.figures._parts import whiskers
from dashboards.figures._scales import axis, labelled, log_ticks, numbers, wide
from dashboards.figures._style import BLUE, VERMILION, Trace, make
from dashboards.figures._titles import counts, heading, safe
from studies.comparison.boards import Board, Result
from studies.comparison.tables import mark
from studies.words import params_in_words, short

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW = 30
"""Pixels of a policy."""

LOOKS = {"tuned": (BLUE, "circle"), "defaults": (VERMILION, "circle-open")}
NAMES = {"tuned": "tuned", "defaults": "at its defaults"}


def standings(result: Result) -> go.Figure:
    """Means with 95 % intervals, the best of the main board on top."""
    spec = result.comparison.spec
    order = [each.policy for each in result.main.standings]
    marks = {each.policy: mark(each) for each in result.main.standings}
    values = [value for board in result.boards for each in board.standings for value in (each.low, each.high)]
    log = wide(values)
    assert spec.horizon is not None
    assert spec.arms is not None
    said = ", ".join(f"{each.policy} {short(each.mean)}" for each in result.main.standings)
    return make(
        [_dots(board, order) for board in result.boards],
        heading("Regret of every policy", safe(spec.scenario), *counts(spec.horizon, spec.arms, spec.replications)),
        f"Mean regret with 95 % intervals in {spec.scenario}, T = {spec.horizon}, K = {spec.arms},"
        f" R = {spec.replications}. {NAMES[result.main.setting].capitalize()}, from the lowest: {said}.",
        height=150 + ROW * len(order),
        margin={"t": 60, "r": 16, "b": 84, "l": 60},
        xaxis=axis("mean regret, less is better", "log" if log else "linear", log_ticks(values) if log else None),
        yaxis=labelled(
            [f"{safe(policy, 30)} {marks[policy]}".strip() for policy in order], range=[len(order) - 0.4, -0.6]
        ),
    )


def _dots(board: Board, order: list[str]) -> Trace:
    found = [board.find(policy) for policy in order]
    colour, symbol = LOOKS[board.setting]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(each.mean for each in found),
        "y": list(range(len(found))),
        "error_x": whiskers(
            [each.mean for each in found], [each.low for each in found], [each.high for each in found], colour
        ),
        "marker": {"color": colour, "symbol": symbol, "size": 9, "line": {"width": 2, "color": colour}},
        "name": NAMES[board.setting],
        "hovertext": [
            f"<b>{safe(each.policy)}</b>, {NAMES[board.setting]}: place {each.place}<br>mean regret {short(each.mean)}"
            f" (95 %: {short(each.low)} to {short(each.high)})<br>"
            f"{safe(params_in_words(each.entry.shown_params()), 120)}"
            for each in found
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
