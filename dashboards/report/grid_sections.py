"""The sections of grids."""

from __future__ import annotations

from dashboards import figures
from dashboards.grid_marks import recommended_in
from dashboards.report.gather import GridPart, Material
from dashboards.report.panels import panel
from dashboards.report.sections import GridSection, ShownTable, short_title
from dashboards.report.slugs import Slugs
from studies.grid import Grid
from studies.recommendation import Recommendation
from studies.words import short

MOST_CELLS = 100
"""Grids of at most so many cells are also written out as a table."""


def grid_sections(material: Material, slugs: Slugs) -> list[GridSection]:
    """A section a grid."""
    return [_grid(part, material.recommendations, slugs) for part in material.grids]


def _grid(part: GridPart, found: list[Recommendation], slugs: Slugs) -> GridSection:
    grid, name = part.grid, part.grid.study
    spec = grid.spec.resolved()
    drawn = {
        "map": figures.heat_map(grid, recommended_in(spec, found)),
        "lines": figures.sensitivity_lines(grid),
        "surface": figures.surface(grid),
    }
    if min(grid.mean.shape) < 2:
        del drawn["surface"]
    if part.samples:
        assert spec.horizon is not None
        assert spec.arms is not None
        drawn["distributions"] = figures.distributions(
            part.samples, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms
        )
    first, second = grid.best
    among = int(grid.indistinguishable.sum())
    apart = "no other cell is" if among == 1 else f"{among - 1} of the other {grid.mean.size - 1} cells are"
    lines = [
        f"Lowest mean regret {short(float(grid.mean[first, second]))} ± {grid.stderr[first, second]:.2g}"
        f" (standard error) at α₀ {short(spec.alpha0[first])}, β₀ {short(spec.beta0[second])};"
        f" {apart} indistinguishable from it. {spec.replications} worlds a cell, ε {short(spec.epsilon)}."
    ]
    return GridSection(
        id=slugs.new(name),
        title=name,
        short=short_title(spec.scenario, spec.horizon, name, spec.name),
        lines=lines,
        panels=[panel(slugs, f"{kind} {name}", figure) for kind, figure in drawn.items()],
        table=_numbers(grid) if grid.mean.size <= MOST_CELLS else None,
    )


def _numbers(grid: Grid) -> ShownTable:
    spec = grid.spec
    rows = []
    for i, alpha0 in enumerate(spec.alpha0):
        cells = [
            f"{short(float(grid.mean[i, j]))} ± {grid.stderr[i, j]:.2g}{'*' if grid.indistinguishable[i, j] else ''}"
            for j in range(len(spec.beta0))
        ]
        rows.append([f"α₀ {short(alpha0)}", *cells])
    columns = ["", *(f"β₀ {short(beta0)}" for beta0 in spec.beta0)]
    caption = "Mean regret ± standard error; * can't be told from the best cell"
    return ShownTable(caption, columns, rows, tuple(range(1, len(columns))))
