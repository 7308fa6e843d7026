"""What the figures of a grid share: where cells end, what their marks are, what hovering says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dashboards.figures._parts import WHITE
from dashboards.figures._scales import numbers, scale_of
from dashboards.figures._style import Trace
from dashboards.figures._titles import counts, heading, safe
from environments.text import format_interval, format_number, format_settings
from studies.advice import paper_advice
from studies.grid import Grid
from studies.recommendation import Recommendation
from studies.symbols import format_symbol

FEW = 8
"""Grids of at most this many values an axis have every value on the axis, and the mean in each cell."""


class Mark(NamedTuple):
    """A point of interest in a grid."""

    name: str
    alpha0: float
    beta0: float
    says: str
    symbol: str


def grid_title(main: str, grid: Grid) -> str:
    """The title of a figure of a grid."""
    spec = grid.spec
    settings = [f"settings {safe(format_settings(spec.settings))}"] if spec.settings else []
    where = ["raven-ucb", safe(spec.scenario), *settings]
    return heading(
        main, *where, f"ε = {format_number(spec.epsilon)}", *counts(spec.horizon, spec.arms, spec.replications)
    )


def grid_alt(what: str, grid: Grid) -> str:
    """The numbers of a grid that matter, in two sentences."""
    spec = grid.spec
    i, j = grid.best
    among = int(grid.indistinguishable.sum())
    return (
        f"{what} of RAVEN-UCB over {len(spec.alpha0)} values of α₀ and {len(spec.beta0)} of β₀ in {spec.scenario},"
        f" T = {spec.horizon:,}, K = {spec.arms}, R = {spec.replications:,}, ε = {format_number(spec.epsilon)}."
        f" Lowest {format_number(float(grid.mean[i, j]))} at α₀ = {format_number(spec.alpha0[i])}, β₀ ="
        f" {format_number(spec.beta0[j])};"
        f" highest {format_number(float(grid.mean.max()))}; {among} of {grid.mean.size:,} cells can't be told from the"
        " lowest."
    )


def ticks_of(values: Sequence[float]) -> list[float] | None:
    """Where an axis of cells is labelled: few values by themselves, decades of many, else as Plotly sees fit.

    >>> ticks_of([0.5, 1, 5, 10]), ticks_of(np.geomspace(0.01, 1, 25))
    ([0.5, 1, 5, 10], [0.01, 0.1, 1.0])
    """
    if len(values) <= FEW:
        return list(values)
    if scale_of(values) == "linear":
        return None
    low, high = math.log10(values[0]) - 1e-9, math.log10(values[-1]) + 1e-9
    decades = [float(f"1e{power}") for power in range(math.ceil(low), math.floor(high) + 1)]
    return decades if len(decades) > 2 else None


def edges(values: Sequence[float]) -> list[float]:
    """Where cells around values end, one more than there are values: half way, on the values' own scale.

    >>> edges([1.0, 100.0])
    [0.1, 10.0, 1000.0]
    >>> edges([2.0])
    [1.5, 2.5]
    """
    if len(values) == 1:
        half = abs(values[0]) / 4 or 0.5
        return [values[0] - half, values[0] + half]
    log = scale_of(values) == "log"
    points = np.log(values) if log else np.asarray(values, dtype=float)
    inner = (points[1:] + points[:-1]) / 2
    ends = np.concatenate([[2 * points[0] - inner[0]], inner, [2 * points[-1] - inner[-1]]])
    return [float(f"{value:.5g}") for value in (np.exp(ends) if log else ends)]


def marks(grid: Grid, recommended: Recommendation | None) -> list[Mark]:
    """The best cell, the paper's advice and the recommended point, with what hovering over them says."""
    spec = grid.spec
    i, j = grid.best
    best = (
        f"α₀ = {format_number(spec.alpha0[i])}, β₀ = {format_number(spec.beta0[j])}, ε = {format_number(spec.epsilon)}"
    )
    found = [
        Mark(
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
        says = f"<b>The paper's advice</b><br>α₀ = {advice['alpha0']:g}, β₀ = {advice['beta0']:g}, ε = 0.1"
        at = _place(spec.alpha0, advice["alpha0"]), _place(spec.beta0, advice["beta0"])
        if at[0] is not None and at[1] is not None:
            place = at[0], at[1]
            says += (
                f"<br>mean regret {format_number(float(grid.mean[place]))} ± {format_number(float(grid.stderr[place]))}"
            )
        found.append(Mark("the paper's advice", advice["alpha0"], advice["beta0"], says, "square"))
    point = {} if recommended is None else recommended.params
    alpha0, beta0 = point.get("alpha0"), point.get("beta0")
    if recommended is not None and isinstance(alpha0, int | float) and isinstance(beta0, int | float):
        regret = recommended.regret
        text = ", ".join(f"{safe(format_symbol(key))} = {format_number(value)}" for key, value in point.items())
        found.append(
            Mark(
                "recommended",
                float(alpha0),
                float(beta0),
                f"<b>Recommended</b><br>{text}<br>mean regret"
                f" {format_interval(regret.mean, regret.low, regret.high)}<br>in R = {regret.replications:,} fresh"
                " worlds",
                "star",
            )
        )
    return found


def marks_traces(found: Sequence[Mark], sizes: dict[str, int]) -> list[Trace]:
    """White marks with a dark edge: they read on every colour of the scale, on paper and in the dark."""
    return [
        {
            "type": "scatter",
            "x": numbers([mark.alpha0]),
            "y": numbers([mark.beta0]),
            "mode": "markers",
            "marker": {"symbol": mark.symbol, "size": sizes[mark.symbol], **WHITE},
            "name": mark.name,
            "text": [mark.says],
            "hovertemplate": "%{text}<extra></extra>",
        }
        for mark in found
    ]


def _place(values: Sequence[float], value: float) -> int | None:
    return next((i for i, each in enumerate(values) if math.isclose(each, value, rel_tol=1e-9)), None)
