"""Figures of the grids of Figure 3, drawn from its tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.text import format_number, format_range
from ravenlab.dashboards.figures import plot_sensitivity_lines
from ravenlab.dashboards.figures.distributions import MEAN_MARKER
from ravenlab.dashboards.figures.style import (
    BLUE,
    COLOR_SCALE,
    GREY,
    ORANGE,
    VERMILION,
    WHITE_MARKER,
    PlotlyTrace,
    choose_log_ticks,
    choose_text_colors,
    format_title,
    make_axis,
    make_box,
    make_category_axis,
    make_figure,
    round_numbers,
)
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.tables import select, select_row, to_records, unique
from ravenlab.tuning.reproduction.figure3.run import PAPER_REPLICATIONS
from ravenlab.tuning.reproduction.figure3.verdicts import QUANTILE_COLUMNS, format_cell, format_share
from ravenlab.tuning.reproduction.figures import (
    HOVER_TEXT,
    DotSeries,
    combine_panels,
    format_worlds,
    make_markers,
    plot_dots,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


ARMS = 10
MAX_TICKS = 5
PRINTED_MARK = {"symbol": "star", "size": 15, "color": VERMILION, "line": {"color": "#000000", "width": 1}}
MARK_OFFSET = 0.2  # marks are above the center of a cell, numbers below it


def plot_heat_maps(cells: DataFrame, protocol: str) -> go.Figure:
    """Mean regret of every cell of the six grids; each grid has its own log color scale."""
    grids = _read_grids(cells, protocol)
    panels = [
        (title, _plot_cells(_grid_rows(cells, protocol, grid), "regret", "{:.3g}".format, math.log))
        for title, grid in grids
    ]
    lowest = "; ".join(f"{_plain(title)}: lowest {_describe_lowest(grid)}" for title, grid in grids)
    return combine_panels(
        panels,
        _make_title("Mean regret over α₀ and β₀ (darker is higher)", protocol, cells),
        f"Six heat maps of the mean regret over α₀ and β₀, as {protocol}, with the printed cell marked. {lowest}.",
    )


def plot_lines(cells: DataFrame, optima: DataFrame, protocol: str) -> go.Figure:
    """The paper's Figure 3: regret against α₀ with one line per β₀, and the printed optimum."""
    panels = []
    for title, grid in _read_grids(cells, protocol):
        figure = plot_sensitivity_lines(grid)
        printed = select_row(optima, protocol=protocol, world=grid.spec.scenario, horizon=grid.spec.horizon)
        low = min(float(grid.mean.min()), printed["printed_regret"])
        text = (
            f"<b>The paper's optimum</b><br>{format_cell(printed['alpha0'], printed['beta0'])}<br>"
            f"printed regret {printed['printed_regret']:g}, here {format_number(printed['regret'])}"
        )
        point = [printed["alpha0"]], [printed["printed_regret"]]
        figure.add_trace(make_markers(*point, "printed optimum", PRINTED_MARK, [text]))
        ticks = choose_log_ticks([0.9 * low, float(grid.mean.max())], MAX_TICKS)
        figure.update_layout(xaxis_title_text="α₀", yaxis=make_axis("mean regret", "log", ticks))
        panels.append((title, figure))
    text = "; ".join(
        f"{row['scenario']}, T = {row['horizon']:,}: printed {row['printed_regret']:g}, here "
        f"{format_number(row['regret'])}"
        for row in to_records(select(optima, protocol=protocol))
    )
    return combine_panels(
        panels,
        _make_title("Mean regret against α₀, one line per β₀", protocol, cells),
        f"Six panels, as {protocol}: regret against α₀ for each β₀, with the printed optimum. {text}.",
    )


def plot_selection(cells: DataFrame, protocol: str) -> go.Figure:
    """The share of resamples, with the paper's replications per cell, that select each cell as the best."""
    panels, parts = [], []
    for title, grid in _read_grids(cells, protocol):
        rows = _grid_rows(cells, protocol, grid)
        panels.append((title, _plot_cells(rows, "selected", _format_percent)))
        printed = next(row for row in rows if row["printed"])
        parts.append(f"{_plain(title)}: the printed cell {_format_percent(printed['selected'])} %")
    return combine_panels(
        panels,
        _make_title(f"How often {PAPER_REPLICATIONS} replications select each cell (%)", protocol, cells),
        f"Six heat maps of how often {PAPER_REPLICATIONS} replications per cell would select each cell as the best, as "
        f"{protocol}. {'; '.join(parts)}.",
    )


def plot_printed(optima: DataFrame, protocol: str) -> go.Figure:
    """The printed regret beside the mean of its cell and the distribution of the smallest of sixteen means."""
    rows = to_records(select(optima, protocol=protocol))
    tick = {"symbol": "line-ns-open", "size": 12, "color": GREY}
    diamond, circle = {"symbol": "diamond", "size": 7, "color": ORANGE}, {"symbol": "circle", "color": BLUE}
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
    x_axis = make_axis("regret (reward units)", "log", choose_log_ticks(limits))
    title, margin = "Printed regret and its sampling distribution", {"t": 70, "r": 16, "b": 118, "l": 60}
    return plot_dots(labels, series, title, _describe_setting(protocol, optima), x_axis, margin=margin)


def plot_boxes(cells: DataFrame, protocol: str) -> go.Figure:
    """Regret of single worlds in the lowest and in the printed cell of each grid."""
    traces: list[PlotlyTrace] = []
    labels: list[str] = []
    parts: list[str] = []
    for grid_index, (title, grid) in enumerate(_read_grids(cells, protocol)):
        rows = _grid_rows(cells, protocol, grid)
        lowest, printed = min(rows, key=lambda row: row["regret"]), next(row for row in rows if row["printed"])
        for row, name, color, shift in (
            (lowest, "lowest cell", BLUE, -0.18),
            (printed, "printed cell", VERMILION, 0.18),
        ):
            y = grid_index + shift
            legend = {"name": name, "legendgroup": name, "showlegend": grid_index == 0}
            traces.append(make_box(y, [row[column] for column in QUANTILE_COLUMNS], color, width=0.3, **legend))
            text = (
                f"<b>{name}</b>: {format_cell(row['alpha0'], row['beta0'])}<br>"
                f"mean {format_number(row['regret'])}, median {format_number(row['q50'])}<br>"
                f"quartiles {format_range((row['q25'], row['q75']))}, 5 % to 95 %: "
                f"{format_range((row['q05'], row['q95']))}"
            )
            traces.append(
                make_markers([row["regret"]], [y], name, MEAN_MARKER, [text], legendgroup=name, showlegend=False)
            )
            parts.append(
                f"{_plain(title)}, {name}: median {format_number(row['q50'])}, mean {format_number(row['regret'])}"
            )
        labels.append(title)
    whiskers = select(cells, protocol=protocol)[["q05", "q95"]]
    return make_figure(
        traces,
        _make_title("Regret of single worlds", protocol, cells),
        f"Box plots, as {protocol}, of the regret of single worlds: quartiles, whiskers from 5 % to 95 %. "
        f"{'; '.join(parts)}.",
        height=190 + 62 * len(labels),
        xaxis=make_axis("regret of one world (reward units)", "log", choose_log_ticks(whiskers.to_numpy().flat)),
        yaxis=make_category_axis(labels, range=[len(labels) - 0.5, -0.5], showgrid=False),
    )


def _read_grids(cells: DataFrame, protocol: str) -> list[tuple[str, Grid]]:
    """The grids of a protocol with their titles: by scenario, shorter horizon first."""
    out = []
    played = select(cells, protocol=protocol)
    for scenario in unique(played, "scenario"):
        for horizon in sorted(unique(played, "horizon")):
            rows = select(played, scenario=scenario, horizon=horizon)
            alpha0, beta0 = (tuple(unique(rows, name)) for name in ("alpha0", "beta0"))
            spec = GridSpec(
                scenario=rows["world"].iloc[0],
                horizon=horizon,
                arms=ARMS,
                replications=rows["worlds"].iloc[0],
                alpha0=alpha0,
                beta0=beta0,
            )
            mean, stderr, among_best = (
                np.array(rows[name].tolist()).reshape(len(alpha0), len(beta0))
                for name in ("regret", "stderr", "among_best")
            )
            grid = Grid(spec, spec.study_name(), mean, stderr, among_best)
            out.append((f"{scenario}<br>T = {horizon:,}", grid))
    return out


def _grid_rows(cells: DataFrame, protocol: str, grid: Grid) -> list[dict[str, Any]]:
    """The cells of one grid."""
    return to_records(select(cells, protocol=protocol, world=grid.spec.scenario, horizon=grid.spec.horizon))


def _plot_cells(
    rows: list[dict[str, Any]], column: str, text: Callable[[float], str], shade: Callable[[float], float] = float
) -> go.Figure:
    """A heat map of one column over α₀ and β₀, with the best cells outlined and the printed one marked."""
    alpha0, beta0 = (list(dict.fromkeys(row[name] for row in rows)) for name in ("alpha0", "beta0"))
    by_cell = {(row["alpha0"], row["beta0"]): row for row in rows}
    shades = {cell: shade(row[column]) for cell, row in by_cell.items()}
    heat_map: PlotlyTrace = {
        "type": "heatmap",
        "x": list(range(len(alpha0))),
        "y": list(range(len(beta0))),
        "z": [round_numbers(shades[a, b] for a in alpha0) for b in beta0],
        "text": [[_describe_cell(by_cell[a, b]) for a in alpha0] for b in beta0],
        "colorscale": COLOR_SCALE,
        "reversescale": True,
        "showscale": False,
        "hovertemplate": HOVER_TEXT,
    }
    labels: PlotlyTrace = {
        "type": "scatter",
        "mode": "text",
        "x": [alpha0.index(a) for a, _ in by_cell],
        "y": [beta0.index(b) - MARK_OFFSET for _, b in by_cell],
        "text": [text(row[column]) for row in rows],
        "textfont": {"size": 11, "color": choose_text_colors(list(shades.values()))},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    lowest, printed = min(rows, key=lambda row: row["regret"]), next(row for row in rows if row["printed"])

    def mark(row: dict[str, Any], symbol: str, label: str, shift: float) -> PlotlyTrace:
        x, y = alpha0.index(row["alpha0"]) + shift, beta0.index(row["beta0"]) + MARK_OFFSET
        marker = {"symbol": symbol, "size": 11, **WHITE_MARKER}
        return make_markers([x], [y], label, marker, [f"{label}: {format_cell(row['alpha0'], row['beta0'])}"])

    def cell_axis(title: str, values: list[float]) -> dict[str, Any]:
        return make_category_axis([f"{v:g}" for v in values], title, showgrid=False, range=[-0.5, len(values) - 0.5])

    distance = 0.2 if lowest is printed else 0.0
    best = [(alpha0.index(a), beta0.index(b)) for (a, b), row in by_cell.items() if row["among_best"]]
    return make_figure(
        [
            heat_map,
            _plot_outline(best),
            labels,
            mark(lowest, "circle", "lowest cell", -distance),
            mark(printed, "square", "best cell printed in the paper", distance),
        ],
        "",
        "",
        xaxis=cell_axis("α₀", alpha0),
        yaxis=cell_axis("β₀", beta0),
    )


def _describe_cell(row: dict[str, Any]) -> str:
    return (
        f"{format_cell(row['alpha0'], row['beta0'])}<br>"
        f"mean regret {format_number(row['regret'])} ± {format_number(row['stderr'])} (standard error)<br>"
        f"selected by {PAPER_REPLICATIONS} replications: {format_share(row['selected'])}<br>"
        f"significantly worse than the lowest: {'no' if row['among_best'] else 'yes'}"
    )


def _plot_outline(cells: list[tuple[int, int]]) -> PlotlyTrace:
    """A line around cells: every side that no two of them share."""
    x: list[float | None] = []
    y: list[float | None] = []
    for i, j in cells:
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (i + di, j + dj) not in cells:
                x += [i + di / 2 - dj / 2, i + di / 2 + dj / 2, None]
                y += [j + dj / 2 - di / 2, j + dj / 2 + di / 2, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "line": {"color": VERMILION, "width": 3},
        "name": "indistinguishable from the lowest cell",
        "hoverinfo": "skip",
    }


def _format_percent(share: float) -> str:
    return "<1" if 0 < share < 0.01 else f"{100 * share:.0f}"


def _plain(title: str) -> str:
    return title.replace("<br>", ", ")


def _describe_lowest(grid: Grid) -> str:
    i, j = grid.best
    return f"{format_number(float(grid.mean[i, j]))} at {format_cell(grid.spec.alpha0[i], grid.spec.beta0[j])}"


def _make_title(main: str, protocol: str, table: DataFrame) -> str:
    return format_title(main, *_describe_setting(protocol, table))


def _describe_setting(protocol: str, table: DataFrame) -> list[str]:
    worlds = format_worlds(to_records(select(table, protocol=protocol)))
    return [f"raven-ucb, as {protocol}", "ε = 0.1", f"K = {ARMS} arms", worlds]
