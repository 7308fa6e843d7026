"""Grids as CSV: one row a cell, the grids one after the other."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from studies.grid import Grid

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
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow(COLUMNS)
    for grid in grids:
        spec = grid.spec.resolved()
        flat = zip(grid.mean.flat, grid.stderr.flat, grid.indistinguishable.flat, strict=True)
        for cell, (mean, stderr, equal) in zip(spec.cells(), flat, strict=True):
            place = [f"{cell[name]:.15g}" for name in ("alpha0", "beta0", "epsilon")]
            found = [repr(float(mean)), repr(float(stderr))]
            rows.writerow(
                [spec.scenario, spec.horizon, *place, *found, spec.replications, "true" if equal else "false"]
            )
    return buffer.getvalue()
