"""Three-dimensional surface of a sensitivity grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dashboards.figures.grid import choose_grid_ticks, describe_grid, format_grid_title, list_marks
from dashboards.figures.style import (
    COLOR_SCALE,
    VERMILION,
    WHITE_MARKER,
    PlotlyTrace,
    choose_axis_type,
    choose_log_ticks,
    make_figure,
    round_number,
    round_numbers,
    spans_decades,
)
from environments.text import format_number
from studies.results.grid import Grid

if TYPE_CHECKING:
    import plotly.graph_objects as go

SCENE_LINE_COLOR = "#9a9fa6"  # WebGL draws semi-transparent lines almost invisibly on white


def plot_surface(grid: Grid) -> go.Figure:
    """Plot the mean regret as a surface over α₀ and β₀; a grid with one row or column is drawn as points.

    >>> import numpy as np
    >>> from studies.registry import PAPER_VALUES
    >>> from studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000, alpha0=PAPER_VALUES, beta0=PAPER_VALUES)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> plot_surface(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12)).data[0].type
    'surface'
    """
    spec = grid.spec
    log = spans_decades(grid.mean.ravel())
    text = [
        [
            f"± {format_number(float(grid.stderr[i, j]))}, {'no' if grid.indistinguishable[i, j] else 'yes'}"
            for i in range(len(spec.alpha0))
        ]
        for j in range(len(spec.beta0))
    ]
    hover = (
        "α₀ = %{x}, β₀ = %{y}<br>mean regret %{z} %{text}<br>"
        "(standard error; whether significantly worse than the lowest cell)<br>"
        f"ε = {format_number(spec.epsilon)}, R = {spec.replications:,} worlds<extra></extra>"
    )
    if min(grid.mean.shape) < 2:
        main: PlotlyTrace = {
            "type": "scatter3d",
            "x": round_numbers(a for a in spec.alpha0 for _ in spec.beta0),
            "y": round_numbers(b for _ in spec.alpha0 for b in spec.beta0),
            "z": round_numbers(grid.mean.ravel()),
            "text": [text[j][i] for i in range(len(spec.alpha0)) for j in range(len(spec.beta0))],
            "mode": "lines+markers" if grid.mean.size > 1 else "markers",
            "marker": {"color": VERMILION, "size": 5},
            "line": {"color": VERMILION, "width": 3},
            "name": "mean regret",
            "hovertemplate": hover,
        }
    else:
        z = [round_numbers(grid.mean[:, j]) for j in range(len(spec.beta0))]
        main = {
            "type": "surface",
            "x": round_numbers(spec.alpha0),
            "y": round_numbers(spec.beta0),
            "z": z,
            "text": text,
            "colorscale": COLOR_SCALE,
            "reversescale": True,
            "showscale": False,
            "hovertemplate": hover,
            "lighting": {"ambient": 0.85, "diffuse": 0.4, "specular": 0.05},
        }
        if log:
            main["surfacecolor"] = [
                [round_number(math.log10(v)) for v in grid.mean[:, j]] for j in range(len(spec.beta0))
            ]
    return make_figure(
        [main, *_draw_marks(grid)],
        format_grid_title("Mean regret over α₀ and β₀", grid),
        describe_grid("Three-dimensional surface of the mean regret", grid),
        height=560,
        legend_itemsizing="constant",
        margin={"l": 0, "r": 0, "b": 0},
        scene={
            "xaxis": _scene_axis("α₀", choose_axis_type(spec.alpha0), choose_grid_ticks(spec.alpha0)),
            "yaxis": _scene_axis("β₀", choose_axis_type(spec.beta0), choose_grid_ticks(spec.beta0)),
            "zaxis": _scene_axis(
                "regret", "log" if log else "linear", choose_log_ticks(grid.mean.ravel()) if log else None
            ),
            "aspectmode": "cube",
            "camera": {"eye": {"x": -1.75, "y": -1.85, "z": 1.1}},
        },
    )


def _draw_marks(grid: Grid) -> list[PlotlyTrace]:
    """Mark the lowest cell and the advice on the surface, if they are cells."""
    spec = grid.spec
    traces: list[PlotlyTrace] = []
    for mark in list_marks(grid, None):
        if mark.alpha0 not in spec.alpha0 or mark.beta0 not in spec.beta0:
            continue
        height = float(grid.mean[spec.alpha0.index(mark.alpha0), spec.beta0.index(mark.beta0)])
        traces.append(
            {
                "type": "scatter3d",
                "x": round_numbers([mark.alpha0]),
                "y": round_numbers([mark.beta0]),
                "z": round_numbers([height]),
                "mode": "markers",
                "marker": {"symbol": mark.symbol, "size": 6, **WHITE_MARKER},
                "name": mark.name,
                "text": [mark.hover],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return traces


def _scene_axis(title: str, kind: str, ticks: list[float] | None) -> dict[str, Any]:
    out: dict[str, Any] = {
        "title": {"text": title, "font": {"size": 12}},
        "tickfont": {"size": 11},
        "type": kind,
        "gridcolor": SCENE_LINE_COLOR,
        "linecolor": SCENE_LINE_COLOR,
        "zeroline": False,
        "showbackground": False,
        "exponentformat": "none",
    }
    if ticks is not None:
        return out | {
            "tickmode": "array",
            "tickvals": round_numbers(ticks),
            "ticktext": [format_number(v) for v in ticks],
        }
    return out | ({"dtick": "D2"} if kind == "log" else {})
