"""A small heat map for a panel: cells of one size, whatever their values, so that numbers fit on a telephone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import WHITE, ink
from dashboards.figures._scales import labelled, numbers
from dashboards.figures._style import SCALE, VERMILION, Trace, make

if TYPE_CHECKING:
    import plotly.graph_objects as go

ASIDE = 0.2
"""Marks stand above the middle of a cell, numbers below it."""


def cell_map(
    rows: list[dict[str, Any]], name: str, text: Callable[[float], str], shade: Callable[[float], float] = float
) -> go.Figure:
    """One column of a grid's table over α₀ and β₀, with the best cells outlined and the printed one marked."""
    alpha0, beta0 = (list(dict.fromkeys(row[axis_] for row in rows)) for axis_ in ("alpha0", "beta0"))
    at = {(row["alpha0"], row["beta0"]): row for row in rows}
    shades = {cell: shade(row[name]) for cell, row in at.items()}
    cells: Trace = {
        "type": "heatmap",
        "x": list(range(len(alpha0))),
        "y": list(range(len(beta0))),
        "z": [numbers(shades[a, b] for a in alpha0) for b in beta0],
        "customdata": [[[a, b, *_says(at[a, b])] for a in alpha0] for b in beta0],
        "colorscale": SCALE,
        "reversescale": True,
        "hovertemplate": (
            "α₀ = %{customdata[0]}, β₀ = %{customdata[1]}<br>mean regret %{customdata[2]} ± %{customdata[3]} (standard "
            "error)<br>named best by ten: %{customdata[4]} %<br>told apart from the lowest: %{customdata[5]}"
            "<extra></extra>"
        ),
    }
    words: Trace = {
        "type": "scatter",
        "mode": "text",
        "x": [alpha0.index(a) for a, _ in at],
        "y": [beta0.index(b) - ASIDE for _, b in at],
        "text": [text(row[name]) for row in rows],
        "textfont": {"size": 11, "color": ink(list(shades.values()))},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    lowest, printed = min(rows, key=lambda row: row["regret"]), next(row for row in rows if row["printed"])

    def mark(row: dict[str, Any], symbol: str, label: str, shift: float) -> Trace:
        return {
            "type": "scatter",
            "mode": "markers",
            "x": [alpha0.index(row["alpha0"]) + shift],
            "y": [beta0.index(row["beta0"]) + ASIDE],
            "marker": {"symbol": symbol, "size": 11, **WHITE},
            "name": label,
            "hovertemplate": f"{label}: α₀ = {row['alpha0']:g}, β₀ = {row['beta0']:g}<extra></extra>",
        }

    def ticks(title: str, values: list[float]) -> dict[str, Any]:
        return labelled([f"{v:g}" for v in values], title, showgrid=False, range=[-0.5, len(values) - 0.5])

    apart = 0.2 if lowest is printed else 0.0
    return make(
        [
            cells,
            _outline([(alpha0.index(a), beta0.index(b)) for (a, b), row in at.items() if row["among_best"]]),
            words,
            mark(lowest, "circle", "lowest cell", -apart),
            mark(printed, "square", "best cell as the paper prints it", apart),
        ],
        "",
        "",
        xaxis=ticks("α₀", alpha0),
        yaxis=ticks("β₀", beta0),
    )


def _outline(cells: list[tuple[int, int]]) -> Trace:
    """A line around the cells: every side that is not shared with another of them."""
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
        "name": "not told apart from the lowest cell",
        "hoverinfo": "skip",
    }


def _says(row: dict[str, Any]) -> list[Any]:
    return [
        *numbers((row["regret"], row["stderr"], 100 * row["named_best"])),
        "no" if row["among_best"] else "yes",
    ]
