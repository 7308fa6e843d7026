"""The heat map of a grid: mean regret over α₀ and β₀."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dashboards.figures._cells import edges, grid_alt, grid_title, marks, marks_traces
from dashboards.figures._style import SCALE, VERMILION, Trace, axis, make, numbers, rounded, scale_of, wide
from studies.grid import Grid
from studies.recommendation import Recommendation
from studies.words import short

if TYPE_CHECKING:
    import plotly.graph_objects as go

WRITTEN = 8
"""Grids of at most this many values an axis have the mean written into each cell."""


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
    spec = grid.spec.resolved()
    log = wide(grid.mean.ravel())
    written = max(grid.mean.shape) <= WRITTEN
    rows = range(len(spec.beta0))
    columns = range(len(spec.alpha0))
    cells: Trace = {
        "type": "heatmap",
        "x": edges(spec.alpha0),
        "y": edges(spec.beta0),
        "z": [[rounded(math.log10(v) if log else v) for v in grid.mean[:, j]] for j in rows],
        "customdata": [
            [
                [
                    rounded(spec.alpha0[i]),
                    rounded(spec.beta0[j]),
                    rounded(grid.mean[i, j]),
                    float(f"{grid.stderr[i, j]:.3g}"),
                    "no" if grid.indistinguishable[i, j] else "yes",
                ]
                for i in columns
            ]
            for j in rows
        ],
        "hovertemplate": (
            "α₀ = %{customdata[0]}, β₀ = %{customdata[1]}, "
            f"ε = {short(spec.epsilon)}<br>"
            "mean regret %{customdata[2]} ± %{customdata[3]} (standard error)<br>"
            f"R = {spec.replications} worlds<br>"
            "told apart from the lowest cell: %{customdata[4]}<extra></extra>"
        ),
        "colorscale": SCALE,
        "reversescale": True,
        "colorbar": _bar(grid, log),
    }
    if written:
        cells |= {"text": [[short(float(v)) for v in grid.mean[:, j]] for j in rows], "texttemplate": "%{text}"}
    kinds = scale_of(spec.alpha0), scale_of(spec.beta0)
    found = marks(grid, recommended)
    sizes = {"circle": 9, "square": 15, "star": 16}
    traces = [cells, *_region(grid), *marks_traces(found, sizes)]
    return make(
        traces,
        grid_title("Mean regret of RAVEN-UCB over α₀ and β₀", grid),
        _alt(grid, recommended),
        height=540,
        xaxis=axis("α₀ (weight of the variance)", kinds[0], _ticks(spec.alpha0), showgrid=False),
        yaxis=axis("β₀ (softening)", kinds[1], _ticks(spec.beta0), showgrid=False),
    )


def _alt(grid: Grid, recommended: Recommendation | None) -> str:
    alt = grid_alt("Heat map of the mean regret", grid)
    for mark in marks(grid, recommended)[1:]:
        alt += f" Marked: {mark.name} at α₀ = {short(mark.alpha0)}, β₀ = {short(mark.beta0)}."
    return alt


def _ticks(values: tuple[float, ...]) -> list[float] | None:
    """The values themselves where they are few; else Plotly's own ticks."""
    return list(values) if len(values) <= WRITTEN else None


def _bar(grid: Grid, log: bool) -> dict[str, Any]:
    bar: dict[str, Any] = {
        "title": {"text": "mean regret (in units of reward)", "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "x": 1.01,
    }
    if log:
        low, high = math.log10(float(grid.mean.min())), math.log10(float(grid.mean.max()))
        ticks = [a * 10.0**e for e in range(math.floor(low), math.ceil(high) + 1) for a in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
        bar |= {"tickvals": numbers(math.log10(tick) for tick in ticks), "ticktext": [f"{tick:g}" for tick in ticks]}
    return bar


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
    outline = {
        "type": "scatter",
        "mode": "lines",
        **_path(lines, x, y),
        "line": {"color": VERMILION, "width": 3},
        "name": "not told apart from the lowest cell",
        "legendgroup": "region",
        "hoverinfo": "skip",
    }
    hatches: list[list[tuple[int, int]]] = []
    for start in range(-rows, columns):
        diagonal = [(start + j, j) for j in range(rows) if at(start + j, j)]
        hatches += _runs(diagonal, (1, 1), every=True)
    hatching = {
        "type": "scatter",
        "mode": "lines",
        **_path(hatches, x, y),
        "line": {"color": VERMILION, "width": 1},
        "opacity": 0.8,
        "legendgroup": "region",
        "showlegend": False,
        "hoverinfo": "skip",
    }
    return [hatching, outline]


def _runs(cells: list[tuple[int, int]], step: tuple[int, int], every: bool = False) -> list[list[tuple[int, int]]]:
    """Corners of the unbroken runs of cells along a step: both ends, or every one on the way."""
    runs: list[list[tuple[int, int]]] = []
    for cell in cells:
        after = (cell[0] + step[0], cell[1] + step[1])
        if runs and runs[-1][-1] == cell:
            runs[-1].append(after)
        else:
            runs.append([cell, after])
    return runs if every else [[run[0], run[-1]] for run in runs]


def _path(lines: list[list[tuple[int, int]]], x: list[float], y: list[float]) -> Trace:
    """Corners as coordinates, with a gap after each line."""
    return {
        "x": [value for line in lines for value in (*numbers(x[i] for i, _ in line), None)],
        "y": [value for line in lines for value in (*numbers(y[j] for _, j in line), None)],
    }
