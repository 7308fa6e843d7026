"""What the sections of the logistics case share: names, lines that one can tell apart, dots with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import whiskers
from dashboards.figures._scales import axis, labelled, numbers, rounded
from dashboards.figures._style import BLUE, GREEN, GREY, ORANGE, PINK, SKY, VERMILION, Trace, make
from dashboards.figures._titles import heading, safe
from studies.reproduction.claims import LOGISTICS

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {ours: theirs for theirs, ours in LOGISTICS.items()}
"""Policies as the paper's table calls them."""

RAVEN = "raven-ucb"

LINES: dict[str, dict[str, Any]] = {
    "raven-ucb": {"color": BLUE, "dash": "solid", "width": 3},
    "ucb1": {"color": GREY, "dash": "dash", "width": 2},
    "ucb-v": {"color": ORANGE, "dash": "dot", "width": 2},
    "epsilon-greedy": {"color": ORANGE, "dash": "longdash", "width": 2},
    "thompson": {"color": GREEN, "dash": "dashdot", "width": 2},
    "f-dsw-ts": {"color": SKY, "dash": "solid", "width": 2},
    "wls-optimistic-ts": {"color": PINK, "dash": "dot", "width": 2},
    "ccb": {"color": VERMILION, "dash": "dash", "width": 2},
    "ucb-imp": {"color": GREY, "dash": "solid", "width": 2},
}
"""No two have both colour and dash in common; RAVEN-UCB's is the thick one."""

PAPER = {"symbol": "x-thin", "size": 10, "color": VERMILION, "line": {"color": VERMILION, "width": 2.5}}
"""How the paper's printed numbers are marked, wherever they are."""

COMPARISONS = {
    "published": "as published",
    "defaults": "as defined, everyone at its defaults",
    "tuned": "as defined, everyone tuned",
}

MEASURES = {
    "regret_constant": "regret against 0.8",
    "regret": "regret against the best arm of the moment",
    "reward": "reward",
    "suboptimal_pulls": "suboptimal pulls",
}

AXES = {
    "regret_constant": "regret against 0.8",
    "regret": "regret of the moment",
    "reward": "reward",
    "suboptimal_pulls": "suboptimal pulls",
}
"""The same, short enough for an axis on a telephone."""


@dataclass(frozen=True)
class Dots:
    """One kind of number with intervals, a dot a row; what is not there is None."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]
    marker: dict[str, Any]


def dots(rows: Sequence[str], series: Sequence[Dots], title: str, context: Sequence[str], what: str) -> go.Figure:
    """Several numbers beside each other, a row a name, the first on top; each row's dots lie a little apart.

    >>> one = Dots("ours", [1.0], [0.5], [1.5], {"symbol": "circle"})
    >>> dots(["UCB"], [one], "Regret", ["T = 100"], "regret").layout.yaxis.ticktext
    ('UCB',)
    """
    step = 0.56 / max(1, len(series))
    traces = [_dots(rows, each, (i - (len(series) - 1) / 2) * step) for i, each in enumerate(series)]
    return make(
        traces,
        heading(title, *context),
        f"{title}. " + " ".join(_told(rows, each) for each in series),
        height=170 + (26 + 10 * len(series)) * len(rows),
        xaxis=axis(what, nticks=5, rangemode="tozero", tickangle=0, tickformat="~s"),
        yaxis=labelled([safe(row) for row in rows], range=[len(rows) - 0.5, -0.5], gridcolor="rgba(0,0,0,0)"),
    )


def _dots(rows: Sequence[str], each: Dots, shift: float) -> Trace:
    there = [i for i, value in enumerate(each.values) if value is not None]
    value = [float(each.values[i] or 0.0) for i in there]
    low = [_or(each.low[i], v) for i, v in zip(there, value, strict=True)]
    high = [_or(each.high[i], v) for i, v in zip(there, value, strict=True)]
    ends = [
        f"{v:.5g}" if a == b else f"{v:.5g} (95 %: {a:.5g} to {b:.5g})"
        for v, a, b in zip(value, low, high, strict=True)
    ]
    out: Trace = {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(value),
        "y": [rounded(i + shift, 4) for i in there],
        "marker": {"size": 9} | each.marker,
        "name": each.name,
        "text": [f"<b>{safe(rows[i])}</b><br>{each.name}: {end}" for i, end in zip(there, ends, strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
    }
    if any(a < b for a, b in zip(low, high, strict=True)):
        colour = each.marker.get("line", {}).get("color", each.marker.get("color"))
        out["error_x"] = whiskers(value, low, high, colour)
    return out


def _or(value: float | None, other: float) -> float:
    return other if value is None else float(value)


def _told(rows: Sequence[str], each: Dots) -> str:
    parts = [f"{row} {value:.4g}" for row, value in zip(rows, each.values, strict=True) if value is not None]
    return f"{each.name}: {', '.join(parts)}."
