"""Figure 4: cumulative regret and reward of the nine policies over time, from the runs of Table 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ravenlab.common.interval import Z95
from ravenlab.common.text import capitalize_first
from ravenlab.dashboards.figures.style import (
    PlotlyTrace,
    format_sizes,
    format_title,
    make_axis,
    make_change_lines,
    make_figure,
)
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.environments import find_scenario
from ravenlab.environments.view import change_steps
from ravenlab.studies.paper.results import ExperimentResult, Facts, ReproductionResult
from ravenlab.studies.tables import make_table, select
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext
from ravenlab.tuning.reproduction.figures import axis_number, make_interval_line, make_markers, stack_panels
from ravenlab.tuning.reproduction.logistics import (
    AXIS_TITLES,
    COMPARISON_TITLES,
    LINE_STYLES,
    MEASURE_TITLES,
    NAMES,
    PRINTED_MARK,
    RAVEN,
    WORLDS,
    describe_size,
    list_comparisons,
    make_pieces,
    pieces_by_policy,
    printed_by_policy,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


FIGURES = (
    ("published", ("regret_constant", "reward")),
    ("published", ("regret",)),
    ("defaults", ("regret", "reward")),
    ("tuned", ("regret", "reward")),
)
"""Comparisons and their panels, the paper's own pair first."""

MAX_POINTS = 50  # approximate number of points per line


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Mean and 95 % band of each curve at every checkpoint, and the final values that the paper prints."""
    curves = [
        {
            "comparison": comparison,
            "measure": measure,
            "policy": name,
            "step": step,
            "mean": mean,
            "low": mean - Z95 * error,
            "high": mean + Z95 * error,
        }
        for comparison in list_comparisons(context)
        for name, piece in pieces_by_policy(pieces, comparison).items()
        for measure, curve in piece["curves"].items()
        for step, mean, error in zip(piece["steps"], curve["mean"], curve["error"], strict=True)
    ]
    tables = {"curves": make_table(curves)}
    if "published" in context.protocols:
        tables["printed"] = make_table(
            {"measure": measure, "policy": name, "paper": value}
            for measure in ("regret_constant", "reward")
            for name, value in printed_by_policy(measure).items()
        )
    return ExperimentResult(tables, describe_size(context))


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Curves with bands for each comparison."""
    curves, facts = result.tables["curves"], result.facts
    figures, results = [], []
    for comparison, panels in FIGURES:
        shown = select(curves, comparison=comparison)
        if len(shown):
            key = f"figure4-{comparison}-{'-'.join(panels)}".replace("_", "-")
            figures.append((key, _plot_curves(shown, comparison, panels, facts)))
            results.append(_describe_ends(shown, comparison, panels[0]))
    return ReproductionSection(
        title="Figure 4: regret and reward of nine policies over time",
        claims=[
            "In a simulated network of 100 warehouses, each of 50,000 orders is assigned to one warehouse. Every 5,000 "
            "steps a third of the warehouses change. The paper plots (a) the regret and (b) the reward of nine "
            "policies over time, and states that RAVEN-UCB ends lowest in (a) and highest in (b).",
        ],
        methods=_describe_methods(reproduction.protocols, facts["worlds"]),
        results=results,
        figures=figures,
    )


def _describe_methods(protocols: tuple[str, ...], worlds: int) -> list[str]:
    out = [f"All nine policies play the same {worlds} worlds; lines are means with 95 % bands."]
    if "published" in protocols:
        out.append(
            "As published, regret is relative to a constant reward of 0.8 per step, although the best warehouse may "
            "be worse than that after the first change. The same runs are therefore also plotted relative to the best "
            "arm at each step. Crosses mark the final values printed in the paper's Table 3."
        )
    if "defined" in protocols:
        out.append(
            "As defined, regret is relative to the best arm at each step, and the policies are those of their own "
            "papers: first at their defaults, then each tuned on the same budget (see Table 3)."
        )
    return out


def _describe_ends(curves: DataFrame, comparison: str, measure: str) -> str:
    ends = _final_means(curves, measure)
    order = sorted(ends, key=lambda name: ends[name])
    place = order.index(RAVEN) + 1
    other = order[1] if place == 1 else order[0]
    return (
        f"{capitalize_first(COMPARISON_TITLES[comparison])}, {MEASURE_TITLES[measure]}: RAVEN-UCB ends with "
        f"{ends[RAVEN]:,.0f}, rank {place} of {len(order)}; {'second' if place == 1 else 'first'} is {NAMES[other]} "
        f"with {ends[other]:,.0f}."
    )


def _final_means(curves: DataFrame, measure: str) -> dict[str, float]:
    """The last mean of each policy."""
    last = select(curves, measure=measure, step=max(curves["step"]))
    return dict(zip(last["policy"], last["mean"], strict=True))


def _plot_curves(curves: DataFrame, comparison: str, panels: Sequence[str], facts: Facts) -> go.Figure:
    """Means and 95 % bands, one panel per measure; the legend is ordered by the final values of the first panel."""
    horizon = facts["horizon"]
    first_ends = _final_means(curves, panels[0])
    order = sorted(first_ends, key=lambda name: -first_ends[name])
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    for index, (measure, domain) in enumerate(zip(panels, stack_panels(len(panels), gap=0.04), strict=True)):
        panel = {"yaxis": f"y{axis_number(index)}", "showlegend": index == 0}
        for name in order:
            traces += _plot_line(select(curves, measure=measure, policy=name), name, panel)
        printed = printed_by_policy(measure)
        if comparison == "published" and printed:
            text = [f"<b>{NAMES[name]}</b><br>printed in the paper: {value:,g}" for name, value in printed.items()]
            x, y = [horizon] * len(printed), list(printed.values())
            look: dict[str, Any] = {"legendgroup": "paper", "cliponaxis": False, **panel}
            traces.append(make_markers(x, y, "printed in the paper", PRINTED_MARK, text, **look))
        label = f"({'abc'[index]}) {AXIS_TITLES[measure]}" if len(panels) > 1 else AXIS_TITLES[measure]
        layout[f"yaxis{axis_number(index)}"] = make_axis(label, domain=domain, rangemode="tozero")
    anchor = f"y{axis_number(len(panels) - 1)}"
    changes = change_steps(find_scenario(WORLDS[comparison][0]), horizon)
    legend, shapes = make_change_lines(changes)
    title = "Regret and reward over time" if "reward" in panels else "Regret over time"
    setting = [
        COMPARISON_TITLES[comparison],
        AXIS_TITLES[panels[0]],
        *format_sizes(horizon, facts["arms"], facts["worlds"]),
    ]
    return make_figure(
        [*traces, *legend],
        format_title(title, *setting),
        f"{title}: mean over worlds with 95 % bands, {horizon:,} steps, {len(changes)} moments of change marked. "
        + " ".join(_describe_panel(_final_means(curves, measure), measure) for measure in panels),
        height=230 + 290 * len(panels),
        shapes=shapes,
        xaxis=make_axis("step t", anchor=anchor, range=[0, horizon * 1.01], nticks=6),
        **layout,
    )


def _plot_line(curve: DataFrame, name: str, panel: dict[str, Any]) -> list[PlotlyTrace]:
    every = max(1, len(curve) // MAX_POINTS)
    rows = curve.iloc[every - 1 :: every]
    steps, mean, low, high = (rows[key].tolist() for key in ("step", "mean", "low", "high"))
    look = LINE_STYLES[name]
    return make_interval_line(steps, mean, low, high, NAMES[name], look["color"], 0, mode="lines", line=look, **panel)


def _describe_panel(ends: Mapping[str, float], measure: str) -> str:
    best_first = sorted(((value, NAMES[name]) for name, value in ends.items()), reverse=measure == "reward")
    parts = ", ".join(f"{name} {value:,.0f}" for value, name in best_first)
    return f"Final {MEASURE_TITLES[measure]}, best first: {parts}."


EXPERIMENT = Experiment(make_pieces, evaluate, make_section)
