"""Heat map and lines of a sensitivity grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dashboards.figures.style import (
    COLOR_SCALE,
    MARKERS,
    VERMILION,
    WHITE_MARKER,
    Z95,
    PlotlyTrace,
    choose_axis_type,
    choose_log_ticks,
    choose_text_colors,
    escape_text,
    format_sizes,
    format_title,
    make_axis,
    make_figure,
    make_line_with_band,
    make_value_axis,
    round_number,
    round_numbers,
    spans_decades,
)
from environments.text import format_interval, format_number, format_settings
from studies.paper.advice import paper_advice
from studies.results.grid import Grid
from studies.results.recommendation import Recommendation
from studies.symbols import format_symbol

if TYPE_CHECKING:
    import plotly.graph_objects as go


SMALL_GRID = 8  # up to this many values per axis, all values are ticks and cells contain their mean
MAX_LINES = 6


class GridMark(NamedTuple):
    """A marked point of a grid."""

    name: str
    alpha0: float
    beta0: float
    hover: str
    symbol: str


def format_grid_title(main: str, grid: Grid) -> str:
    """Format the title of a figure of a grid."""
    spec = grid.spec
    settings = [f"settings {escape_text(format_settings(spec.settings))}"] if spec.settings else []
    where = ["raven-ucb", escape_text(spec.scenario), *settings]
    return format_title(
        main, *where, f"ε = {format_number(spec.epsilon)}", *format_sizes(spec.horizon, spec.arms, spec.replications)
    )


def describe_grid(what: str, grid: Grid) -> str:
    """Describe a grid in two sentences."""
    spec = grid.spec
    i, j = grid.best
    close = int(grid.indistinguishable.sum())
    return (
        f"{what} of RAVEN-UCB over {len(spec.alpha0)} values of α₀ and {len(spec.beta0)} of β₀ in {spec.scenario},"
        f" T = {spec.horizon:,}, K = {spec.arms}, R = {spec.replications:,}, ε = {format_number(spec.epsilon)}."
        f" Lowest {format_number(float(grid.mean[i, j]))} at α₀ = {format_number(spec.alpha0[i])}, β₀ ="
        f" {format_number(spec.beta0[j])};"
        f" highest {format_number(float(grid.mean.max()))}; {close:,} of {grid.mean.size:,} cells are"
        " statistically indistinguishable from the lowest."
    )


def choose_grid_ticks(values: Sequence[float]) -> list[float] | None:
    """Choose the ticks of an axis: all of a few values, decades of many, otherwise Plotly's choice.

    >>> choose_grid_ticks([0.5, 1, 5, 10]), choose_grid_ticks(np.geomspace(0.01, 1, 25))
    ([0.5, 1, 5, 10], [0.01, 0.1, 1.0])
    """
    if len(values) <= SMALL_GRID:
        return list(values)
    if choose_axis_type(values) == "linear":
        return None
    low, high = math.log10(values[0]) - 1e-9, math.log10(values[-1]) + 1e-9
    decades = [float(f"1e{power}") for power in range(math.ceil(low), math.floor(high) + 1)]
    return decades if len(decades) > 2 else None


def cell_edges(values: Sequence[float]) -> list[float]:
    """Return the edges of cells: midpoints between values on their scale, and the two ends.

    >>> cell_edges([1.0, 100.0])
    [0.1, 10.0, 1000.0]
    >>> cell_edges([2.0])
    [1.5, 2.5]
    """
    if len(values) == 1:
        half = abs(values[0]) / 4 or 0.5
        return [values[0] - half, values[0] + half]
    log = choose_axis_type(values) == "log"
    points = np.log(values) if log else np.asarray(values, dtype=float)
    inner = (points[1:] + points[:-1]) / 2
    ends = np.concatenate([[2 * points[0] - inner[0]], inner, [2 * points[-1] - inner[-1]]])
    return [float(f"{value:.5g}") for value in (np.exp(ends) if log else ends)]


def list_marks(grid: Grid, recommended: Recommendation | None) -> list[GridMark]:
    """List the lowest cell, the paper's advice and the recommendation with their hover texts."""
    spec = grid.spec
    i, j = grid.best
    best = (
        f"α₀ = {format_number(spec.alpha0[i])}, β₀ = {format_number(spec.beta0[j])}, ε = {format_number(spec.epsilon)}"
    )
    marks = [
        GridMark(
            "lowest cell",
            spec.alpha0[i],
            spec.beta0[j],
            f"<b>Lowest cell</b><br>{best}<br>mean regret {format_number(float(grid.mean[i, j]))}"
            f" ± {format_number(float(grid.stderr[i, j]))} (standard error)<br>R = {spec.replications:,}",
            "circle",
        )
    ]
    advice = paper_advice(spec.scenario, spec.horizon)
    if advice is not None:
        alpha0, beta0 = advice["alpha0"], advice["beta0"]
        params = f"α₀ = {format_number(alpha0)}, β₀ = {format_number(beta0)}, ε = 0.1"
        hover = f"<b>The paper's advice</b><br>{params}"
        at = _find_value(spec.alpha0, alpha0), _find_value(spec.beta0, beta0)
        if at[0] is not None and at[1] is not None:
            place = at[0], at[1]
            hover += (
                f"<br>mean regret {format_number(float(grid.mean[place]))} ± {format_number(float(grid.stderr[place]))}"
            )
        marks.append(GridMark("the paper's advice", alpha0, beta0, hover, "square"))
    point = {} if recommended is None else recommended.params
    best_alpha0, best_beta0 = point.get("alpha0"), point.get("beta0")
    if recommended is not None and isinstance(best_alpha0, int | float) and isinstance(best_beta0, int | float):
        regret = recommended.regret
        text = ", ".join(f"{escape_text(format_symbol(key))} = {format_number(value)}" for key, value in point.items())
        marks.append(
            GridMark(
                "recommended",
                float(best_alpha0),
                float(best_beta0),
                f"<b>Recommended</b><br>{text}<br>mean regret"
                f" {format_interval(regret.mean, regret.low, regret.high)}<br>on {regret.replications:,} held-out"
                " worlds",
                "star",
            )
        )
    return marks


def _draw_marks(marks: Sequence[GridMark], sizes: dict[str, int]) -> list[PlotlyTrace]:
    """Draw marks in white with a dark edge, visible on every color."""
    return [
        {
            "type": "scatter",
            "x": round_numbers([mark.alpha0]),
            "y": round_numbers([mark.beta0]),
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"symbol": mark.symbol, "size": sizes[mark.symbol], **WHITE_MARKER},
            "name": mark.name,
            "text": [mark.hover],
            "hovertemplate": "%{text}<extra></extra>",
        }
        for mark in marks
    ]


def _find_value(values: Sequence[float], value: float) -> int | None:
    return next((i for i, candidate in enumerate(values) if math.isclose(candidate, value, rel_tol=1e-9)), None)


def plot_heat_map(grid: Grid, recommended: Recommendation | None = None) -> go.Figure:
    """Plot the mean regret of every cell, and mark the cells indistinguishable from the best.

    >>> import numpy as np
    >>> from studies.registry import PAPER_VALUES
    >>> from studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000, alpha0=PAPER_VALUES, beta0=PAPER_VALUES)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> figure = plot_heat_map(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12))
    >>> figure.layout.xaxis.type
    'log'
    """
    spec = grid.spec
    log = spans_decades(grid.mean.ravel())
    rows = range(len(spec.beta0))
    columns = range(len(spec.alpha0))
    cells: PlotlyTrace = {
        "type": "heatmap",
        "x": cell_edges(spec.alpha0),
        "y": cell_edges(spec.beta0),
        "z": [[round_number(math.log10(v) if log else v, 5) for v in grid.mean[:, j]] for j in rows],
        "customdata": [
            [
                [
                    round_number(spec.alpha0[i], 4),
                    round_number(spec.beta0[j], 4),
                    round_number(grid.mean[i, j], 5),
                    round_number(grid.stderr[i, j], 3),
                    "no" if grid.indistinguishable[i, j] else "yes",
                ]
                for i in columns
            ]
            for j in rows
        ],
        "hovertemplate": (
            "α₀ = %{customdata[0]}, β₀ = %{customdata[1]}, "
            f"ε = {format_number(spec.epsilon)}<br>"
            "mean regret %{customdata[2]} ± %{customdata[3]} (standard error)<br>"
            f"R = {spec.replications:,} worlds<br>"
            "significantly worse than the lowest cell: %{customdata[4]}<extra></extra>"
        ),
        "colorscale": COLOR_SCALE,
        "reversescale": True,
        "colorbar": _make_color_bar(grid, log),
    }
    marks = [_clip_mark(mark, grid) for mark in list_marks(grid, recommended)]
    sizes = {"circle": 9, "square": 15, "star": 16}
    traces = [cells, *_outline_best_cells(grid), *_write_means(grid, log), *_draw_marks(marks, sizes)]
    return make_figure(
        traces,
        format_grid_title("Mean regret over α₀ and β₀", grid),
        _describe_heat_map(grid, recommended),
        height=540,
        xaxis=_cell_axis("α₀ (exploration weight)", spec.alpha0),
        yaxis=_cell_axis("β₀ (variance weight)", spec.beta0),
    )


def _cell_axis(title: str, values: Sequence[float]) -> dict[str, Any]:
    """Make an axis that ends just outside the cells, because marks exactly at an end can be hidden."""
    kind, edges = choose_axis_type(values), cell_edges(values)
    low, high = (math.log10(edge) if kind == "log" else edge for edge in (edges[0], edges[-1]))
    margin = 0.002 * (high - low)
    ends = round_numbers((low - margin, high + margin))
    return make_axis(title, kind, choose_grid_ticks(values), range=ends, showgrid=False)


def _clip_mark(mark: GridMark, grid: Grid) -> GridMark:
    """Move a mark outside the grid to its edge and say so in its name."""
    x, y = cell_edges(grid.spec.alpha0), cell_edges(grid.spec.beta0)
    alpha0, beta0 = min(max(mark.alpha0, x[0]), x[-1]), min(max(mark.beta0, y[0]), y[-1])
    if (alpha0, beta0) == (mark.alpha0, mark.beta0):
        return mark
    return mark._replace(alpha0=alpha0, beta0=beta0, name=f"{mark.name} (outside the grid)")


def _describe_heat_map(grid: Grid, recommended: Recommendation | None) -> str:
    alt = describe_grid("Heat map of the mean regret", grid)
    for mark in list_marks(grid, recommended)[1:]:
        alt += f" Marked: {mark.name} at α₀ = {format_number(mark.alpha0)}, β₀ = {format_number(mark.beta0)}."
    return alt


def _make_color_bar(grid: Grid, log: bool) -> dict[str, Any]:
    bar: dict[str, Any] = {
        "title": {"text": "mean regret (reward units)", "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "x": 1.01,
    }
    if log:
        ticks = choose_log_ticks(grid.mean.ravel()) or []
        bar |= {
            "tickvals": round_numbers(math.log10(tick) for tick in ticks),
            "ticktext": [format_number(tick) for tick in ticks],
        }
    return bar


def _write_means(grid: Grid, log: bool) -> list[PlotlyTrace]:
    """Write the mean into each cell of a small grid, below its middle, which may hold a mark."""
    if max(grid.mean.shape) > SMALL_GRID:
        return []
    spec = grid.spec
    shades = (np.log(grid.mean) if log else grid.mean).ravel().tolist()
    return [
        {
            "type": "scatter",
            "mode": "markers+text",
            "marker": {"size": 14, "opacity": 0},
            "x": round_numbers(a for a in spec.alpha0 for _ in spec.beta0),
            "y": round_numbers(b for _ in spec.alpha0 for b in spec.beta0),
            "text": [format_number(float(value)) for value in grid.mean.ravel()],
            "textposition": "bottom center",
            "textfont": {"color": choose_text_colors(shades), "size": 12},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


def _outline_best_cells(grid: Grid) -> list[PlotlyTrace]:
    """Outline and hatch the cells that are statistically indistinguishable from the best."""
    spec = grid.spec
    x, y, inside = cell_edges(spec.alpha0), cell_edges(spec.beta0), grid.indistinguishable
    columns, rows = inside.shape

    def at(i: int, j: int) -> bool:
        return 0 <= i < columns and 0 <= j < rows and bool(inside[i, j])

    lines: list[list[tuple[int, int]]] = []
    for i in range(columns + 1):
        lines += _runs([(i, j) for j in range(rows) if at(i - 1, j) != at(i, j)], (0, 1))
    for j in range(rows + 1):
        lines += _runs([(i, j) for i in range(columns) if at(i, j - 1) != at(i, j)], (1, 0))
    boxes: list[list[tuple[int, int]]] = []
    for i in range(columns):
        runs = _runs([(i, j) for j in range(rows) if at(i, j)], (0, 1))
        boxes += [[low, (i + 1, low[1]), (i + 1, high[1]), high, low] for low, high in runs]
    shared = {"type": "scatter", "mode": "lines", "legendgroup": "region", "hoverinfo": "skip"}
    hatching = shared | {
        **_path(boxes, x, y),
        "line": {"width": 0, "color": VERMILION},
        "fill": "toself",
        "fillcolor": "rgba(0,0,0,0)",
        "fillpattern": {"shape": "/", "size": 9, "solidity": 0.16, "fgcolor": VERMILION, "bgcolor": "rgba(0,0,0,0)"},
        "name": "statistically indistinguishable from the lowest cell",
    }
    outline = shared | {**_path(lines, x, y), "line": {"color": VERMILION, "width": 3}, "showlegend": False}
    return [hatching, outline]


def _runs(cells: list[tuple[int, int]], step: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """Return both ends of contiguous runs of cells."""
    runs: list[list[tuple[int, int]]] = []
    for cell in cells:
        after = (cell[0] + step[0], cell[1] + step[1])
        if runs and runs[-1][-1] == cell:
            runs[-1][-1] = after
        else:
            runs.append([cell, after])
    return runs


def _path(lines: list[list[tuple[int, int]]], x: list[float], y: list[float]) -> PlotlyTrace:
    """Convert corners to coordinates, with a gap after each line."""
    return {
        "x": [value for line in lines for value in (*round_numbers(x[i] for i, _ in line), None)],
        "y": [value for line in lines for value in (*round_numbers(y[j] for _, j in line), None)],
    }


def plot_sensitivity_lines(grid: Grid) -> go.Figure:
    """Plot the mean regret against α₀, one line per β₀; of many β₀, the best and evenly spaced others.

    >>> import numpy as np
    >>> from studies.registry import PAPER_VALUES
    >>> from studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000, alpha0=PAPER_VALUES, beta0=PAPER_VALUES)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> figure = plot_sensitivity_lines(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12))
    >>> [trace.name for trace in figure.data if trace.showlegend is not False]
    ['β₀ = 0.5', 'β₀ = 1', 'β₀ = 5', 'β₀ = 10']
    """
    spec = grid.spec
    alpha0 = [float(value) for value in spec.alpha0]
    traces: list[PlotlyTrace] = []
    chosen = _choose_lines(len(spec.beta0), grid.best[1])
    for place, j in enumerate(chosen):
        mean, stderr = grid.mean[:, j], grid.stderr[:, j]
        low, high = mean - Z95 * stderr, mean + Z95 * stderr
        around, line = make_line_with_band(
            alpha0,
            mean.tolist(),
            stderr.tolist(),
            place,
            mode="lines+markers",
            marker={"symbol": MARKERS[place % len(MARKERS)], "size": 7},
            error_y={"type": "data", "array": round_numbers(Z95 * stderr), "visible": len(alpha0) == 1},
            name=f"β₀ = {format_number(spec.beta0[j])}",
            customdata=[
                [*round_numbers((stderr[i], low[i], high[i])), "no" if grid.indistinguishable[i, j] else "yes"]
                for i in range(len(alpha0))
            ],
            hovertemplate=(
                f"α₀ = %{{x}}, β₀ = {format_number(spec.beta0[j])}, ε = {format_number(spec.epsilon)}<br>"
                "mean regret %{y} ± %{customdata[0]} (standard error)<br>"
                f"95 %: %{{customdata[1]}} to %{{customdata[2]}}, R = {spec.replications:,} worlds<br>"
                "significantly worse than the lowest cell: %{customdata[3]}<extra></extra>"
            ),
        )
        traces += [around, line] if len(alpha0) > 1 else [line]
    shown = grid.mean[:, chosen] - Z95 * grid.stderr[:, chosen]
    reach = np.concatenate([shown.ravel(), grid.mean[:, chosen].ravel()])
    title = "Mean regret against α₀, one line per β₀"
    if len(chosen) < len(spec.beta0):
        title = f"Mean regret against α₀ for {len(chosen)} of {len(spec.beta0)} values of β₀"
    return make_figure(
        traces,
        format_grid_title(title, grid),
        describe_grid("Lines with 95 % bands of the mean regret", grid),
        xaxis=make_axis("α₀ (exploration weight)", choose_axis_type(alpha0), choose_grid_ticks(alpha0)),
        yaxis=make_value_axis("mean regret (reward units)", reach),
    )


def _choose_lines(count: int, best: int) -> list[int]:
    """Choose at most six of the β₀, including the best."""
    if count <= MAX_LINES:
        return list(range(count))
    places = {round(place) for place in np.linspace(0, count - 1, MAX_LINES)}
    if best not in places:
        places.remove(min(places, key=lambda place: abs(place - best)))
        places.add(best)
    return sorted(places)
