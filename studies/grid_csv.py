"""Grids as CSV: one row a cell, the grids one after the other."""

from __future__ import annotations

from collections.abc import Iterable

from studies.grid import Grid
from studies.reproduction.tables import Cell, Table

COLUMNS = (
    "scenario",
    "horizon",
    "alpha0",
    "beta0",
    "epsilon",
    "regret",
    "stderr",
    "replications",
    "indistinguishable",
)


def write(grids: Iterable[Grid]) -> str:
    """A header, then the cells, α₀ outer and β₀ inner; numbers with every digit, so the same grid gives the same bytes.

    >>> write([]).strip()
    'scenario,horizon,alpha0,beta0,epsilon,regret,stderr,replications,indistinguishable'
    """
    rows: list[tuple[Cell, ...]] = []
    for grid in grids:
        spec = grid.spec
        flat = zip(grid.mean.flat, grid.stderr.flat, grid.indistinguishable.flat, strict=True)
        for cell, (mean, stderr, equal) in zip(spec.cells(), flat, strict=True):
            place = [f"{cell[name]:.15g}" for name in ("alpha0", "beta0", "epsilon")]
            found = [float(mean), float(stderr), spec.replications, "true" if equal else "false"]
            rows.append((spec.scenario, spec.horizon, *place, *found))
    return Table(COLUMNS, tuple(rows)).as_csv()
