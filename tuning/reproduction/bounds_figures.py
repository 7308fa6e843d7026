"""Figures of the bounds: regret, its rates, and both sides of the proof's assumption."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from ravenlab.common.text import format_approximate, format_number
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import DataFrame, select, to_records, unique
from ravenlab.tuning.reproduction.bounds_problems import PROBLEMS
from ravenlab.tuning.reproduction.figures import make_guide_line, make_interval_line, make_line, make_note
from ravenlab.tuning.reproduction.texts import Words

SETTING_NAMES = {
    "raven-published": "RAVEN-UCB, as published",
    "raven-defined": "RAVEN-UCB, as defined",
    "ucb1": "UCB1",
    "ucb-v": "UCB-V",
}

COLORS = {"raven-published": style.VERMILION, "raven-defined": style.BLUE, "ucb1": style.GREEN, "ucb-v": style.PINK}
INDICES = {name: index for index, name in enumerate(COLORS)}

BOUND_LINES = {
    "gap-dependent": ("claimed: Σ 16·σ²·ln T / Δ", "solid"),
    "gap-independent": ("claimed: sqrt(4·σ²max·K·T·ln T)", "dash"),
    "ucb1": ("proven for UCB1", "dot"),
}

SIGMA = 0.3  # standard deviation for which both sides of the assumption are plotted; their ratio is plotted for all
MARGIN = {"t": 60, "r": 16, "b": 130, "l": 60}  # margins with space for a legend of several lines


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Regret with its bounds in three problems, the rates, and both sides of the assumption."""
    tables = result.tables
    return [
        *((f"bounds-{problem}", _plot_regret(tables, problem, words)) for problem in PROBLEMS),
        ("bounds-rates", _plot_rates(tables, words)),
        ("bounds-assumption", _plot_assumption(tables["assumption"], words)),
    ]


def _plot_regret(tables: Mapping[str, DataFrame], problem: str, words: Words) -> Figure:
    """Measured regret against T with the bounds."""
    regret, bounds = (select(tables[name], problem=problem) for name in ("regret", "bounds"))
    traces: list[PlotlyTrace] = []
    for name, (label, dash) in BOUND_LINES.items():
        rows = select(bounds, bound=name)
        traces.append(make_guide_line(rows["T"].tolist(), rows["value"].tolist(), label, dash))
    for setting in unique(regret, "setting"):
        rows = select(regret, setting=setting)
        x, y, low, high = (rows[name].tolist() for name in ("T", "regret", "regret_low", "regret_high"))
        positive = [max(value, 0.02 * middle) for value, middle in zip(low, y, strict=True)]  # a log axis has no zero
        name = rows["title"].iloc[0]
        traces += make_interval_line(x, y, positive, high, name, COLORS[setting], INDICES[setting])
    return style.make_figure(
        traces,
        *words("regret", problem=PROBLEMS[problem]),
        height=540,
        xaxis=_step_axis("horizon T (log scale)", regret["T"].tolist()),
        yaxis=style.make_axis("mean regret", "log", style.choose_log_ticks([*regret["regret"], *bounds["value"]])),
        margin=MARGIN,
    )


def _step_axis(title: str, values: list[int]) -> dict[str, Any]:
    """A log axis over steps with powers of ten."""
    ticks = style.choose_log_ticks(values) or []
    return style.make_axis(title, "log", ticks) | {"ticktext": [format_approximate(tick) for tick in ticks]}


def _plot_rates(tables: Mapping[str, DataFrame], words: Words) -> Figure:
    """Regret per step by decade, one panel per problem."""
    panels = []
    parts = []
    notes = []
    for (problem, fixed), domain in zip(PROBLEMS.items(), style.stack_panels(len(PROBLEMS), gap=0.08), strict=True):
        shown = select(tables["rates"], problem=problem)
        traces: list[PlotlyTrace] = []
        for setting in unique(shown, "setting"):
            rows = [row for row in to_records(select(shown, setting=setting)) if row["rate"] > 0.0]
            if not rows:
                continue
            x = [sqrt(row["from"] * row["to"]) for row in rows]
            y = [row["rate"] for row in rows]
            low = [max(row["rate_low"], 0.05 * row["rate"]) for row in rows]
            high = [row["rate_high"] for row in rows]
            traces += make_interval_line(x, y, low, high, rows[0]["title"], COLORS[setting], INDICES[setting])
            parts.append(f"{fixed.title}, {rows[0]['title']}: {format_number(y[-1])}")
        values = [value for value in shown["rate"] if value > 0.0]
        axis = style.make_axis("regret per step", "log", style.choose_log_ticks(values, 5))
        panels.append(([*traces, _plot_logarithmic(shown)], axis))
        notes.append(_panel_title(fixed.title, domain[1]))
    return style.make_stacked_figure(
        panels,
        _step_axis("step t (middle of the decade)", [10, 1_000_000]),
        *words("rates", parts=parts),
        gap=0.08,
        height=780,
        annotations=notes,
        margin=MARGIN,
    )


def _panel_title(text: str, y: float) -> dict[str, Any]:
    """The name of a panel, above its upper right corner."""
    return make_note(f"<b>{style.escape_text(text)}</b>", 1, y, "right")


def _plot_logarithmic(rates: DataFrame) -> PlotlyTrace:
    """The slope of growth like ln T, through the last rate of UCB1."""
    rows = to_records(select(rates, setting="ucb1"))
    x = [sqrt(row["from"] * row["to"]) for row in rows][-2:]
    y = [rows[-1]["rate"] * x[-1] / step for step in x]
    return make_guide_line(x, y, "growth like ln T: tenfold per decade")


def _plot_assumption(assumption: DataFrame, words: Words) -> Figure:
    """Both sides of the proof's assumption (above) and their ratio (below)."""
    settings, sigmas, steps = (unique(assumption, name) for name in ("setting", "sigma", "t"))
    required = select(assumption, setting=settings[0], sigma=SIGMA)["required"].tolist()
    traces: list[PlotlyTrace] = [make_guide_line(steps, required, f"required: 2·σ·sqrt(ln t), σ = {SIGMA:g}", "solid")]
    for setting in settings:
        rows = select(assumption, setting=setting, sigma=SIGMA)
        title = rows["title"].iloc[0]
        color = COLORS[setting]
        played = rows["played"].tolist()
        written = rows["written"].tolist()
        traces.append(make_line(steps, played, f"played, {title}", color, 0))
        traces.append(make_line(steps, written, f"written in the proof, {title}", color, 2, opacity=0.6))
        for index, sigma in enumerate(sigmas):
            sides = select(assumption, setting=setting, sigma=sigma)
            ratio = (sides["played"] / sides["required"]).tolist()
            name = f"played / required, σ = {sigma:g}, {title}"
            traces.append(make_line(steps, ratio, name, color, index, yaxis="y2", mode="lines", showlegend=False))
    traces.append(
        make_guide_line([steps[0], steps[-1]], [1.0, 1.0], "as assumed", "dash", yaxis="y2", showlegend=False)
    )
    for index, sigma in enumerate(sigmas):
        traces.append(
            make_guide_line([], [], f"below: σ = {sigma:g}", style.DASHES[index]) | {"x": [None], "y": [None]}
        )
    notes = [_panel_title(f"both sides, σ = {SIGMA:g}", 1.0), _panel_title("played / required (assumed to be 1)", 0.43)]
    return style.make_figure(
        traces,
        *words("assumption"),
        height=640,
        annotations=notes,
        xaxis=_step_axis("step t", steps) | {"anchor": "y2"},
        yaxis=style.make_axis("value", domain=[0.54, 1], rangemode="tozero"),
        yaxis2=style.make_axis("played / required", domain=[0, 0.43], rangemode="tozero"),
        margin={**MARGIN, "b": 150},
    )
