"""Regret against α₀, a line per β₀: the paper's Figure 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.heat_map import grid_alt, grid_title, ticks_of
from dashboards.figures.style import MARKERS, Z95, Trace, axis, line_in_band, log_ticks, make, numbers, scale_of, wide
from environments.text import format_number
from studies.results.grid import Grid

if TYPE_CHECKING:
    import plotly.graph_objects as go


MOST_LINES = 6


def plot_sensitivity_lines(grid: Grid) -> go.Figure:
    """Mean regret over α₀ with its 95 % interval, a line per β₀; of many β₀ the best and some evenly apart.

    >>> import numpy as np
    >>> from studies.spec.grid import GridSpec
    >>> spec = GridSpec(scenario="blips", horizon=1000)
    >>> mean = np.arange(16.0).reshape(4, 4) + 10
    >>> figure = sensitivity_lines(Grid(spec, spec.study_name(), mean, mean / 100, mean < 12))
    >>> [trace.name for trace in figure.data if trace.showlegend is not False]
    ['β₀ = 0.5', 'β₀ = 1', 'β₀ = 5', 'β₀ = 10']
    """
    spec = grid.spec
    alpha0 = [float(value) for value in spec.alpha0]
    traces: list[Trace] = []
    chosen = _chosen(len(spec.beta0), grid.best[1])
    for place, j in enumerate(chosen):
        mean, stderr = grid.mean[:, j], grid.stderr[:, j]
        low, high = mean - Z95 * stderr, mean + Z95 * stderr
        around, line = line_in_band(
            alpha0,
            mean.tolist(),
            stderr.tolist(),
            place,
            mode="lines+markers",
            marker={"symbol": MARKERS[place % len(MARKERS)], "size": 7},
            error_y={"type": "data", "array": numbers(Z95 * stderr), "visible": len(alpha0) == 1},
            name=f"β₀ = {format_number(spec.beta0[j])}",
            customdata=[
                [*numbers((stderr[i], low[i], high[i])), "no" if grid.indistinguishable[i, j] else "yes"]
                for i in range(len(alpha0))
            ],
            hovertemplate=(
                f"α₀ = %{{x}}, β₀ = {format_number(spec.beta0[j])}, ε = {format_number(spec.epsilon)}<br>"
                "mean regret %{y} ± %{customdata[0]} (standard error)<br>"
                f"95 %: %{{customdata[1]}} to %{{customdata[2]}}, R = {spec.replications:,} worlds<br>"
                "told apart from the lowest cell: %{customdata[3]}<extra></extra>"
            ),
        )
        traces += [around, line] if len(alpha0) > 1 else [line]
    shown = grid.mean[:, chosen] - Z95 * grid.stderr[:, chosen]
    reach = np.concatenate([shown.ravel(), grid.mean[:, chosen].ravel()])
    log = wide(reach)
    title = "Mean regret against α₀, a line per β₀"
    if len(chosen) < len(spec.beta0):
        title = f"Mean regret against α₀, {len(chosen)} of {len(spec.beta0)} β₀"
    return make(
        traces,
        grid_title(title, grid),
        grid_alt("Lines with 95 % bands of the mean regret", grid),
        xaxis=axis("α₀ (weight of exploration)", scale_of(alpha0), ticks_of(alpha0)),
        yaxis=axis("mean regret (reward units)", "log" if log else "linear", log_ticks(reach) if log else None),
    )


def _chosen(count: int, best: int) -> list[int]:
    """At most six places of the β₀, the best among them."""
    if count <= MOST_LINES:
        return list(range(count))
    places = {round(place) for place in np.linspace(0, count - 1, MOST_LINES)}
    if best not in places:
        places.remove(min(places, key=lambda place: abs(place - best)))
        places.add(best)
    return sorted(places)
