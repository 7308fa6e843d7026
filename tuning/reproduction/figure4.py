"""Figure 4: cumulative regret and reward of the nine policies over time, from the runs of Table 3."""

import math
from collections.abc import Mapping, Sequence

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
            "low": max(mean - Z95 * error, 0.0 if measure == "regret" else -math.inf),
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
    drawn = []
    for index, measure in enumerate(panels):
        traces = [
            trace
            for name in order
            for trace in _plot_line(select(curves, measure=measure, policy=name), name, in_legend=index == 0)
        ]
        printed = logistics.printed_by_policy(measure) if comparison == "published" else {}
        if printed:
            text = [
                f"<b>{logistics.NAMES[name]}</b><br>printed in the paper: {value:,g}" for name, value in printed.items()
            ]
            x = [logistics.HORIZON] * len(printed)
            look = {"cliponaxis": False, "showlegend": index == 0}
            mark = logistics.PRINTED_MARK
            traces.append(style.make_markers(x, printed.values(), "printed in the paper", mark, text, **look))
        label = f"({'abc'[index]}) " if len(panels) > 1 else ""
        axis = style.make_axis(f"{label}{logistics.AXIS_TITLES[measure]}", rangemode="tozero")
        drawn.append((traces, axis))
    changes = change_steps(find_scenario(logistics.WORLDS[comparison][0]), logistics.HORIZON)
    entries, shapes = style.make_change_lines(changes)
    return style.make_stacked_figure(
        drawn,
        style.make_step_axis(logistics.HORIZON),
        *words("curves", comparison=comparison, panels=panels, changes=len(changes)),
        gap=0.04,
        entries=entries,
        height=230 + 290 * len(panels),
        shapes=shapes,
    )


def _plot_line(curve: DataFrame, name: str, *, in_legend: bool) -> list[PlotlyTrace]:
    every = max(1, len(curve) // MAX_POINTS)
    rows = curve.iloc[every - 1 :: every]
    steps, mean, low, high = (rows[key].tolist() for key in ("step", "mean", "low", "high"))
    look = logistics.LINE_STYLES[name]
    shown = {"mode": "lines", "line": look, "showlegend": in_legend}
    return make_interval_line(steps, mean, low, high, logistics.NAMES[name], look["color"], 0, **shown)


CONSTANTS = {
    "axes": logistics.AXIS_TITLES,
    "comparisons": logistics.COMPARISON_TITLES,
    "figures": FIGURES,
    "measures": logistics.MEASURE_TITLES,
    "names": logistics.NAMES,
}

EXPERIMENT = Experiment("figure4", logistics.make_pieces, evaluate, plot_figures, CONSTANTS)
