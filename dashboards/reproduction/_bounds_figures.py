"""The figures of the section on regret bounds, drawn from its tables."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from dashboards.figures._scales import axis, log_ticks
from dashboards.figures._style import BLUE, DASHES, GREEN, PINK, VERMILION, Trace, make
from dashboards.figures._titles import heading, safe
from dashboards.reproduction._lines import guide, line, with_band
from environments.text import format_approximate, format_number, format_range
from studies.reproduction.document import Outcome

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOURS = {"raven-published": VERMILION, "raven-defined": BLUE, "ucb1": GREEN, "ucb-v": PINK}
PLACES = {name: place for place, name in enumerate(COLOURS)}
BOUNDS = {
    "gap-dependent": ("claimed: Σ 16·σ²·ln T / Δ", "solid"),
    "gap-independent": ("claimed: sqrt(4·σ²max·K·T·ln T)", "dash"),
    "ucb1": ("proven for UCB1", "dot"),
}
SIGMA = 0.3
"""The standard deviation for which the two sides of the assumption are drawn; their ratio is drawn for all."""

LOW = {"t": 60, "r": 16, "b": 130, "l": 60}
"""Margins that leave room for a legend of several lines."""


def regret_figure(outcome: Outcome, problem: str) -> go.Figure:
    """Measured regret against T beside the bounds."""
    regret, bounds = outcome.tables["regret"].where(problem=problem), outcome.tables["bounds"].where(problem=problem)
    title = outcome.tables["arms"].where(problem=problem).column("problem_title")[0]
    arms = len(outcome.tables["arms"].where(problem=problem))
    traces: list[Trace] = []
    for name, (words, dash) in BOUNDS.items():
        some = bounds.where(bound=name)
        traces.append(guide(some.column("T"), some.column("value"), words, dash))
    parts = []
    for player in regret.distinct("player"):
        rows = regret.where(player=player)
        y, low, high = (rows.column(name) for name in ("regret", "regret_low", "regret_high"))
        floor = [max(value, 0.02 * middle) for value, middle in zip(low, y, strict=True)]  # a log axis has no zero
        name = rows.column("title")[0]
        traces += with_band(rows.column("T"), y, floor, high, name, COLOURS[player], PLACES[player])
        parts.append(f"{name} {format_number(y[-1])} (95 %: {format_number(low[-1])} to {format_number(high[-1])})")
    claimed = bounds.where(bound="gap-dependent").column("value")[-1]
    values = [*regret.column("regret"), *bounds.column("value")]
    return make(
        traces,
        heading(
            "Regret and its bounds",
            safe(title),
            f"K = {arms} arms",
            f"R = {format_range(regret.column('replications'))} runs",
            "95 % bands",
        ),
        f"Mean regret against T, both on log axes, with {title}. At T = {format_approximate(regret.column('T')[-1])}: "
        f"{'; '.join(parts)}; the claimed gap-dependent bound is {format_number(claimed)}.",
        height=540,
        xaxis=_steps("horizon T (log axis: ln T is even)", regret.column("T")),
        yaxis=axis("mean regret", "log", log_ticks(values)),
        margin=LOW,
    )


def _steps(title: str, values: list[int]) -> dict[str, Any]:
    """A log axis over steps with powers of ten."""
    ticks = log_ticks(values) or []
    return axis(title, "log", ticks) | {"ticktext": [format_approximate(tick) for tick in ticks]}


def rates_figure(outcome: Outcome) -> go.Figure:
    """Regret per step by decade, a panel for each problem."""
    rates, arms = outcome.tables["rates"], outcome.tables["arms"]
    problems = rates.distinct("problem")
    traces: list[Trace] = []
    layout: dict[str, Any] = {}
    parts, notes = [], []
    for panel, problem in enumerate(problems):
        y_axis = "y" if panel == 0 else f"y{panel + 1}"
        here = rates.where(problem=problem)
        title = arms.where(problem=problem).column("problem_title")[0]
        top = 1.0 - panel / len(problems)
        domain = [top - 1.0 / len(problems) + 0.04, top - 0.03]
        values = [value for value in here.column("rate") if value > 0.0]
        layout[y_axis.replace("y", "yaxis")] = axis("regret a step", "log", log_ticks(values, 5), domain=domain)
        notes.append(_note(title, domain[1]))
        for player in here.distinct("player"):
            rows = [row for row in here.where(player=player) if row["rate"] > 0.0]
            if not rows:
                continue
            x = [sqrt(row["from"] * row["to"]) for row in rows]
            y = [row["rate"] for row in rows]
            low = [max(row["rate_low"], 0.05 * row["rate"]) for row in rows]
            high = [row["rate_high"] for row in rows]
            more = {"yaxis": y_axis, "showlegend": panel == 0}
            traces += with_band(x, y, low, high, rows[0]["title"], COLOURS[player], PLACES[player], **more)
            parts.append(f"{title}, {rows[0]['title']}: {format_number(y[-1])}")
        traces.append(_tenth(here, y_axis, panel == 0))
    return make(
        traces,
        heading("Regret per step in each tenfold of time", "a straight tail is flat here", "95 % bands"),
        "Regret per step in each decade of time on log axes, a panel for each problem; growth like ln T falls tenfold "
        f"a decade, a linear tail is flat. In the last decade: {'; '.join(parts)}.",
        height=780,
        annotations=notes,
        xaxis=_steps("step t (middle of the decade)", [10, 1_000_000]) | {"anchor": f"y{len(problems)}"},
        margin=LOW,
        **layout,
    )


def _note(text: str, y: float) -> dict[str, Any]:
    """The name of a panel, just above its upper right corner."""
    more = {"x": 1, "xanchor": "right", "y": y, "yanchor": "bottom", "showarrow": False, "font": {"size": 12}}
    return {"text": f"<b>{safe(text)}</b>", "xref": "paper", "yref": "paper", **more}


def _tenth(here: Any, y_axis: str, legend: bool) -> Trace:
    """How fast ln T makes the rate fall, through the last rate of UCB1."""
    rows = list(here.where(player="ucb1"))
    x = [sqrt(row["from"] * row["to"]) for row in rows][-2:]
    y = [rows[-1]["rate"] * x[-1] / each for each in x]
    return guide(x, y, "growth like ln T: a tenth each decade", yaxis=y_axis, showlegend=legend)


def assumption_figure(outcome: Outcome) -> go.Figure:
    """Both sides of what the proof assumes (above), and how far one is from the other (below)."""
    table = outcome.tables["assumption"]
    players, sigmas = table.distinct("player"), table.distinct("sigma")
    steps = table.distinct("t")
    traces: list[Trace] = []
    needed = table.where(player=players[0], sigma=SIGMA).column("needed")
    traces.append(guide(steps, needed, f"needed: 2·σ·sqrt(ln t), σ = {SIGMA:g}", "solid"))
    parts = []
    for player in players:
        rows = table.where(player=player, sigma=SIGMA)
        title, colour = rows.column("title")[0], COLOURS[player]
        traces.append(line(steps, rows.column("played"), f"played, {title}", colour, 0))
        traces.append(line(steps, rows.column("written"), f"written in the proof, {title}", colour, 2, opacity=0.6))
        for place, sigma in enumerate(sigmas):
            some = list(table.where(player=player, sigma=sigma))
            ratio = [row["played"] / row["needed"] for row in some]
            name = f"played / needed, σ = {sigma:g}, {title}"
            traces.append(line(steps, ratio, name, colour, place, yaxis="y2", mode="lines", showlegend=False))
            parts.append(f"{title}, σ = {sigma:g}: {format_number(ratio[-1])}")
    traces.append(guide([steps[0], steps[-1]], [1.0, 1.0], "as assumed", "dash", yaxis="y2", showlegend=False))
    for place, sigma in enumerate(sigmas):
        traces.append(guide([], [], f"below: σ = {sigma:g}", DASHES[place]) | {"x": [None], "y": [None]})
    notes = [_note(f"the two sides, σ = {SIGMA:g}", 1.0), _note("played over needed: the proof assumes 1", 0.43)]
    return make(
        traces,
        heading("What the proof assumes of the bonus", "α·sqrt(ln t) + β₀·σ = 2·σ·sqrt(ln t)"),
        "Both sides of the proof's assumption against t, and their ratio, which should be 1. "
        f"At t = {format_approximate(steps[-1])} what is played over what is needed: {'; '.join(parts)}.",
        height=640,
        annotations=notes,
        xaxis=_steps("step t", steps) | {"anchor": "y2"},
        yaxis=axis("value", domain=[0.54, 1], rangemode="tozero"),
        yaxis2=axis("played / needed", domain=[0, 0.43], rangemode="tozero"),
        margin={**LOW, "b": 150},
    )
