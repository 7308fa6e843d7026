"""Figure 4: cumulative regret and reward of the nine policies over time, from the runs of Table 3."""

from collections.abc import Mapping, Sequence
from typing import Any

from ravenlab.common.interval import Z95
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments import find_scenario
from ravenlab.environments.view import change_steps
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import DataFrame, make_table, select
from ravenlab.tuning.reproduction import logistics
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext
from ravenlab.tuning.reproduction.figures import make_interval_line
from ravenlab.tuning.reproduction.texts import Words

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
        for comparison in logistics.list_comparisons(context)
        for name, piece in logistics.pieces_by_policy(pieces, comparison).items()
        for measure, curve in piece["curves"].items()
        for step, mean, error in zip(piece["steps"], curve["mean"], curve["error"], strict=True)
    ]
    tables = {"curves": make_table(curves)}
    if "published" in context.protocols:
        tables["printed"] = make_table(
            {"measure": measure, "policy": name, "paper": value}
            for measure in ("regret_constant", "reward")
            for name, value in logistics.printed_by_policy(measure).items()
        )
    return ExperimentResult(tables, logistics.describe_size(context))


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Curves with bands for each comparison."""
    figures = []
    for comparison, panels in FIGURES:
        shown = select(result.tables["curves"], comparison=comparison)
        if len(shown):
            key = f"figure4-{comparison}-{'-'.join(panels)}".replace("_", "-")
            figures.append((key, _plot_curves(shown, comparison, panels, words)))
    return figures


def _final_means(curves: DataFrame, measure: str) -> dict[str, float]:
    """The last mean of each policy."""
    last = select(curves, measure=measure, step=max(curves["step"]))
    return dict(zip(last["policy"], last["mean"], strict=True))


def _plot_curves(curves: DataFrame, comparison: str, panels: Sequence[str], words: Words) -> Figure:
    """Means and 95 % bands, one panel per measure; the legend is ordered by the final values of the first panel."""
    first_ends = _final_means(curves, panels[0])
    order = sorted(first_ends, key=lambda name: -first_ends[name])
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    for index, (measure, domain) in enumerate(zip(panels, style.stack_panels(len(panels), gap=0.04), strict=True)):
        panel = {"yaxis": f"y{style.axis_number(index)}", "showlegend": index == 0}
        for name in order:
            traces += _plot_line(select(curves, measure=measure, policy=name), name, panel)
        printed = logistics.printed_by_policy(measure)
        if comparison == "published" and printed:
            text = [
                f"<b>{logistics.NAMES[name]}</b><br>printed in the paper: {value:,g}" for name, value in printed.items()
            ]
            x = [logistics.HORIZON] * len(printed)
            y = list(printed.values())
            look: dict[str, Any] = {"legendgroup": "paper", "cliponaxis": False, **panel}
            traces.append(style.make_markers(x, y, "printed in the paper", logistics.PRINTED_MARK, text, **look))
        label = (
            f"({'abc'[index]}) {logistics.AXIS_TITLES[measure]}" if len(panels) > 1 else logistics.AXIS_TITLES[measure]
        )
        layout[f"yaxis{style.axis_number(index)}"] = style.make_axis(label, domain=domain, rangemode="tozero")
    anchor = f"y{style.axis_number(len(panels) - 1)}"
    changes = change_steps(find_scenario(logistics.WORLDS[comparison][0]), logistics.HORIZON)
    legend, shapes = style.make_change_lines(changes)
    return style.make_figure(
        [*traces, *legend],
        *words("curves", comparison=comparison, panels=panels, changes=len(changes)),
        height=230 + 290 * len(panels),
        shapes=shapes,
        xaxis=style.make_axis("step t", anchor=anchor, range=[0, logistics.HORIZON * 1.01], nticks=6),
        **layout,
    )


def _plot_line(curve: DataFrame, name: str, panel: dict[str, Any]) -> list[PlotlyTrace]:
    every = max(1, len(curve) // MAX_POINTS)
    rows = curve.iloc[every - 1 :: every]
    steps, mean, low, high = (rows[key].tolist() for key in ("step", "mean", "low", "high"))
    look = logistics.LINE_STYLES[name]
    return make_interval_line(
        steps, mean, low, high, logistics.NAMES[name], look["color"], 0, mode="lines", line=look, **panel
    )


CONSTANTS = {
    "axes": logistics.AXIS_TITLES,
    "comparisons": logistics.COMPARISON_TITLES,
    "figures": FIGURES,
    "measures": logistics.MEASURE_TITLES,
    "names": logistics.NAMES,
}

EXPERIMENT = Experiment("figure4", logistics.make_pieces, evaluate, plot_figures, CONSTANTS)
