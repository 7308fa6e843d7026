"""Figure 5: regret, reward and suboptimal pulls of single worlds, from the runs of Table 3."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.distributions import MEAN_MARKER
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import DataFrame, make_table, select, to_records, unique
from ravenlab.tuning.reproduction import logistics
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext
from ravenlab.tuning.reproduction.measurements import interval_columns
from ravenlab.tuning.reproduction.texts import Words

QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}
"""Whiskers, quartiles and median of a box plot."""

PRINTED_OFFSET = 0.42  # distance of a printed number from its box, so that it does not hide our mean


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """The statistics of a box plot per policy and measure, and the numbers of every world."""
    boxes = [
        _box_row(comparison, measure, name, values, context.seed)
        for comparison in logistics.list_comparisons(context)
        for measure in logistics.list_measures(comparison)
        for name, values in logistics.samples_by_policy(pieces, comparison, measure).items()
    ]
    tables = {"boxes": make_table(boxes), "worlds": make_table(_world_rows(context, pieces))}
    return ExperimentResult(tables, logistics.describe_size(context))


def _box_row(comparison: str, measure: str, name: str, values: Floats, seed: int) -> dict[str, Any]:
    return {
        "comparison": comparison,
        "measure": measure,
        "policy": name,
        **dict(zip(QUANTILES, np.quantile(values, list(QUANTILES.values())), strict=True)),
        **interval_columns("mean", logistics.estimate_mean(values, measure, seed)),
        "paper": logistics.printed_by_policy(measure).get(name) if comparison == "published" else None,
    }


def _world_rows(context: RunContext, pieces: Mapping[str, PieceData]) -> Iterator[dict[str, Any]]:
    """One row per world; regret relative to the constant is missing where it was not measured."""
    for comparison in logistics.list_comparisons(context):
        for name, piece in logistics.pieces_by_policy(pieces, comparison).items():
            columns = {measure: piece["worlds"].get(measure) for measure in logistics.list_measures("published")}
            for world in range(len(piece["worlds"]["regret"])):
                values = {measure: column and column[world] for measure, column in columns.items()}
                yield {"comparison": comparison, "policy": name, "world": world, **values}


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Box plots of each comparison."""
    boxes = result.tables["boxes"]
    return [
        (f"figure5-{name}", _plot_boxes(select(boxes, comparison=name), words)) for name in unique(boxes, "comparison")
    ]


def _plot_boxes(boxes: DataFrame, words: Words) -> Figure:
    """Quartiles, 5 % to 95 % whiskers, the mean with its interval and the printed number; one panel per measure."""
    panels = unique(boxes, "measure")
    traces: list[PlotlyTrace] = []
    layout: dict[str, Any] = {}
    for index, (measure, domain) in enumerate(zip(panels, style.stack_panels(len(panels), gap=0.07), strict=True)):
        rows = to_records(select(boxes, measure=measure))
        number = style.axis_number(index)
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        traces += [
            style.make_box(i, [row[key] for key in QUANTILES], logistics.LINE_STYLES[row["policy"]]["color"], **axes)
            for i, row in enumerate(rows)
        ]
        traces.append(_plot_means(rows) | axes)
        if rows[0]["paper"] is not None:
            traces.append(_plot_printed(rows) | axes)
        layout[f"yaxis{number}"] = style.make_category_axis(
            [logistics.NAMES[row["policy"]] for row in rows],
            range=[len(rows) - 0.4, -0.8],
            gridcolor="rgba(0,0,0,0)",
            domain=domain,
            anchor=f"x{number}",
        )
        layout[f"xaxis{number}"] = style.make_axis(logistics.AXIS_TITLES[measure], nticks=6, anchor=f"y{number}")
    return style.make_figure(
        style.show_names_once(traces),
        *words("boxes", comparison=boxes["comparison"].iloc[0]),
        height=130 + 330 * len(panels),
        **layout,
    )


def _plot_means(rows: list[dict[str, Any]]) -> PlotlyTrace:
    mean, low, high = ([row[key] for row in rows] for key in ("mean", "mean_low", "mean_high"))
    text = [
        f"<b>{logistics.NAMES[row['policy']]}</b><br>mean {row['mean']:,.0f} (95 %: {row['mean_low']:,.0f} to "
        f"{row['mean_high']:,.0f})<br>median {row['median']:,.0f}, quartiles {row['q1']:,.0f} to {row['q3']:,.0f}"
        f"<br>5 % to 95 % of the worlds: {row['low']:,.0f} to {row['high']:,.0f}"
        for row in rows
    ]
    intervals = style.make_error_bars(list(map(Interval, mean, low, high)), style.GREY, thickness=2, width=5)
    return style.make_markers(
        mean, range(len(rows)), "our mean and its 95 % interval", MEAN_MARKER, text, error_x=intervals
    )


def _plot_printed(rows: list[dict[str, Any]]) -> PlotlyTrace:
    text = [f"<b>{logistics.NAMES[row['policy']]}</b><br>printed in the paper: {row['paper']:,g}" for row in rows]
    y = [index - PRINTED_OFFSET for index in range(len(rows))]
    return style.make_markers([row["paper"] for row in rows], y, "printed in the paper", logistics.PRINTED_MARK, text)


CONSTANTS = {"comparisons": logistics.COMPARISON_TITLES, "measures": logistics.MEASURE_TITLES, "names": logistics.NAMES}

EXPERIMENT = Experiment("figure5", logistics.make_pieces, evaluate, plot_figures, CONSTANTS)
