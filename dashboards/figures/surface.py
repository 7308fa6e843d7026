"""The surface of a grid in three dimensions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dashboards.figures.heat_map import grid_alt, grid_title, marks, ticks_of
from dashboards.figures.style import SCALE, VERMILION, Trace, log_ticks, make, numbers, rounded, scale_of, wide
from environments.text import format_number
from studies.results.grid import Grid

if TYPE_CHECKING:
    import plotly.graph_objects as go


SOLID = "#9a9fa6"
"""WebGL draws half-transparent lines all but invisibly on white."""


def plot_surface(grid: Grid) -> go.Figure:
    """Mean regret as a landscape over α₀ and β₀; a grid without width is drawn as points.

    >>> import numpy as np
    >>> from studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> surface(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12)).data[0].type
    'surface'
    """
    spec = grid.spec
    log = wide(grid.mean.ravel())
    text = [
        [
            f"± {grid.stderr[i, j]:.3g}, {'no' if grid.indistinguishable[i, j] else 'yes'}"
            for i in range(len(spec.alpha0))
        ]
        for j in range(len(spec.beta0))
    ]
    hover = (
        "α₀ = %{x}, β₀ = %{y}<br>mean regret %{z} %{text}<br>"
        "(standard error; whether told apart from the lowest cell)<br>"
        f"ε = {format_number(spec.epsilon)}, R = {spec.replications:,} worlds<extra></extra>"
    )
    if min(grid.mean.shape) < 2:
        main: Trace = {
            "type": "scatter3d",
            "x": numbers(a for a in spec.alpha0 for _ in spec.beta0),
            "y": numbers(b for _ in spec.alpha0 for b in spec.beta0),
            "z": numbers(grid.mean.ravel()),
            "text": [text[j][i] for i in range(len(spec.alpha0)) for j in range(len(spec.beta0))],
            "mode": "lines+markers" if grid.mean.size > 1 else "markers",
            "marker": {"color": VERMILION, "size": 5},
            "line": {"color": VERMILION, "width": 3},
            "name": "mean regret",
            "hovertemplate": hover,
        }
    else:
        z = [numbers(grid.mean[:, j]) for j in range(len(spec.beta0))]
        main = {
            "type": "surface",
            "x": numbers(spec.alpha0),
            "y": numbers(spec.beta0),
            "z": z,
            "text": text,
            "colorscale": SCALE,
            "reversescale": True,
            "showscale": False,
            "hovertemplate": hover,
            "lighting": {"ambient": 0.85, "diffuse": 0.4, "specular": 0.05},
        }
        if log:
            main["surfacecolor"] = [[rounded(math.log10(v)) for v in grid.mean[:, j]] for j in range(len(spec.beta0))]
    return make(
        [main, *_marks(grid)],
        grid_title("Mean regret over α₀ and β₀", grid),
        grid_alt("Surface in three dimensions of the mean regret", grid),
        height=560,
        legend_itemsizing="constant",
        margin={"l": 0, "r": 0, "b": 0},
        scene={
            "xaxis": _axis("α₀", scale_of(spec.alpha0), ticks_of(spec.alpha0)),
            "yaxis": _axis("β₀", scale_of(spec.beta0), ticks_of(spec.beta0)),
            "zaxis": _axis("regret", "log" if log else "linear", log_ticks(grid.mean.ravel()) if log else None),
            "aspectmode": "cube",
            "camera": {"eye": {"x": -1.75, "y": -1.85, "z": 1.1}},
        },
    )


def _marks(grid: Grid) -> list[Trace]:
    """The lowest cell and the paper's, on the surface; advice that is none of the cells has no height."""
    spec = grid.spec
    found = []
    for mark in marks(grid, None):
        if mark.alpha0 not in spec.alpha0 or mark.beta0 not in spec.beta0:
            continue
        height = float(grid.mean[spec.alpha0.index(mark.alpha0), spec.beta0.index(mark.beta0)])
        found.append(
            {
                "type": "scatter3d",
                "x": numbers([mark.alpha0]),
                "y": numbers([mark.beta0]),
                "z": numbers([height]),
                "mode": "markers",
                "marker": {
                    "symbol": mark.symbol,
                    "size": 6,
                    "color": "#ffffff",
                    "line": {"color": "#000000", "width": 2},
                },
                "name": mark.name,
                "text": [mark.says],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return found


def _axis(title: str, kind: str, ticks: list[float] | None) -> dict[str, Any]:
    out: dict[str, Any] = {
        "title": {"text": title, "font": {"size": 12}},
        "tickfont": {"size": 11},
        "type": kind,
        "gridcolor": SOLID,
        "linecolor": SOLID,
        "zeroline": False,
        "showbackground": False,
        "exponentformat": "none",
    }
    if ticks is not None:
        return out | {"tickmode": "array", "tickvals": numbers(ticks), "ticktext": [format_number(v) for v in ticks]}
    return out | ({"dtick": "D2"} if kind == "log" else {})
