"""The grids of Figure 3 run again, drawn from its tables alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures import sensitivity_lines, surface
from dashboards.figures._scales import axis, log_ticks, numbers
from dashboards.figures._style import VERMILION, Trace
from dashboards.figures._titles import heading
from dashboards.reproduction._cell_map import cell_map
from dashboards.reproduction._panels import panels
from environments.text import format_number
from studies.grid import Grid, GridSpec
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

ARMS = 10
FEW_TICKS = 5
PRINTED = {"symbol": "star", "size": 15, "color": VERMILION, "line": {"color": "#000000", "width": 1}}
"""How the paper's optima are marked."""


def grids(cells: Table, protocol: str) -> list[tuple[str, Grid]]:
    """The grids of a protocol with their titles: a row a scenario, short horizon first."""
    found = []
    mine = cells.where(protocol=protocol)
    for scenario in mine.distinct("scenario"):
        for horizon in sorted(mine.distinct("horizon")):
            rows = list(mine.where(scenario=scenario, horizon=horizon))
            alpha0, beta0 = (tuple(dict.fromkeys(row[name] for row in rows)) for name in ("alpha0", "beta0"))
            spec = GridSpec(
                scenario=rows[0]["world"],
                horizon=horizon,
                arms=ARMS,
                replications=rows[0]["worlds"],
                alpha0=alpha0,
                beta0=beta0,
            ).resolved()
            mean, stderr, among = (
                np.array([row[name] for row in rows]).reshape(len(alpha0), len(beta0))
                for name in ("regret", "stderr", "among_best")
            )
            found.append((f"{scenario}<br>T = {horizon}", Grid(spec, spec.study_name(), mean, stderr, among)))
    return found


def heat_maps(cells: Table, protocol: str) -> go.Figure:
    """Mean regret of every cell of the six grids; shades are of each grid by itself, on a log scale."""
    found = grids(cells, protocol)
    drawn = [
        (title, cell_map(rows_of(cells, protocol, grid), "regret", "{:.3g}".format, math.log)) for title, grid in found
    ]
    lowest = "; ".join(f"{_plain(title)}: lowest {_cell(grid)}" for title, grid in found)
    return panels(
        drawn,
        title_of("Mean regret over α₀ and β₀, darker is more", protocol, cells),
        f"Six heat maps of the mean regret over α₀ and β₀, as {protocol}, with the cell that the paper prints. "
        f"{lowest}.",
    )


def lines(cells: Table, optima: Table, protocol: str) -> go.Figure:
    """The paper's Figure 3: regret against α₀, a line per β₀; and where the paper's printed optimum lies."""
    drawn = []
    for title, grid in grids(cells, protocol):
        figure = sensitivity_lines(grid)
        printed = optima.one(protocol=protocol, world=grid.spec.scenario, horizon=grid.spec.horizon)
        low = min(float(grid.mean.min()), printed["printed_regret"])
        reach = [0.9 * low, float(grid.mean.max())]
        figure.add_trace(_printed_mark(printed))
        figure.update_layout(xaxis_title_text="α₀", yaxis=axis("mean regret", "log", _ticks(reach)))
        drawn.append((title, figure))
    printed_text = "; ".join(
        f"{row['scenario']}, T = {row['horizon']}: printed {row['printed_regret']:g}, here"
        f" {format_number(row['regret'])}"
        for row in optima.where(protocol=protocol)
    )
    return panels(
        drawn,
        title_of("Mean regret against α₀, a line per β₀", protocol, cells),
        f"Six panels of lines, as {protocol}: regret against α₀ for each β₀, with the printed optimum. {printed_text}.",
    )


def named_best(cells: Table, protocol: str, few: int) -> go.Figure:
    """How often so few replications a cell would name each cell best."""
    drawn = []
    parts = []
    for title, grid in grids(cells, protocol):
        rows = rows_of(cells, protocol, grid)
        drawn.append((title, cell_map(rows, "named_best", _percent)))
        printed = next(row for row in rows if row["printed"])
        parts.append(f"{_plain(title)}: the printed cell {_percent(printed['named_best'])} %")
    return panels(
        drawn,
        title_of(f"How often {few} replications name a cell best, in %", protocol, cells),
        f"Six heat maps of how often {few} replications a cell would name each cell best, as {protocol}. "
        f"{'; '.join(parts)}.",
    )


def landscape(cells: Table, protocol: str) -> go.Figure:
    """The 3-D surface that the authors draw: variance drift at the longer horizon."""
    _, grid = [each for each in grids(cells, protocol) if each[0].startswith("variance-drift")][-1]
    return surface(grid)


def _printed_mark(row: dict[str, Any]) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers([row["alpha0"]]),
        "y": numbers([row["printed_regret"]]),
        "marker": PRINTED,
        "name": "optimum as printed",
        "hovertemplate": (
            f"<b>The paper's optimum</b><br>α₀ = {row['alpha0']:g}, β₀ = {row['beta0']:g}<br>printed regret "
            f"{row['printed_regret']:g}, here {format_number(row['regret'])}<extra></extra>"
        ),
    }


def _ticks(reach: list[float]) -> list[float]:
    """Round numbers for a log axis that may span less than a decade."""
    powers = range(math.floor(math.log10(reach[0])), math.ceil(math.log10(reach[-1])) + 1)
    ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 3, 5)]
    ticks = [tick for tick in ticks if reach[0] <= tick <= reach[-1]]
    return ticks if len(ticks) <= FEW_TICKS else log_ticks(reach) or ticks


def rows_of(cells: Table, protocol: str, grid: Grid) -> list[dict[str, Any]]:
    """The cells of one grid."""
    return list(cells.where(protocol=protocol, world=grid.spec.scenario, horizon=grid.spec.horizon))


def _percent(share: float) -> str:
    return "<1" if 0 < share < 0.01 else f"{100 * share:.0f}"


def _plain(title: str) -> str:
    return title.replace("<br>", ", ")


def _cell(grid: Grid) -> str:
    i, j = grid.best
    return f"{format_number(float(grid.mean[i, j]))} at α₀ = {grid.spec.alpha0[i]:g}, β₀ = {grid.spec.beta0[j]:g}"


def title_of(main: str, protocol: str, table: Table) -> str:
    """A title with the protocol, and how many worlds were played at each horizon."""
    mine = table.where(protocol=protocol)
    worlds = {row["horizon"]: row["worlds"] for row in mine}
    played = ", ".join(f"R = {count} at T = {horizon}" for horizon, count in sorted(worlds.items()))
    return heading(main, f"raven-ucb, as {protocol}", "ε = 0.1", f"K = {ARMS} arms", played)
