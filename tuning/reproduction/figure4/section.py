"""The section of Figure 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures.style import (
    PlotlyTrace,
    format_sizes,
    format_title,
    make_axis,
    make_band,
    make_change_lines,
    make_figure,
    round_numbers,
)
from dashboards.pages.reproduction import ReproductionSection
from environments import find_scenario
from environments.text import capitalize_first
from environments.view import change_steps
from studies.paper.results import ExperimentResult, ReproductionResult
from studies.tables import select, to_records
from tuning.reproduction.logistics import (
    AXIS_TITLES,
    COMPARISON_TITLES,
    LINE_STYLES,
    MEASURE_TITLES,
    NAMES,
    PRINTED_MARK,
    RAVEN,
    WORLDS,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


TITLE = "Figure 4: regret and reward of nine policies over time"

FIGURES = (
    ("published", ("regret_constant", "reward")),
    ("published", ("regret",)),
    ("defaults", ("regret", "reward")),
    ("tuned", ("regret", "reward")),
)
"""Comparisons and their panels, the paper's own pair first."""

MAX_POINTS = 50
"""Approximate number of points per line."""

Printed = Mapping[str, Mapping[str, float]]
"""The paper's final values by measure and policy."""


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Curves with bands for each comparison."""
    curves, facts = result.tables["curves"], result.facts
    printed: dict[str, dict[str, float]] = {}
    if "printed" in result.tables:
        for row in to_records(result.tables["printed"]):
            printed.setdefault(row["measure"], {})[row["policy"]] = row["paper"]
    figures, results = [], []
    for comparison, panels in FIGURES:
        mine = select(curves, comparison=comparison)
        if len(mine):
            title = "Regret and reward over time" if "reward" in panels else "Regret over time"
            context = [COMPARISON_TITLES[comparison], AXIS_TITLES[panels[0]]]
            context += format_sizes(facts["horizon"], facts["arms"], facts["worlds"])
            changes = change_steps(find_scenario(WORLDS[comparison][0]), facts["horizon"])
            marks = printed if comparison == "published" else {}
            figure = _plot_curves(mine, panels, title, context, changes, marks)
            figures.append((f"figure4-{comparison}-{'-'.join(panels)}".replace("_", "-"), figure))
            results.append(_describe_ends(mine, comparison, panels[0]))
    return ReproductionSection(
        title=TITLE,
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


def _plot_curves(
    curves: DataFrame,
    panels: Sequence[str],
    title: str,
    context: Sequence[str],
    changes: Sequence[int],
    printed: Printed,
) -> go.Figure:
    """Means and 95 % bands, one panel per measure; the legend is ordered by the final values of the first panel."""
    first_ends = _final_means(curves, panels[0])
    order = sorted(first_ends, key=lambda name: -first_ends[name])
    last = max(curves["step"])
    traces: list[PlotlyTrace] = []
    for index, measure in enumerate(panels):
        y_axis = "y" if index == 0 else f"y{index + 1}"
        mine = select(curves, measure=measure)
        for name in order:
            traces += _plot_line(select(mine, policy=name), name, measure, y_axis, index == 0)
        if measure in printed:
            traces.append(_plot_printed(printed[measure], last, measure, y_axis, index == 0))
    entry, shapes = make_change_lines(changes)
    ends = [_describe_panel(_final_means(curves, measure), measure) for measure in panels]
    return make_figure(
        [*traces, *entry],
        format_title(title, *context),
        f"{title}: mean over worlds with 95 % bands, {last:,} steps, {len(changes)} moments of change marked. "
        + " ".join(ends),
        height=230 + 290 * len(panels),
        shapes=shapes,
        **_make_axes(panels, last),
    )


def _make_axes(panels: Sequence[str], last: int) -> dict[str, Any]:
    """Panels one above the other with a common time axis."""
    share = 1.0 / len(panels)
    out: dict[str, Any] = {}
    for index, measure in enumerate(panels):
        top = 1.0 - index * share
        bottom = top - share + (0.04 if index < len(panels) - 1 else 0.0)
        label = f"({'abc'[index]}) {AXIS_TITLES[measure]}" if len(panels) > 1 else AXIS_TITLES[measure]
        out["yaxis" if index == 0 else f"yaxis{index + 1}"] = make_axis(label, domain=[bottom, top], rangemode="tozero")
    anchor = "y" if len(panels) == 1 else f"y{len(panels)}"
    out["xaxis"] = make_axis("step t", anchor=anchor, range=[0, last * 1.01], nticks=6)
    return out


def _plot_line(curve: DataFrame, name: str, measure: str, y_axis: str, legend: bool) -> list[PlotlyTrace]:
    every = max(1, len(curve) // MAX_POINTS)
    rows = curve.iloc[every - 1 :: every]
    steps, mean, low, high = (rows[key].tolist() for key in ("step", "mean", "low", "high"))
    style = LINE_STYLES[name]
    return [
        make_band(steps, low, high, style["color"], legendgroup=name, yaxis=y_axis),
        {
            "type": "scatter",
            "mode": "lines",
            "x": steps,
            "y": round_numbers(mean),
            "yaxis": y_axis,
            "line": style,
            "name": NAMES[name],
            "legendgroup": name,
            "showlegend": legend,
            "customdata": round_numbers((b - a) / 2 for a, b in zip(low, high, strict=True)),
            "hovertemplate": f"<b>{NAMES[name]}</b><br>t = %{{x}}<br>{MEASURE_TITLES[measure]} %{{y}} ± %{{customdata}}"
            " (95 %)<extra></extra>",
        },
    ]


def _plot_printed(printed: Mapping[str, float], last: int, measure: str, y_axis: str, legend: bool) -> PlotlyTrace:
    """The paper's final values."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [last] * len(printed),
        "y": round_numbers(printed.values()),
        "yaxis": y_axis,
        "marker": PRINTED_MARK,
        "cliponaxis": False,
        "name": "printed in the paper",
        "legendgroup": "paper",
        "showlegend": legend,
        "text": [NAMES[name] for name in printed],
        "hovertemplate": f"<b>%{{text}}</b><br>{MEASURE_TITLES[measure]} printed in the paper: %{{y}}<extra></extra>",
    }


def _describe_panel(ends: Mapping[str, float], measure: str) -> str:
    best_first = sorted(((value, NAMES[name]) for name, value in ends.items()), reverse=measure == "reward")
    parts = ", ".join(f"{name} {value:,.0f}" for value, name in best_first)
    return f"Final {MEASURE_TITLES[measure]}, best first: {parts}."
