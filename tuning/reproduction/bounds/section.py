"""The section of the regret bounds."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_approximate, format_interval, format_number, format_range
from ravenlab.dashboards.figures.style import (
    BLUE,
    DASHES,
    GREEN,
    PINK,
    VERMILION,
    PlotlyTrace,
    choose_log_ticks,
    escape_text,
    format_title,
    make_axis,
    make_figure,
)
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.criteria import FLAT
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.tables import select, to_records, unique
from ravenlab.tuning.reproduction.bounds.run import PROBLEMS, FixedProblem
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figures import (
    axis_number,
    make_guide_line,
    make_interval_line,
    make_line,
    make_note,
    show_table,
    stack_panels,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


SETTING_NAMES = {
    "raven-published": "RAVEN-UCB, as published",
    "raven-defined": "RAVEN-UCB, as defined",
    "ucb1": "UCB1",
    "ucb-v": "UCB-V",
}

COLORS = {"raven-published": VERMILION, "raven-defined": BLUE, "ucb1": GREEN, "ucb-v": PINK}
INDICES = {name: index for index, name in enumerate(COLORS)}

BOUND_LINES = {
    "gap-dependent": ("claimed: Σ 16·σ²·ln T / Δ", "solid"),
    "gap-independent": ("claimed: sqrt(4·σ²max·K·T·ln T)", "dash"),
    "ucb1": ("proven for UCB1", "dot"),
}

SIGMA = 0.3  # standard deviation for which both sides of the assumption are plotted; their ratio is plotted for all
MARGIN = {"t": 60, "r": 16, "b": 130, "l": 60}  # margins with space for a legend of several lines

EXPLANATION = (
    "Cause of a linear tail: the bonus that should lead to another pull of a neglected arm shrinks with time, so a "
    "best arm with poor first rewards may never be pulled again. The probability of this does not decrease as T grows, "
    "and every further step then costs the gap."
)


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, regret with its bounds in three problems, the rates, and both sides of the assumption."""
    tables = result.tables
    has_tail = any(start is not None for start in tables["tails"]["tail_from"])
    regrets = [(f"bounds-{problem}", _plot_regret(tables, problem)) for problem in PROBLEMS]
    return ReproductionSection(
        title="Regret bounds: growth of the regret with T",
        claims=[
            "The paper claims that the regret of RAVEN-UCB in stationary problems grows at most like ln T: below the "
            "sum of 16·σ²·ln T / Δ over the arms, where σ² is the variance of an arm and Δ its gap to the best arm; "
            "and like sqrt(K·T·ln T) for all gaps. Its Table 2 calls this tighter than the bound of UCB1.",
            "The proof assumes that the bonus is sqrt(4·σ²·ln t / N), that is, that α₀·sqrt(ln t) + β₀·σ equals "
            "2·σ·sqrt(ln t) at every step. The algorithm uses α_t = α₀ / ln(t + ε) instead of α₀.",
        ],
        methods=[
            "The paper has no experiment on this. We played stationary problems up to "
            f"T = {format_approximate(result.facts['horizon'])} with the same arms in every run, because a bound "
            f"applies to one problem: {'; '.join(map(_describe_problem, PROBLEMS.values()))}.",
            "RAVEN-UCB uses the unbiased variance that the proof assumes. As published and as defined differ only in "
            "its parameters: those of the paper's logistics study and our defaults. UCB1 and UCB-V are controls.",
            "A linear tail starts where the regret per step stops falling: from there to the end, its ratio from one "
            f"decade to the next is between {FLAT[0]:g} and {FLAT[1]:g} with 95 % confidence. Growth like ln T gives "
            "0.1. A run has lost the best arm if it loses at least the smallest gap per step in the last decade.",
        ],
        results=[
            *list_reasons(result),
            *[_describe_control(tables["tails"], name) for name in ("ucb1", "ucb-v")],
            *([EXPLANATION] if has_tail else []),
        ],
        figures=[
            *regrets,
            ("bounds-rates", _plot_rates(tables)),
            ("bounds-assumption", _plot_assumption(tables["assumption"])),
        ],
        tables=[_tail_table(tables), _arm_table(tables["arms"])],
    )


def _describe_problem(problem: FixedProblem) -> str:
    return f"{problem.title} with means {format_range(problem.means)} and variances {format_range(problem.variances)}"


def _describe_control(tails: DataFrame, setting: str) -> str:
    rows = to_records(select(tails, setting=setting))
    count = sum(row["tail_from"] is not None for row in rows)
    return f"{rows[0]['title']} (control) has a linear tail in {count} of {len(rows)} problems."


def _tail_table(tables: Mapping[str, DataFrame]) -> PageTable:
    def format_crossing(row: dict[str, Any], column: str) -> str:
        return "–" if row[column] is None else f"{format_approximate(row[column])}, {row[f'{column}_how']}"

    rows = [
        {
            "problem": PROBLEMS[row["problem"]].title,
            "policy": SETTING_NAMES[row["setting"]],
            "tail from T": "–" if row["tail_from"] is None else format_approximate(row["tail_from"]),
            "last rate": f"{row['last_rate']:.2g}",
            "runs that lost the best arm": f"{row['lost']:.1%} ({row['lost_low']:.1%} to {row['lost_high']:.1%})",
            "crosses gap-dependent": format_crossing(row, "crosses_gap_dependent"),
            "crosses gap-independent": format_crossing(row, "crosses_gap_independent"),
        }
        for row in to_records(tables["tails"])
    ]
    caption = (
        "Linear tails, and the T at which the mean regret crosses the claimed bounds (extrapolated along the tail)"
    )
    return show_table(caption, rows)


def _arm_table(arms: DataFrame) -> PageTable:
    rows = [
        {
            "problem": row["problem_title"],
            "arm": str(row["arm"]),
            "mean": format_number(row["mean"]),
            "variance σ²": format_number(row["variance"]),
            "gap Δ": format_number(row["gap"]),
        }
        for row in to_records(arms)
    ]
    return show_table("The arms of the three problems", rows, folded=True)


def _plot_regret(tables: Mapping[str, DataFrame], problem: str) -> go.Figure:
    """Measured regret against T with the bounds."""
    regret, bounds = (select(tables[name], problem=problem) for name in ("regret", "bounds"))
    title = PROBLEMS[problem].title
    traces: list[PlotlyTrace] = []
    for name, (label, dash) in BOUND_LINES.items():
        rows = select(bounds, bound=name)
        traces.append(make_guide_line(rows["T"].tolist(), rows["value"].tolist(), label, dash))
    parts = []
    for setting in unique(regret, "setting"):
        rows = select(regret, setting=setting)
        x, y, low, high = (rows[name].tolist() for name in ("T", "regret", "regret_low", "regret_high"))
        positive = [max(value, 0.02 * middle) for value, middle in zip(low, y, strict=True)]  # a log axis has no zero
        name = rows["title"].iloc[0]
        traces += make_interval_line(x, y, positive, high, name, COLORS[setting], INDICES[setting])
        parts.append(f"{name} {format_interval(Interval(y[-1], low[-1], high[-1]))}")
    claimed = select(bounds, bound="gap-dependent")["value"].iloc[-1]
    steps = regret["T"].tolist()
    return make_figure(
        traces,
        format_title(
            "Regret and its bounds",
            escape_text(title),
            f"K = {PROBLEMS[problem].arms} arms",
            f"R = {format_range(regret['replications'].tolist())} runs",
            "95 % bands",
        ),
        f"Mean regret against T on log axes, with {title}. At T = {format_approximate(steps[-1])}: {'; '.join(parts)}; "
        f"the claimed gap-dependent bound is {format_number(claimed)}.",
        height=540,
        xaxis=_step_axis("horizon T (log scale)", steps),
        yaxis=make_axis("mean regret", "log", choose_log_ticks([*regret["regret"], *bounds["value"]])),
        margin=MARGIN,
    )


def _step_axis(title: str, values: list[int]) -> dict[str, Any]:
    """A log axis over steps with powers of ten."""
    ticks = choose_log_ticks(values) or []
    return make_axis(title, "log", ticks) | {"ticktext": [format_approximate(tick) for tick in ticks]}


def _plot_rates(tables: Mapping[str, DataFrame]) -> go.Figure:
    """Regret per step by decade, one panel per problem."""
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    parts, notes = [], []
    for panel, (problem, domain) in enumerate(zip(PROBLEMS, stack_panels(len(PROBLEMS), gap=0.08), strict=True)):
        y_axis = f"y{axis_number(panel)}"
        shown = select(tables["rates"], problem=problem)
        title = PROBLEMS[problem].title
        values = [value for value in shown["rate"] if value > 0.0]
        layout[f"yaxis{axis_number(panel)}"] = make_axis(
            "regret per step", "log", choose_log_ticks(values, 5), domain=domain
        )
        notes.append(_panel_title(title, domain[1]))
        for setting in unique(shown, "setting"):
            rows = [row for row in to_records(select(shown, setting=setting)) if row["rate"] > 0.0]
            if not rows:
                continue
            x, y = [sqrt(row["from"] * row["to"]) for row in rows], [row["rate"] for row in rows]
            low = [max(row["rate_low"], 0.05 * row["rate"]) for row in rows]
            high = [row["rate_high"] for row in rows]
            look = {"yaxis": y_axis, "showlegend": panel == 0}
            traces += make_interval_line(x, y, low, high, rows[0]["title"], COLORS[setting], INDICES[setting], **look)
            parts.append(f"{title}, {rows[0]['title']}: {format_number(y[-1])}")
        traces.append(_plot_logarithmic(shown, y_axis, panel == 0))
    return make_figure(
        traces,
        format_title("Regret per step in each decade", "a linear tail is horizontal", "95 % bands"),
        "Regret per step in each decade on log axes, one panel per problem; growth like ln T falls tenfold per decade, "
        f"a linear tail is horizontal. In the last decade: {'; '.join(parts)}.",
        height=780,
        annotations=notes,
        xaxis=_step_axis("step t (middle of the decade)", [10, 1_000_000]) | {"anchor": f"y{len(PROBLEMS)}"},
        margin=MARGIN,
        **layout,
    )


def _panel_title(text: str, y: float) -> dict[str, Any]:
    """The name of a panel, above its upper right corner."""
    return make_note(f"<b>{escape_text(text)}</b>", 1, y, "right")


def _plot_logarithmic(rates: DataFrame, y_axis: str, legend: bool) -> PlotlyTrace:
    """The slope of growth like ln T, through the last rate of UCB1."""
    rows = to_records(select(rates, setting="ucb1"))
    x = [sqrt(row["from"] * row["to"]) for row in rows][-2:]
    y = [rows[-1]["rate"] * x[-1] / step for step in x]
    return make_guide_line(x, y, "growth like ln T: tenfold per decade", yaxis=y_axis, showlegend=legend)


def _plot_assumption(assumption: DataFrame) -> go.Figure:
    """Both sides of the proof's assumption (above) and their ratio (below)."""
    settings, sigmas, steps = (unique(assumption, name) for name in ("setting", "sigma", "t"))
    required = select(assumption, setting=settings[0], sigma=SIGMA)["required"].tolist()
    traces: list[PlotlyTrace] = [make_guide_line(steps, required, f"required: 2·σ·sqrt(ln t), σ = {SIGMA:g}", "solid")]
    parts = []
    for setting in settings:
        rows = select(assumption, setting=setting, sigma=SIGMA)
        title, color = rows["title"].iloc[0], COLORS[setting]
        played, written = rows["played"].tolist(), rows["written"].tolist()
        traces.append(make_line(steps, played, f"played, {title}", color, 0))
        traces.append(make_line(steps, written, f"written in the proof, {title}", color, 2, opacity=0.6))
        for index, sigma in enumerate(sigmas):
            sides = select(assumption, setting=setting, sigma=sigma)
            ratio = (sides["played"] / sides["required"]).tolist()
            name = f"played / required, σ = {sigma:g}, {title}"
            traces.append(make_line(steps, ratio, name, color, index, yaxis="y2", mode="lines", showlegend=False))
            parts.append(f"{title}, σ = {sigma:g}: {format_number(ratio[-1])}")
    traces.append(
        make_guide_line([steps[0], steps[-1]], [1.0, 1.0], "as assumed", "dash", yaxis="y2", showlegend=False)
    )
    for index, sigma in enumerate(sigmas):
        traces.append(make_guide_line([], [], f"below: σ = {sigma:g}", DASHES[index]) | {"x": [None], "y": [None]})
    notes = [_panel_title(f"both sides, σ = {SIGMA:g}", 1.0), _panel_title("played / required (assumed to be 1)", 0.43)]
    return make_figure(
        traces,
        format_title("Assumption of the proof", "α·sqrt(ln t) + β₀·σ = 2·σ·sqrt(ln t)"),
        "Both sides of the proof's assumption against t, and their ratio, which should be 1. "
        f"At t = {format_approximate(steps[-1])} the ratio of played to required value is: {'; '.join(parts)}.",
        height=640,
        annotations=notes,
        xaxis=_step_axis("step t", steps) | {"anchor": "y2"},
        yaxis=make_axis("value", domain=[0.54, 1], rangemode="tozero"),
        yaxis2=make_axis("played / required", domain=[0, 0.43], rangemode="tozero"),
        margin={**MARGIN, "b": 150},
    )
