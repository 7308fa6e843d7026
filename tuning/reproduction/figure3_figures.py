"""Heat maps, lines and boxes of Figure 3."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ravenlab.common.text import format_number, format_range
from ravenlab.dashboards.figures import plot_sensitivity_lines, style
from ravenlab.dashboards.figures.distributions import MEAN_MARKER
from ravenlab.dashboards.figures.grid import LABEL_GAP, outline_cells
from ravenlab.dashboards.figures.marks import MARKS, spread_apart
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.tables import select, to_records
from ravenlab.tuning.reproduction.figure3_grids import (
    PAPER_REPLICATIONS,
    QUANTILE_COLUMNS,
    PlayedGrid,
    format_cell,
    format_share,
    list_grids,
    make_spec,
)
from ravenlab.tuning.reproduction.figures import PANEL_HEIGHT, DotSeries, combine_panels, format_worlds, plot_dots
from ravenlab.tuning.reproduction.texts import Row, Words

ARMS = 10
MAX_TICKS = 5
PRINTED_MARK = {"symbol": "star", "size": 15, "color": style.VERMILION, "line": {"color": "#000000", "width": 1}}
MARK_OFFSET = 0.2  # marks are above the center of a cell, numbers below it


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """The grids, and for the first protocol the printed optima and their sampling distribution."""
    cells = result.tables["cells"]
    optima = result.tables["optima"]
    figures = []
    for index, protocol in enumerate(protocols):
        grids = list_grids(to_records(cells), protocol)
        rows = to_records(select(optima, protocol=protocol))
        plots = {"lines": plot_lines(grids, rows), "heat-maps": plot_heat_maps(grids)}
        if index == 0:
            plots |= {"printed": plot_printed(rows), "selection": plot_selection(grids), "spread": plot_boxes(grids)}
        figures += [(f"figure3-{name}-{protocol}", figure) for name, figure in plots.items()]
    return figures


def plot_heat_maps(grids: Sequence[PlayedGrid]) -> Figure:
    """Mean regret of every cell of the six grids; each grid has its own log color scale."""
    panels = [(_panel_title(grid), _plot_cells(grid, "regret", "{:.3g}".format, math.log)) for grid in grids]
    lowest = "; ".join(
        f"{grid.title}: lowest {format_number(grid.lowest['regret'])} at {format_cell(grid.lowest)}" for grid in grids
    )
    return combine_panels(
        panels,
        _make_title("Mean regret over α₀ and β₀ (darker is higher)", grids),
        f"Six heat maps of the mean regret over α₀ and β₀, as {grids[0].protocol}, with the printed cell marked. "
        f"{lowest}.",
    )


def plot_lines(grids: Sequence[PlayedGrid], optima: Sequence[Row]) -> Figure:
    """The paper's Figure 3: regret against α₀ with one line per β₀, and the printed optimum."""
    panels = []
    parts = []
    for played, row in zip(grids, optima, strict=True):
        grid = _make_grid(played)
        figure = plot_sensitivity_lines(grid)
        printed = f"{row['printed_regret']:g}"
        ours = format_number(row["regret"])
        text = f"<b>The paper's optimum</b><br>{format_cell(row)}<br>printed regret {printed}, here {ours}"
        point = [row["alpha0"]], [row["printed_regret"]]
        figure.add_trace(style.make_markers(*point, "printed optimum", PRINTED_MARK, [text]))
        low = min(float(grid.mean.min()), row["printed_regret"])
        ticks = style.choose_log_ticks([0.9 * low, float(grid.mean.max())], MAX_TICKS)
        bottom, top = figure.layout.yaxis.range
        if figure.layout.yaxis.type != "log":
            bottom, top = math.log10(max(bottom, 0.8 * low)), math.log10(top)
        shown = [min(bottom, math.log10(0.8 * low)), top]  # with the printed optimum
        figure.update_layout(xaxis_title_text="α₀", yaxis=style.make_axis("mean regret", "log", ticks, range=shown))
        gap = LABEL_GAP * (shown[1] - shown[0]) / PANEL_HEIGHT
        for trace in figure.data:
            if trace.mode == "text":  # the labels of the lines, which were placed for another axis
                places = spread_apart(np.log10(trace.y), gap, shown[0] + gap / 2, shown[1] - gap / 2)
                trace.y = style.round_numbers(10.0**place for place in places)
        panels.append((_panel_title(played), figure))
        parts.append(f"{played.title}: printed {printed}, here {ours}")
    return combine_panels(
        panels,
        _make_title("Mean regret against α₀, one line per β₀", grids),
        f"Six panels, as {grids[0].protocol}: regret against α₀ for each β₀, with the printed optimum. "
        f"{'; '.join(parts)}.",
    )


def plot_selection(grids: Sequence[PlayedGrid]) -> Figure:
    """The share of resamples, with the paper's replications per cell, that select each cell as the best."""
    panels = [(_panel_title(grid), _plot_cells(grid, "selected", _format_percent)) for grid in grids]
    parts = [f"{grid.title}: the printed cell {_format_percent(grid.printed['selected'])} %" for grid in grids]
    return combine_panels(
        panels,
        _make_title(f"How often {PAPER_REPLICATIONS} replications select each cell (%)", grids),
        f"Six heat maps of how often {PAPER_REPLICATIONS} replications per cell would select each cell as the best, as "
        f"{grids[0].protocol}. {'; '.join(parts)}.",
    )


def plot_printed(rows: Sequence[Row]) -> Figure:
    """The printed regret beside the mean of its cell and the distribution of the smallest of sixteen means."""
    tick = {"symbol": "line-ns-open", "size": 12, "color": style.GREY}
    diamond = {"symbol": "diamond", "size": 7, "color": style.ORANGE}
    circle = {"symbol": "circle", "color": style.BLUE}
    smallest = f"smallest of 16 means of {PAPER_REPLICATIONS}: median and 95 %"
    cell_mean = f"mean of {PAPER_REPLICATIONS} in the printed cell: median and 95 %"
    series = [
        DotSeries.from_rows("printed in the paper", rows, "printed_regret", PRINTED_MARK),
        DotSeries.from_rows(smallest, rows, "smallest", tick),
        DotSeries.from_rows(cell_mean, rows, "cell_mean", diamond),
        DotSeries.from_rows("mean of the printed cell, 95 %", rows, "regret", circle),
    ]
    limits = [value for dots in series for value in (*dots.low, *dots.high)]
    labels = [f"{row['scenario']}<br>T = {row['horizon']:,}" for row in rows]
    x_axis = style.make_axis("regret (reward units)", "log", style.choose_log_ticks(limits))
    title = "Printed regret and its sampling distribution"
    margin = {"t": 70, "r": 16, "b": 118, "l": 60}
    return plot_dots(labels, series, title, _describe_setting(rows), x_axis, margin=margin)


def plot_boxes(grids: Sequence[PlayedGrid]) -> Figure:
    """Regret of single worlds in the lowest and in the printed cell of each grid."""
    traces: list[PlotlyTrace] = []
    parts: list[str] = []
    for place, grid in enumerate(grids):
        for row, name, color, shift in (
            (grid.lowest, "lowest cell", style.BLUE, -0.18),
            (grid.printed, "printed cell", style.VERMILION, 0.18),
        ):
            legend = {"name": name, "legendgroup": name, "showlegend": place == 0}
            quantiles = [row[column] for column in QUANTILE_COLUMNS]
            traces.append(style.make_box(place + shift, quantiles, color, width=0.3, **legend))
            mean = format_number(row["regret"])
            median = format_number(row["q50"])
            text = (
                f"<b>{name}</b>: {format_cell(row)}<br>mean {mean}, median {median}<br>quartiles "
                f"{format_range(quantiles[1:4:2])}, 5 % to 95 %: {format_range(quantiles[::4])}"
            )
            look = {"legendgroup": name, "showlegend": False}
            traces.append(style.make_markers([row["regret"]], [place + shift], name, MEAN_MARKER, [text], **look))
            parts.append(f"{grid.title}, {name}: median {median}, mean {mean}")
    whiskers = [cell[name] for grid in grids for cell in grid.cells for name in ("q05", "q95")]
    return style.make_figure(
        traces,
        _make_title("Regret of single worlds", grids),
        f"Box plots, as {grids[0].protocol}, of the regret of single worlds: quartiles, whiskers from 5 % to 95 %. "
        f"{'; '.join(parts)}.",
        height=190 + 62 * len(grids),
        xaxis=style.make_axis("regret of one world (reward units)", "log", style.choose_log_ticks(whiskers)),
        yaxis=style.make_category_axis(
            [_panel_title(grid) for grid in grids], range=[len(grids) - 0.5, -0.5], showgrid=False
        ),
    )


def _make_grid(played: PlayedGrid) -> Grid:
    """The grid that was played, for the figures that grids share."""
    spec = make_spec(played.protocol, played.optimum, played.cells[0]["worlds"])
    mean, stderr, among_best = (
        np.array([cell[name] for cell in played.cells]).reshape(len(spec.alpha0), len(spec.beta0))
        for name in ("regret", "stderr", "among_best")
    )
    return Grid(spec, spec.study_name(), mean, stderr, among_best)


def _plot_cells(
    grid: PlayedGrid, column: str, text: Callable[[float], str], shade: Callable[[float], float] = float
) -> Figure:
    """A heat map of one column over α₀ and β₀, with the best cells outlined and the printed one marked."""
    shape = len(PAPER_VALUES), len(PAPER_VALUES)
    shades = np.array([shade(cell[column]) for cell in grid.cells])
    places = list(np.ndindex(*shape))
    heat_map: PlotlyTrace = {
        "type": "heatmap",
        "x": list(range(shape[0])),
        "y": list(range(shape[1])),
        "z": [style.round_numbers(row) for row in shades.reshape(shape).T],
        "text": np.array([_describe_cell(cell) for cell in grid.cells]).reshape(shape).T.tolist(),
        "colorscale": style.COLOR_SCALE,
        "reversescale": True,
        "showscale": False,
        "hovertemplate": style.HOVER_TEXT,
    }
    labels: PlotlyTrace = {
        "type": "scatter",
        "mode": "text",
        "x": [i for i, _ in places],
        "y": [j - MARK_OFFSET for _, j in places],
        "text": [text(cell[column]) for cell in grid.cells],
        "textfont": {"size": 11, "color": style.choose_text_colors(shades.tolist())},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    among_best = np.array([cell["among_best"] for cell in grid.cells]).reshape(shape)

    def mark(cell: Row, look: dict[str, Any], label: str) -> PlotlyTrace:
        i, j = places[grid.cells.index(cell)]
        return style.make_markers([i], [j + MARK_OFFSET], label, look, [f"{label}: {format_cell(cell)}"])

    axis = {"showgrid": False, "range": [-0.5, len(PAPER_VALUES) - 0.5]}
    ticks = [f"{value:g}" for value in PAPER_VALUES]
    return style.make_figure(
        [
            heat_map,
            *outline_cells(among_best, name="indistinguishable from the lowest cell"),
            labels,
            mark(grid.printed, MARKS["paper"], "best cell printed in the paper"),
            mark(grid.lowest, MARKS["lowest"] | {"color": "#000000"}, "lowest cell"),
        ],
        "",
        "",
        xaxis=style.make_category_axis(ticks, "α₀", **axis),
        yaxis=style.make_category_axis(ticks, "β₀", **axis),
    )


def _describe_cell(cell: Row) -> str:
    return (
        f"{format_cell(cell)}<br>"
        f"mean regret {format_number(cell['regret'])} ± {format_number(cell['stderr'])} (standard error)<br>"
        f"selected by {PAPER_REPLICATIONS} replications: {format_share(cell['selected'])}<br>"
        f"significantly worse than the lowest: {'no' if cell['among_best'] else 'yes'}"
    )


def _format_percent(share: float) -> str:
    return "<1" if 0 < share < 0.01 else f"{100 * share:.0f}"


def _panel_title(grid: PlayedGrid) -> str:
    return grid.title.replace(", ", "<br>")


def _make_title(main: str, grids: Sequence[PlayedGrid]) -> str:
    return style.format_title(main, *_describe_setting([grid.cells[0] for grid in grids]))


def _describe_setting(rows: Sequence[Row]) -> list[str]:
    return [f"raven-ucb, as {rows[0]['protocol']}", "ε = 0.1", f"K = {ARMS} arms", format_worlds(rows)]
