"""Heat map and lines of a sensitivity grid."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ravenlab.common.interval import Z95, Interval
from ravenlab.common.text import format_ends, format_interval, format_number, format_settings, format_signed
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_symbol

SMALL_GRID = 9  # up to this many values per axis, all values are ticks and cells contain their mean
MAX_LINES = 6
MARK_SIZES = {"circle": 9, "square": 9, "star": 16}
CORNERS = {"circle": (0.34, 0.34), "square": (-0.34, 0.34)}  # where marks of cells are drawn, from the middle
NUMBER = (0.42, 0.42)  # half the width and height of the place of the number in a cell; a star is moved out of it


class GridMark(NamedTuple):
    """A marked point of a grid."""

    name: str
    alpha0: float
    beta0: float
    epsilon: float
    hover: str
    symbol: str


def format_grid_title(main: str, grid: Grid) -> str:
    """Format the title of a figure of a grid."""
    spec = grid.spec
    settings = [f"settings {style.escape_text(format_settings(spec.settings))}"] if spec.settings else []
    where = ["raven-ucb", style.escape_text(spec.scenario), *settings]
    return style.format_title(
        main,
        *where,
        f"ε = {format_number(spec.epsilon)}",
        *style.format_sizes(spec.horizon, spec.arms, spec.replications),
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
    if style.choose_axis_type(values) == "linear":
        return None
    low, high = math.log10(values[0]) - 1e-9, math.log10(values[-1]) + 1e-9
    decades = [float(f"1e{power}") for power in range(math.ceil(low), math.floor(high) + 1)]
    return decades if len(decades) > 2 else None


def cell_position(values: Sequence[float], value: float) -> float:
    """Return the position of a value on an axis of equal cells: its index, or between those of its neighbors.

    Values outside the cells are moved to the edge.

    >>> [cell_position([1.0, 10.0, 100.0], value) for value in (10.0, 31.6227766, 1000.0)]
    [1.0, 1.5, 2.5]
    """
    exact = _find_value(values, value)
    if exact is not None:
        return float(exact)
    log = style.choose_axis_type(values) == "log" and value > 0.0
    points = np.log(values) if log else np.asarray(values, dtype=float)
    point = math.log(value) if log else value
    if point < points[0] or point > points[-1]:
        return -0.5 if point < points[0] else len(values) - 0.5
    return round(float(np.interp(point, points, np.arange(len(values)))), 4)


class PlayedPoint(NamedTuple):
    """Regret of the recommended parameters in the worlds of a grid."""

    mean: float
    stderr: float
    difference: Interval
    """From the lowest cell, in paired worlds."""


def list_marks(grid: Grid, recommended: Recommendation | None, played: PlayedPoint | None = None) -> list[GridMark]:
    """List the lowest cell, the paper's advice and the recommendation with their hover texts."""
    spec = grid.spec
    i, j = grid.best
    best = spec.alpha0[i], spec.beta0[j], spec.epsilon
    hover = f"<b>Lowest cell</b><br>{_format_point(*best)}{_format_cell(grid, i, j)} (standard error)"
    marks = [GridMark("lowest cell", *best, f"{hover}<br>R = {spec.replications:,}", "circle")]
    advice = paper_advice(spec.scenario, spec.horizon)
    if advice is not None:
        point = advice["alpha0"], advice["beta0"], advice["epsilon"]
        column, row = _find_value(spec.alpha0, point[0]), _find_value(spec.beta0, point[1])
        cell = "" if column is None or row is None else _format_cell(grid, column, row)
        hover = f"<b>The paper's advice</b><br>{_format_point(*point)}{cell}"
        marks.append(GridMark("the paper's advice", *point, hover, "square"))
    params = {} if recommended is None else {"epsilon": spec.epsilon, **recommended.params}
    values = [params.get(name) for name in ("alpha0", "beta0", "epsilon")]
    if recommended is not None and all(isinstance(value, int | float) for value in values):
        alpha0, beta0, epsilon = (float(value) for value in values if value is not None)
        hover = _describe_recommended(grid, recommended, played)
        name = f"recommended{_describe_epsilon(grid, recommended)}"
        marks.append(GridMark(name, alpha0, beta0, epsilon, hover, "star"))
    return marks


def _format_point(alpha0: float, beta0: float, epsilon: float) -> str:
    return f"α₀ = {format_number(alpha0)}, β₀ = {format_number(beta0)}, ε = {format_number(epsilon)}"


def _format_cell(grid: Grid, i: int, j: int) -> str:
    return f"<br>mean regret {format_number(float(grid.mean[i, j]))} ± {format_number(float(grid.stderr[i, j]))}"


def _describe_epsilon(grid: Grid, recommended: Recommendation) -> str:
    """State that the recommendation has another ε than the cells; empty if it is the same."""
    epsilon = recommended.params.get("epsilon")
    if not isinstance(epsilon, int | float) or math.isclose(epsilon, grid.spec.epsilon):
        return ""
    return f" (ε = {format_number(epsilon)}, cells: ε = {format_number(grid.spec.epsilon)})"


def _describe_recommended(grid: Grid, recommended: Recommendation, played: PlayedPoint | None) -> str:
    """Describe the recommendation: its regret in the worlds of the grid if it was played there, and held-out."""
    params, regret = recommended.params, recommended.regret
    text = ", ".join(
        f"{style.escape_text(format_symbol(key))} = {format_number(value)}" for key, value in params.items()
    )
    lines = [f"<b>Recommended</b><br>{text}"]
    if played is not None:
        lines += [
            f"in the worlds of the grid: mean regret {format_number(played.mean)} ± {format_number(played.stderr)}",
            f"difference from the lowest cell: {format_signed(played.difference.mean)} (95 % CI"
            f" {format_ends(played.difference)})",
        ]
    lines.append(f"mean regret {format_interval(regret)}<br>on {regret.replications:,} held-out worlds")
    if _describe_epsilon(grid, recommended):
        lines.append("its ε differs from that of the cells, so it is not one of them")
    return "<br>".join(lines)


def _draw_marks(grid: Grid, marks: Sequence[GridMark]) -> list[PlotlyTrace]:
    """Draw marks in white with a dark edge, visible on every color; those of cells beside the number of the cell."""
    spec = grid.spec
    traces: list[PlotlyTrace] = []
    for mark in marks:
        x, y = cell_position(spec.alpha0, mark.alpha0), cell_position(spec.beta0, mark.beta0)
        name = mark.name
        if x in (-0.5, len(spec.alpha0) - 0.5) or y in (-0.5, len(spec.beta0) - 0.5):
            name = f"{name} (outside the grid)"
        elif mark.symbol in CORNERS and x.is_integer() and y.is_integer():
            x, y = x + CORNERS[mark.symbol][0], y + CORNERS[mark.symbol][1]
        elif mark.symbol == "star" and max(grid.mean.shape) <= SMALL_GRID:
            y = _avoid_number(x, y)
        marker = {"symbol": mark.symbol, "size": MARK_SIZES[mark.symbol], **style.WHITE_MARKER}
        meta = {"params": {"alpha0": mark.alpha0, "beta0": mark.beta0, "epsilon": mark.epsilon}}
        traces.append(style.make_markers([x], [y], name, marker, [mark.hover], cliponaxis=False, meta=meta))
    return traces


def _avoid_number(x: float, y: float) -> float:
    """Return a position of a star that does not cover the number in the middle of its cell.

    >>> _avoid_number(2.0, 3.0), _avoid_number(2.1, 3.1), _avoid_number(2.5, 3.0)
    (2.58, 3.42, 3.0)
    """
    column, row = round(x), round(y)
    if abs(x - column) >= NUMBER[0] or abs(y - row) >= NUMBER[1]:
        return y
    return row + (NUMBER[1] if y > row else -NUMBER[1])


def _find_value(values: Sequence[float], value: float) -> int | None:
    return next((i for i, candidate in enumerate(values) if math.isclose(candidate, value, rel_tol=1e-9)), None)


def plot_heat_map(grid: Grid, recommended: Recommendation | None = None, played: PlayedPoint | None = None) -> Figure:
    """Plot by how much the mean regret of every cell exceeds the lowest, and mark the cells indistinguishable from it.

    Args:
        grid: The grid. Cells have equal sizes, whatever the distances of their values.
        recommended: The recommended parameters for the same problem, which are marked.
        played: Their regret in the worlds of the grid, if they were played there.

    >>> import numpy as np
    >>> from ravenlab.studies.registry import PAPER_VALUES
    >>> from ravenlab.studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000, alpha0=PAPER_VALUES, beta0=PAPER_VALUES)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> figure = plot_heat_map(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12))
    >>> figure.layout.xaxis.ticktext
    ('0.5', '1', '5', '10')
    """
    spec = grid.spec
    percent = grid.percent_above_best()
    shades = np.log1p(percent).T.tolist()
    cells = style.make_heat_map(
        shades,
        [
            [
                [
                    style.round_number(alpha0, 4),
                    style.round_number(beta0, 4),
                    style.round_number(grid.mean[i, j], 5),
                    style.round_number(grid.stderr[i, j], 3),
                    style.round_number(percent[i, j], 3),
                    "no" if grid.indistinguishable[i, j] else "yes",
                ]
                for i, alpha0 in enumerate(spec.alpha0)
            ]
            for j, beta0 in enumerate(spec.beta0)
        ],
        hovertemplate=(
            "α₀ = %{customdata[0]}, β₀ = %{customdata[1]}, "
            f"ε = {format_number(spec.epsilon)}<br>"
            "mean regret %{customdata[2]} ± %{customdata[3]} (standard error)<br>"
            "%{customdata[4]} % above the lowest cell<br>"
            f"R = {spec.replications:,} worlds<br>"
            "significantly worse than the lowest cell: %{customdata[5]}<extra></extra>"
        ),
        colorbar=_make_color_bar(float(percent.max())),
    )
    marks = list_marks(grid, recommended, played)
    means: list[PlotlyTrace] = []
    if max(grid.mean.shape) <= SMALL_GRID:
        texts = [[_format_mean(float(value)) for value in row] for row in grid.mean.T]
        means.append(style.write_in_cells(texts, shades, 12 if len(spec.alpha0) <= 6 else 10))
    return style.make_figure(
        [cells, *_outline_best_cells(grid), *means, *_draw_marks(grid, marks)],
        format_grid_title("Mean regret over α₀ and β₀", grid),
        " ".join([describe_grid("Heat map of the mean regret", grid), *map(_describe_mark, marks[1:])]),
        link={
            "kind": "map",
            "alpha0": list(spec.alpha0),
            "beta0": list(spec.beta0),
            "epsilon": spec.epsilon,
            "log": [style.choose_axis_type(spec.alpha0) == "log", style.choose_axis_type(spec.beta0) == "log"],
        },
        height=540,
        xaxis=_cell_axis("α₀ (exploration weight)", spec.alpha0),
        yaxis=_cell_axis("β₀ (variance weight)", spec.beta0),
    )


def _cell_axis(title: str, values: Sequence[float]) -> dict[str, Any]:
    """Make an axis of equal cells that ends just outside them, because marks exactly at an end can be hidden."""
    ticks = choose_grid_ticks(values)
    places = [_find_value(values, tick) for tick in ticks or []]
    shown = [place for place in places if place is not None]
    if ticks is None or len(shown) < len(ticks):
        shown = list(range(0, len(values), -(-len(values) // SMALL_GRID)))
    margin = 0.002 * len(values)
    return style.make_axis(
        title,
        range=[-0.5 - margin, len(values) - 0.5 + margin],
        showgrid=False,
        tickmode="array",
        tickvals=shown,
        ticktext=[format_number(values[place]) for place in shown],
    )


def _describe_mark(mark: GridMark) -> str:
    return f"Marked: {mark.name} at α₀ = {format_number(mark.alpha0)}, β₀ = {format_number(mark.beta0)}."


def _make_color_bar(most: float) -> dict[str, Any]:
    """Make the color bar; colors are logarithmic in 1 + the percentage, so that small differences are visible."""
    powers = (factor * 10**power for power in range(7) for factor in (1, 2, 5))
    ticks = [0, *(tick for tick in powers if tick <= most)]
    return {
        "title": {"text": "% above the lowest regret", "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "x": 1.01,
        "tickvals": style.round_numbers(math.log1p(tick) for tick in ticks),
        "ticktext": [format_number(tick) for tick in ticks],
    }


def _format_mean(value: float) -> str:
    """Format a mean with three digits, so that it fits into a cell of a narrow figure.

    >>> _format_mean(13.5512), _format_mean(1234.6)
    ('13.6', '1235')
    """
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def outline_cells(inside: np.ndarray[Any, np.dtype[np.bool_]], **more: Any) -> PlotlyTrace:
    """Draw a line around some cells of a grid [columns, rows]: every side that no two of them share."""
    columns, rows = inside.shape
    around = np.pad(inside, 1)
    lines: list[list[tuple[int, int]]] = []
    for i in range(columns + 1):
        lines += _runs([(i, j) for j in range(rows) if around[i, j + 1] != around[i + 1, j + 1]], (0, 1))
    for j in range(rows + 1):
        lines += _runs([(i, j) for i in range(columns) if around[i + 1, j] != around[i + 1, j + 1]], (1, 0))
    line = {"color": style.VERMILION, "width": 3}
    return {"type": "scatter", "mode": "lines", **_path(lines), "line": line, "hoverinfo": "skip", **more}


def _outline_best_cells(grid: Grid) -> list[PlotlyTrace]:
    """Outline and hatch the cells that are statistically indistinguishable from the best."""
    inside = grid.indistinguishable
    outline = outline_cells(inside, legendgroup="region")
    boxes: list[list[tuple[int, int]]] = []
    for i, column in enumerate(inside):
        runs = _runs([(i, j) for j in np.flatnonzero(column).tolist()], (0, 1))
        boxes += [[low, (i + 1, low[1]), (i + 1, high[1]), high, low] for low, high in runs]
    hatching = outline | {
        **_path(boxes),
        "line": {"width": 0, "color": style.VERMILION},
        "fill": "toself",
        "fillcolor": "rgba(0,0,0,0)",
        "fillpattern": {
            "shape": "/",
            "size": 9,
            "solidity": 0.16,
            "fgcolor": style.VERMILION,
            "bgcolor": "rgba(0,0,0,0)",
        },
        "name": "statistically indistinguishable from the lowest cell",
    }
    return [hatching, outline | {"showlegend": False}]


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


def _path(lines: list[list[tuple[int, int]]]) -> PlotlyTrace:
    """Convert corners of cells to coordinates, with a gap after each line."""
    return {
        "x": [value for line in lines for value in (*(i - 0.5 for i, _ in line), None)],
        "y": [value for line in lines for value in (*(j - 0.5 for _, j in line), None)],
    }


def plot_sensitivity_lines(grid: Grid) -> Figure:
    """Plot the mean regret against α₀, one line per β₀; of many β₀, the best and evenly spaced others.

    Args:
        grid: A grid.

    >>> import numpy as np
    >>> from ravenlab.studies.registry import PAPER_VALUES
    >>> from ravenlab.studies.spec.grid import GridSpec
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
        around, line = style.make_line_with_band(
            alpha0,
            mean.tolist(),
            stderr.tolist(),
            place,
            mode="lines+markers",
            marker={"symbol": style.MARKERS[place % len(style.MARKERS)], "size": 7},
            error_y={"type": "data", "array": style.round_numbers(Z95 * stderr), "visible": len(alpha0) == 1},
            name=f"β₀ = {format_number(spec.beta0[j])}",
            meta={"beta0": spec.beta0[j]},
            customdata=[
                [*style.round_numbers((stderr[i], low[i], high[i])), "no" if grid.indistinguishable[i, j] else "yes"]
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
    return style.make_figure(
        traces,
        format_grid_title(title, grid),
        describe_grid("Lines with 95 % bands of the mean regret", grid),
        link={"kind": "lines", "epsilon": spec.epsilon},
        xaxis=style.make_axis("α₀ (exploration weight)", style.choose_axis_type(alpha0), choose_grid_ticks(alpha0)),
        yaxis=style.make_value_axis("mean regret (reward units)", reach),
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
