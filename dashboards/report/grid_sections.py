"""The sections of grids."""

from __future__ import annotations

from dashboards import figures
from dashboards.grid_marks import recommended_in
from dashboards.report.gather import GridPart, Material
from dashboards.report.panels import panel
from dashboards.report.sections import GridSection, ShownTable
from dashboards.report.slugs import Slugs
from dashboards.report.titles import Titled, short_titles
from environments.text import format_number
from studies.grid import Grid
from studies.recommendation import Recommendation

MOST_CELLS = 100
"""Grids of at most so many cells are also written out as a table."""


def grid_sections(material: Material, slugs: Slugs) -> list[GridSection]:
    """A section a grid."""
    titles = short_titles([_titled(part.grid) for part in material.grids])
    return [
        _grid(part, title, material.recommendations, slugs) for part, title in zip(material.grids, titles, strict=True)
    ]


def _titled(grid: Grid) -> Titled:
    spec = grid.spec
    return Titled(grid.study, spec.scenario, spec.horizon, spec.arms, spec.settings)


def _grid(part: GridPart, title: str, found: list[Recommendation], slugs: Slugs) -> GridSection:
    grid, name = part.grid, part.grid.study
    spec = grid.spec
    drawn = {
        "map": figures.heat_map(grid, recommended_in(spec, found)),
        "lines": figures.sensitivity_lines(grid),
        "surface": figures.surface(grid),
    }
    if min(grid.mean.shape) < 2:
        del drawn["surface"]
    if part.samples:
        drawn["distributions"] = figures.distributions(
            part.samples, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms
        )
    first, second = grid.best
    lines = [
        f"Lowest mean regret {format_number(float(grid.mean[first, second]))} ± {grid.stderr[first, second]:.2g}"
        f" (standard error) at α₀ {format_number(spec.alpha0[first])}, β₀ {format_number(spec.beta0[second])};"
        f" {_others(grid)}. {spec.replications:,} worlds a cell, ε {format_number(spec.epsilon)}."
    ]
    return GridSection(
        id=slugs.new(name),
        title=name,
        short=title,
        lines=lines,
        panels=[panel(slugs, f"{kind} {name}", figure) for kind, figure in drawn.items()],
        table=_numbers(grid) if grid.mean.size <= MOST_CELLS else None,
    )


def _others(grid: Grid) -> str:
    """How the other cells stand to the best."""
    others, among = grid.mean.size - 1, int(grid.indistinguishable.sum()) - 1
    if not others:
        return "there is no other cell"
    if not among:
        return "all other cells are worse and can be told from it"
    return f"{among} of the other {others} cells can't be told from it"


def _numbers(grid: Grid) -> ShownTable:
    spec = grid.spec
    rows = []
    for i, alpha0 in enumerate(spec.alpha0):
        cells = [
            f"{format_number(float(grid.mean[i, j]))} ±"
            f" {grid.stderr[i, j]:.2g}{'*' if grid.indistinguishable[i, j] else ''}"
            for j in range(len(spec.beta0))
        ]
        rows.append([f"α₀ {format_number(alpha0)}", *cells])
    columns = ["", *(f"β₀ {format_number(beta0)}" for beta0 in spec.beta0)]
    caption = "Mean regret ± standard error; * can't be told from the best cell"
    return ShownTable(caption, columns, rows, tuple(range(1, len(columns))))
