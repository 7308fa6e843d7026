"""The heat map of a grid: mean regret over α₀ and β₀."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures._cells import FEW, Mark, edges, grid_alt, grid_title, marks, marks_traces, ticks_of
from dashboards.figures._parts import ink
from dashboards.figures._scales import axis, log_ticks, numbers, rounded, scale_of, wide
from dashboards.figures._style import SCALE, VERMILION, Trace, make
from environments.text import format_number
from studies.grid import Grid
from studies.recommendation import Recommendation

if TYPE_CHECKING:
    import plotly.graph_objects as go


def heat_map(grid: Grid, recommended: Recommendation | None = None) -> go.Figure:
    """Mean regret of every cell, with the paper's cell, the recommended point and what can't be told from the best.

    >>> import numpy as np
    >>> from studies.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> figure = heat_map(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12))
    >>> figure.layout.xaxis.type
    'log'
    """
    spec = grid.spec
    log = wide(grid.mean.ravel())
    rows = range(len(spec.beta0))
    columns = range(len(spec.alpha0))
    cells: Trace = {
        "type": "heatmap",
        "x": edges(spec.alpha0),
        "y": edges(spec.beta0),
        "z": [[rounded(math.log10(v) if log else v, 5) for v in grid.mean[:, j]] for j in rows],
        "customdata": [
            [
                [
                    rounded(spec.alpha0[i], 4),
                    rounded(spec.beta0[j], 4),
                    rounded(grid.mean[i, j], 5),
                    rounded(grid.stderr[i, j], 3),
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
            "told apart from the lowest cell: %{customdata[4]}<extra></extra>"
        ),
        "colorscale": SCALE,
        "reversescale": True,
        "colorbar": _bar(grid, log),
    }
    kinds = scale_of(spec.alpha0), scale_of(spec.beta0)
    found = [_inside(mark, grid) for mark in marks(grid, recommended)]
    sizes = {"circle": 9, "square": 15, "star": 16}
    traces = [cells, *_region(grid), *_numbers(grid, log), *marks_traces(found, sizes)]
    return make(
        traces,
        grid_title("Mean regret over α₀ and β₀", grid),
        _alt(grid, recommended),
        height=540,
        xaxis=axis("α₀ (weight of exploration)", kinds[0], ticks_of(spec.alpha0), showgrid=False),
        yaxis=axis("β₀ (weight of the variance)", kinds[1], ticks_of(spec.beta0), showgrid=False),
    )


def _inside(mark: Mark, grid: Grid) -> Mark:
    """A mark that lies beyond the cells is drawn at their edge and says so: the picture is of the cells."""
    x, y = edges(grid.spec.alpha0), edges(grid.spec.beta0)
    alpha0, beta0 = min(max(mark.alpha0, x[0]), x[-1]), min(max(mark.beta0, y[0]), y[-1])
    if (alpha0, beta0) == (mark.alpha0, mark.beta0):
        return mark
    return mark._replace(alpha0=alpha0, beta0=beta0, name=f"{mark.name} (beyond the edge)")


def _alt(grid: Grid, recommended: Recommendation | None) -> str:
    alt = grid_alt("Heat map of the mean regret", grid)
    for mark in marks(grid, recommended)[1:]:
        alt += f" Marked: {mark.name} at α₀ = {format_number(mark.alpha0)}, β₀ = {format_number(mark.beta0)}."
    return alt


def _bar(grid: Grid, log: bool) -> dict[str, Any]:
    bar: dict[str, Any] = {
        "title": {"text": "mean regret (reward units)", "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "x": 1.01,
    }
    if log:
        ticks = log_ticks(grid.mean.ravel()) or []
        bar |= {"tickvals": numbers(math.log10(tick) for tick in ticks), "ticktext": [f"{tick:g}" for tick in ticks]}
    return bar


def _numbers(grid: Grid, log: bool) -> list[Trace]:
    """The mean of each cell of a small grid, just below its middle, where a mark may stand."""
    if max(grid.mean.shape) > FEW:
        return []
    spec = grid.spec
    shades = (np.log(grid.mean) if log else grid.mean).ravel().tolist()
    return [
        {
            "type": "scatter",
            "mode": "markers+text",
            "marker": {"size": 14, "opacity": 0},
            "x": numbers(a for a in spec.alpha0 for _ in spec.beta0),
            "y": numbers(b for _ in spec.alpha0 for b in spec.beta0),
            "text": [format_number(float(value)) for value in grid.mean.ravel()],
            "textposition": "bottom center",
            "textfont": {"color": ink(shades), "size": 12},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]


def _region(grid: Grid) -> list[Trace]:
    """Outline and hatching of the cells that can't be told from the best: seen without colour too."""
    spec = grid.spec
    x, y, inside = edges(spec.alpha0), edges(spec.beta0), grid.indistinguishable
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
        "name": "not told apart from the lowest cell",
    }
    outline = shared | {**_path(lines, x, y), "line": {"color": VERMILION, "width": 3}, "showlegend": False}
    return [hatching, outline]


def _runs(cells: list[tuple[int, int]], step: tuple[int, int]) -> list[list[tuple[int, int]]]:
    """Both ends of the unbroken runs of cells along a step."""
    runs: list[list[tuple[int, int]]] = []
    for cell in cells:
        after = (cell[0] + step[0], cell[1] + step[1])
        if runs and runs[-1][-1] == cell:
            runs[-1][-1] = after
        else:
            runs.append([cell, after])
    return runs


def _path(lines: list[list[tuple[int, int]]], x: list[float], y: list[float]) -> Trace:
    """Corners as coordinates, with a gap after each line."""
    return {
        "x": [value for line in lines for value in (*numbers(x[i] for i, _ in line), None)],
        "y": [value for line in lines for value in (*numbers(y[j] for _, j in line), None)],
    }
