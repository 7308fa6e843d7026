"""Heat map and lines of a sensitivity grid or of the sensitivity map of a study."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ravenlab.common.interval import Z95
from ravenlab.common.text import format_interval, format_number, format_percent, format_settings
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.grid_marks import (
    LOWEST,
    GridMark,
    PlayedPoint,
    draw_marks,
    find_value,
    format_regret,
    list_marks,
)
from ravenlab.dashboards.figures.marks import (
    EDGE,
    choose_ramp_colors,
    make_color_bar,
    make_color_title,
    spread_apart,
)
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params, format_symbol

SMALL_GRID = 9  # up to this many values per axis, all values are ticks and cells contain their mean
MAX_LINES = 7
MEANINGS = {"alpha0": "exploration weight", "beta0": "variance weight"}
HEIGHT = 540
TIED_SIZE, POINT_SIZE = 8, 4  # of the points of lines, in pixels
COLOR_BAR = 52  # pixels above the cells
LOG_RATIO = 2.5  # of regrets, from which their axis is logarithmic
TICK_GAP = 0.08  # of the width of the color bar
LABEL_ROOM = 84  # right of lines, in pixels
LABEL_GAP = 14  # pixels between the labels of lines


def format_grid_title(main: str, grid: Grid) -> str:
    """Format the title of a figure of a grid."""
    spec = grid.spec
    settings = [f"settings {style.escape_text(format_settings(spec.settings))}"] if spec.settings else []
    fixed = [style.escape_text(f"{format_symbol(name)} = {format_number(value)}") for name, value in spec.fixed.items()]
    where = [style.escape_text(spec.policy), style.escape_text(spec.scenario), *settings]
    sizes = style.format_sizes(spec.horizon, spec.arms, spec.replications)
    return style.format_title(main, *where, *fixed, *sizes)


def describe_grid(what: str, grid: Grid) -> str:
    """Describe a grid in two sentences."""
    spec = grid.spec
    sizes = [f"{len(values)} values of {format_symbol(name)}" for name, values in spec.axes.items()]
    fixed = f", {format_params(spec.fixed)}" if spec.fixed else ""
    close = int(grid.indistinguishable.sum())
    region = "are tied with the recommended one" if grid.recommended else "are statistically indistinguishable from it"
    return (
        f"{what} of {spec.policy} over {' and '.join(sizes)} in {spec.scenario},"
        f" T = {spec.horizon:,}, K = {spec.arms}, R = {spec.replications:,}{fixed}."
        f" Lowest {format_number(float(grid.mean.min()))} at {_format_cell(grid, grid.best)};"
        f" highest {format_number(float(grid.mean.max()))}; {close:,} of {grid.mean.size:,} cells {region}."
    )


def _format_cell(grid: Grid, cell: tuple[int, ...]) -> str:
    return format_params({name: values[i] for (name, values), i in zip(grid.spec.axes.items(), cell, strict=True)})


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


def plot_heat_map(grid: Grid, recommended: Recommendation | None = None, played: PlayedPoint | None = None) -> Figure:
    """Plot by how much the mean regret of every cell exceeds the lowest, and outline the cells that are as good.

    Args:
        grid: A grid, or the map of a study. Cells have equal sizes, whatever the distances of their values.
        recommended: The recommended parameters for the same problem, which are marked with their baselines.
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
    percent = _as_rows(grid.percent_above_best())
    softness = max(1.0, 100.0 * grid.typical_noise())  # differences that a cell's noise explains have similar colors
    shades = np.log1p(percent / softness).tolist()
    marks = list_marks(grid, recommended, played)
    x = [mark.place[0] for mark in marks]
    y = [mark.place[1] if len(mark.place) > 1 else 0.0 for mark in marks]
    numbers: list[PlotlyTrace] = []
    texts: list[list[str]] = []
    if max(grid.mean.shape) <= SMALL_GRID:
        covered = {(round(across), round(up)) for across, up in zip(x, y, strict=True)}
        texts = [
            ["" if (i, j) in covered else _format_mean(value) for i, value in enumerate(row)]
            for j, row in enumerate(_as_rows(grid.mean).tolist())
        ]
        numbers.append(style.write_in_cells(texts, shades, 12 if len(texts[0]) <= 6 else 10))
    cells = style.make_heat_map(
        shades,
        describe_cells(grid),
        hovertemplate=(
            "%{customdata[1]}<br>mean regret %{customdata[2]}<br>"
            f"{_name_difference(grid)}: %{{customdata[3]}}<br>R = {grid.spec.replications:,} worlds<extra></extra>"
        ),
        colorbar=_make_color_bar(float(percent.max()), softness),
    )
    names = list(grid.spec.axes)
    below = style.make_axis("", visible=False, range=[-0.5, 0.5])
    return style.make_figure(
        [cells, *_outline_best_cells(grid), *numbers, *draw_marks(marks, x, y, cased=True)],
        format_grid_title(f"Mean regret over {' and '.join(map(format_symbol, names))}", grid),
        " ".join([describe_grid("Heat map of the mean regret", grid), *map(_describe_mark, marks[:-1])]),
        link=_make_link(grid, "map") | {"room": max((_measure(text) for row in texts for text in row), default=0)},
        height=HEIGHT if len(names) > 1 else HEIGHT // 2,
        top=COLOR_BAR,
        annotations=[make_color_title("Regret above the lowest cell (%)")],
        xaxis=_cell_axis(names[0], grid.spec.axes[names[0]]),
        yaxis=_cell_axis(names[1], grid.spec.axes[names[1]]) if len(names) > 1 else below,
    )


def _as_rows(values: Any) -> Any:
    """Return an array of the cells with a row per value of the second axis; one row if there is none."""
    return np.atleast_2d(values.T)


def _make_link(grid: Grid, kind: str) -> dict[str, Any]:
    """Return what the report needs to mark the parameters of one figure in the others."""
    axes = grid.spec.axes
    return {
        "kind": kind,
        "names": list(axes),
        "symbols": list(map(format_symbol, axes)),
        "axes": list(map(list, axes.values())),
        "fixed": {name: value for name, value in grid.spec.fixed.items() if not isinstance(value, str)},
        "difference": _name_difference(grid),
        "log": [style.choose_axis_type(values) == "log" for values in axes.values()],
    }


def describe_cells(grid: Grid) -> list[list[list[Any]]]:
    """Describe each cell: its mean, parameters, regret with interval, and difference from the reference cell."""
    described = {cell: _describe_cell(grid, cell) for cell in np.ndindex(*grid.mean.shape)}
    across, *down = grid.mean.shape
    return [[described[(i, j) if down else (i,)] for i in range(across)] for j in range(*down or (1,))]


def _name_difference(grid: Grid) -> str:
    return "above the lowest cell" if grid.recommended is None else "difference from the recommended"


def _describe_cell(grid: Grid, cell: tuple[int, ...]) -> list[Any]:
    if grid.recommended is None:
        difference = format_percent(float(grid.percent_above_best()[cell]) / 100.0)
    elif cell == grid.recommended:
        difference = "none"
    else:
        least = float(grid.mean[grid.recommended])
        absolute = grid.difference(cell)
        difference = (
            format_interval(absolute / least, format_value=partial(format_percent, signed=True))
            if least > 0.0
            else format_interval(absolute)
        )
    close = "tied" if grid.recommended else "indistinguishable"
    state = f", {close}" if grid.indistinguishable[cell] and cell != grid.reference else ""
    mean = style.round_number(grid.mean[cell])
    return [mean, _format_cell(grid, cell), format_regret(grid, cell), f"{difference}{state}"]


def _cell_axis(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Make an axis of equal cells that ends just outside them, because marks exactly at an end can be hidden."""
    ticks = choose_grid_ticks(values)
    places = [find_value(values, tick) for tick in ticks or []]
    shown = [place for place in places if place is not None]
    if ticks is None or len(shown) < len(ticks):
        shown = list(range(0, len(values), -(-len(values) // SMALL_GRID)))
    margin = 0.002 * len(values)
    return style.make_axis(
        _axis_title(name),
        range=[-0.5 - margin, len(values) - 0.5 + margin],
        showgrid=False,
        tickmode="array",
        tickvals=shown,
        ticktext=[format_number(values[place]) for place in shown],
    )


def _axis_title(name: str) -> str:
    symbol = style.escape_text(format_symbol(name))
    return f"{symbol} ({MEANINGS[name]})" if name in MEANINGS else symbol


def _describe_mark(mark: GridMark) -> str:
    return f"Marked: {mark.name} at {format_params(mark.params)}."


def _make_color_bar(most: float, softness: float) -> dict[str, Any]:
    """Make the color bar above the cells; colors are logarithmic, so that small differences are visible."""
    ticks: list[float] = []
    for tick in (0, *(factor * 10**power for power in range(7) for factor in (1, 2, 5))):
        place = math.log1p(tick / softness) / (math.log1p(most / softness) or 1.0)
        last = math.log1p(ticks[-1] / softness) / (math.log1p(most / softness) or 1.0) if ticks else -1.0
        if place <= 1.0 and place - last >= TICK_GAP:
            ticks.append(tick)
    places = [math.log1p(tick / softness) for tick in ticks]
    return make_color_bar(places, list(map(format_number, ticks)))


def _format_mean(value: float) -> str:
    """Format a mean with three digits, so that it fits into a cell of a narrow figure.

    >>> _format_mean(13.5512), _format_mean(1234.6)
    ('13.6', '1235')
    """
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _measure(text: str) -> int:
    """Return the width in pixels of a cell that has room for a number."""
    return 8 + sum(3 if letter == "." else 6 for letter in text)


def outline_cells(inside: np.ndarray[Any, np.dtype[np.bool_]], name: str) -> list[PlotlyTrace]:
    """Draw a line around some cells of a grid [columns, rows]: every side that no two of them share.

    It has a white edge, so that it is visible on every color.
    """
    columns, rows = inside.shape
    around = np.pad(inside, 1)
    lines: list[list[tuple[int, int]]] = []
    for i in range(columns + 1):
        lines += _runs([(i, j) for j in range(rows) if around[i, j + 1] != around[i + 1, j + 1]], (0, 1))
    for j in range(rows + 1):
        lines += _runs([(i, j) for i in range(columns) if around[i + 1, j] != around[i + 1, j + 1]], (1, 0))
    shared: PlotlyTrace = {"type": "scatter", "mode": "lines", **_path(lines), "hoverinfo": "skip", "legendgroup": name}
    return [
        {**shared, "line": {"color": "#ffffff", "width": 6}, "showlegend": False},
        {**shared, "line": {"color": EDGE, "width": 3}, "showlegend": False},
        style.make_legend_entry(name, mode="lines", line={"color": style.GREY, "width": 3}, legendgroup=name),
    ]


def _outline_best_cells(grid: Grid) -> list[PlotlyTrace]:
    """Outline the cells that are as good as the recommended one, or as the lowest of a grid."""
    mapped = grid.recommended is not None
    name = "tied with the recommended" if mapped else "statistically indistinguishable from the lowest cell"
    return outline_cells(_as_rows(grid.indistinguishable).T, name)


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


def plot_sensitivity_lines(
    grid: Grid, recommended: Recommendation | None = None, played: PlayedPoint | None = None
) -> Figure:
    """Plot the mean regret against α₀, one line per β₀; of many β₀, the best and evenly spaced others.

    Args:
        grid: A grid, or the map of a study, whose axes may be other parameters.
        recommended: The recommended parameters for the same problem, which are marked with their baselines.
        played: Their regret in the worlds of the grid, if they were played there.

    >>> import numpy as np
    >>> from ravenlab.studies.registry import PAPER_VALUES
    >>> from ravenlab.studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000, alpha0=PAPER_VALUES, beta0=PAPER_VALUES)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> figure = plot_sensitivity_lines(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12))
    >>> [trace.name for trace in figure.data if trace.mode == "lines+markers"]
    ['β₀ = 0.5', 'β₀ = 1', 'β₀ = 5', 'β₀ = 10']
    """
    names = list(grid.spec.axes)
    across, *down = grid.spec.axes.values()
    chosen = choose_lines(grid)
    colors = choose_ramp_colors([0, len(chosen) - 1], range(len(chosen)))
    marks = list_marks(grid, recommended, played)
    axis = choose_regret_axis(grid, chosen, marks)
    first, *others = map(format_symbol, names)
    title = f"Mean regret against {first}" + "".join(f", one line per {other}" for other in others)
    if down and len(chosen) < len(down[0]):
        title = f"Mean regret against {first} for {len(chosen)} of {len(down[0])} values of {others[0]}"
    close = "tied with the recommended" if grid.recommended else "statistically indistinguishable from the lowest cell"
    look = {"size": TIED_SIZE, "color": style.GREY}
    return style.make_figure(
        [
            *draw_lines(grid, chosen, colors, bands=True),
            style.make_legend_entry(close, mode="markers", marker=look),
            *label_lines(grid, chosen, colors, axis),
            *draw_line_marks(grid, chosen, marks),
        ],
        format_grid_title(title, grid),
        describe_grid("Lines with 95 % bands of the mean regret", grid),
        link=_make_link(grid, "lines"),
        right=LABEL_ROOM if down else 0,
        xaxis=make_parameter_axis(names[0], across),
        yaxis=axis,
    )


def make_parameter_axis(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Make an axis of the values of a parameter at their true distances."""
    kind = style.choose_axis_type(values)
    ticks = style.choose_log_ticks(values) if kind == "log" else None
    return style.make_axis(_axis_title(name), kind, ticks, range=_choose_range(values, kind))


def choose_regret_axis(grid: Grid, chosen: Sequence[int], marks: Sequence[GridMark]) -> dict[str, Any]:
    """Make the axis of the regret of some lines, which is logarithmic if the regrets differ by some factor."""
    mean = _as_rows(grid.mean)[chosen]
    error = Z95 * _as_rows(grid.stderr)[chosen]
    regrets = [mark.regret for mark in marks if mark.regret is not None]
    reach = [*(mean - error).ravel(), *(mean + error).ravel(), *regrets]
    if style.spans_decades(mean.ravel(), LOG_RATIO):
        reach = [value for value in reach if value > 0.0]
        return style.make_axis("mean regret", "log", style.choose_log_ticks(reach), range=_choose_range(reach, "log"))
    return style.make_axis("mean regret", range=_choose_range(reach, "linear"))


def _choose_range(values: Sequence[float], kind: str) -> list[float | None]:
    """Return the ends of an axis as Plotly wants them: a little beyond the values, and as logarithms on a log axis."""
    low, high = min(values), max(values)
    if kind == "log":
        low, high = math.log10(low), math.log10(high)
    margin = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
    return style.round_numbers([low - margin, high + margin])


def draw_lines(grid: Grid, chosen: Sequence[int], colors: Sequence[str], *, bands: bool) -> list[PlotlyTrace]:
    """Draw a line for some values of the second axis; cells that are as good as the best have large points."""
    across, *down = grid.spec.axes.values()
    described = describe_cells(grid)
    traces: list[PlotlyTrace] = []
    for j, color in zip(chosen, colors, strict=True):
        mean, error, close = (_as_rows(values)[j] for values in (grid.mean, Z95 * grid.stderr, grid.indistinguishable))
        if bands and len(across) > 1:
            traces.append(style.make_band(across, (mean - error).tolist(), (mean + error).tolist(), color))
            traces[-1]["fillcolor"] = style.fade(color, 0.12)
        line = style.make_scatter(
            across,
            mean.tolist(),
            "lines+markers",
            f"{format_symbol(list(grid.spec.axes)[1])} = {format_number(down[0][j])}" if down else "mean regret",
            line={"color": color, "width": 2},
            marker={
                "color": color,
                "size": [TIED_SIZE if each else POINT_SIZE for each in close],
                "line": {"width": 0},
            },
            meta={"line": down[0][j] if down else None},
            customdata=[[cell[1], *cell[2:]] for cell in described[j]],
            hovertemplate=(
                "%{customdata[0]}<br>mean regret %{customdata[1]}<br>"
                f"{_name_difference(grid)}: %{{customdata[2]}}<br>R = {grid.spec.replications:,} worlds<extra></extra>"
            ),
            showlegend=False,
        )
        if len(across) == 1:
            line["error_y"] = {"type": "data", "array": style.round_numbers(error)}
        traces.append(line | {"x": list(across)})
    return traces


def label_lines(
    grid: Grid, chosen: Sequence[int], colors: Sequence[str], axis: dict[str, Any], pixels: float = 320.0
) -> list[PlotlyTrace]:
    """Write the values of the second axis at the ends of their lines, so far apart that they can be read."""
    across, *down = grid.spec.axes.values()
    if not down:
        return []
    symbol = format_symbol(list(grid.spec.axes)[1])
    log = axis["type"] == "log"
    low, high = axis["range"]
    ends = _as_rows(grid.mean)[chosen, -1]
    gap = LABEL_GAP * (high - low) / pixels
    places = spread_apart(np.log10(ends) if log else ends, gap, low + gap / 2, high - gap / 2)
    texts = [
        f' <span style="color:{color}">━</span> {style.escape_text(symbol)} {format_number(down[0][j])}'
        for j, color in zip(chosen, colors, strict=True)
    ]
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": [across[-1]] * len(texts),
            "y": style.round_numbers(10.0**place if log else place for place in places),
            "text": texts,
            "textposition": "middle right",
            "textfont": {"size": 11},
            "cliponaxis": False,
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


def draw_line_marks(grid: Grid, chosen: Sequence[int], marks: Sequence[GridMark]) -> list[PlotlyTrace]:
    """Draw the marks on shown lines, and others whose regret in the worlds of the grid is known; the first on top."""
    name = next(iter(grid.spec.axes))
    left_out = {float(j) for j in range(_as_rows(grid.mean).shape[0])} - set(map(float, chosen))
    known = [mark for mark in reversed(marks) if mark.regret is not None and mark.kind != LOWEST]
    shown = [mark for mark in known if mark.place[-1] not in left_out]
    x = [float(mark.params[name]) for mark in shown]
    return draw_marks(shown, x, [float(mark.regret) for mark in shown if mark.regret is not None])


def choose_lines(grid: Grid) -> list[int]:
    """Choose at most seven values of the second axis, including that of the best and of the recommended cell."""
    if grid.mean.ndim < 2 or grid.mean.shape[1] <= MAX_LINES:
        return list(range(1 if grid.mean.ndim < 2 else grid.mean.shape[1]))
    places = {round(place) for place in np.linspace(0, grid.mean.shape[1] - 1, MAX_LINES)}
    for needed in {grid.best[1], grid.reference[1]} - places:
        places.remove(min(places - {grid.best[1], grid.reference[1]}, key=lambda place: abs(place - needed)))
        places.add(needed)
    return sorted(places)
