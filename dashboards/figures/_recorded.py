"""A trace as it was recorded: the arms over its rows, and which rows search, choose and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures._arms import arm_line, arms_to_draw
from dashboards.figures._scales import axis, numbers
from dashboards.figures._stretches import in_words, labels, note, stretches
from dashboards.figures._style import GREY, VERMILION, Trace, make
from dashboards.figures._titles import heading, safe
from environments.streams import Stream
from environments.text import format_number
from environments.trace_world import TraceScenario
from environments.world import Floats

if TYPE_CHECKING:
    import plotly.graph_objects as go

POINTS = 240


def recorded(scenario: TraceScenario, window: int) -> go.Figure:
    """Centred means of all arms, the best of the moment in bold, the three stretches shaded, a window to scale.

    >>> from environments.trace_file import Trace
    >>> table = np.random.default_rng(1).normal(size=(400, 3))
    >>> figure = recorded(TraceScenario(Trace.of(["a", "b", "c"], table), "trace:mine"), 50)
    >>> figure.data[-1].name
    'best arm of the moment'
    """
    worlds = scenario.draw(window, 0, 0, 1, Stream.SEARCH)
    sign = -1.0 if scenario.minimize else 1.0
    rows, table = _thinned(sign * worlds.smoothed)
    _, best = _thinned(sign * worlds.best[:, None])
    held = worlds.smoothed == worlds.best[:, None]
    shown = arms_to_draw(held.sum(axis=0), worlds.smoothed)
    traces: list[Trace] = []
    for place, k in enumerate(shown):
        traces.append(arm_line(rows, table[:, k], scenario.trace.names[k], place))
    traces.append(
        {
            "type": "scatter",
            "x": numbers(rows),
            "y": numbers(best[:, 0]),
            "mode": "lines",
            "line": {"color": VERMILION, "width": 3.5},
            "opacity": 0.85,
            "name": "best arm of the moment",
            "hovertemplate": "best of the moment<br>row %{x}<br>%{y}<extra></extra>",
        }
    )
    bottom, top = reach(np.concatenate([table[:, shown].ravel(), best[:, 0]]))
    unit = "cost" if scenario.minimize else "reward"
    missing, number = sum(scenario.trace.missing), int(held.any(axis=0).sum())
    context = [safe(scenario.name), f"{scenario.trace.rows:,} rows", f"K = {scenario.arms} arms", f"window {window}"]
    if len(shown) < scenario.arms:
        context.append(f"{len(shown)} of {scenario.arms} arms drawn")
    return make(
        traces,
        heading("The trace: centred means over 25 rows", *context),
        f"Centred means of {scenario.arms} arms over {scenario.trace.rows:,} rows of {scenario.name}, from"
        f" {format_number(float(np.nanmin(table)))} to {format_number(float(np.nanmax(table)))};"
        f" {number} {'arm is' if number == 1 else 'arms are'} the best at some time;"
        f" {missing or 'no'} cells are missing. {in_words(scenario)}",
        height=520,
        xaxis=axis("row", range=[0, scenario.trace.rows + 1]),
        yaxis=axis(f"{unit}, centred mean", range=[bottom, top]),
        shapes=[*stretches(scenario), _ruler(window)],
        annotations=[*labels(scenario), {**note(1, 0.035, "one window", "bottom"), "xanchor": "left"}],
    )


def _thinned(table: Floats) -> tuple[Floats, Floats]:
    """Middles and means of at most so many even parts of the rows; NaN where a part has no value."""
    rows = table.shape[0]
    cuts = np.unique(np.linspace(0, rows, min(POINTS, rows) + 1).astype(np.int64))
    there = ~np.isnan(table)
    sums = np.add.reduceat(np.where(there, table, 0.0), cuts[:-1], axis=0)
    counts = np.add.reduceat(there.astype(np.float64), cuts[:-1], axis=0)
    means = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return np.asarray(np.round((cuts[:-1] + 1 + cuts[1:]) / 2)), means


def reach(values: Floats) -> tuple[float, float]:
    """What the axis shows: all but single spikes, which would flatten the rest."""
    low, high = (float(end) for end in np.nanquantile(values, [0.01, 0.99]))
    room = 0.08 * (high - low) or 0.5
    return low - room, high + 3 * room


def _ruler(window: int) -> dict[str, Any]:
    line = {"color": GREY, "width": 3}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": 1, "x1": window, "y0": 0.03, "y1": 0.03, "line": line}
