"""Grids on a terminal: a table each, the best cell and those that can't be told from it marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.grid import Grid

WIDEST = 8
"""Values of β₀ that a terminal has room for; of a wider grid the best cells are listed instead."""

LISTED = 12

BEST, EQUAL, NEITHER = "★", "≈", " "


def print_grids(grids: Sequence[Grid], as_json: bool) -> None:
    """All grids as JSON, or a table each."""
    from tuning.commands.tables import print_json

    if as_json:
        print_json({"grids": [grid.as_object() for grid in grids]})
        return
    for grid in grids:
        print_grid(grid)


def print_grid(grid: Grid) -> None:
    """One grid: α₀ down, β₀ across."""
    from studies.symbols import format_params
    from tuning.commands.tables import print_table, say

    spec = grid.spec
    best = grid.best
    title = (
        f"{grid.study}: regret ± standard error, T = {spec.horizon:,}, K = {spec.arms}, R = {spec.replications:,}, "
        f"ε = {spec.epsilon:g}"
    )
    if len(spec.beta0) <= WIDEST:
        columns = ["α₀ \\ β₀", *(f"{beta:g}" for beta in spec.beta0)]
        rows = [
            [f"{alpha:g}", *(f"{_cell(grid, (a, b))} {_mark(grid, (a, b))}" for b in range(len(spec.beta0)))]
            for a, alpha in enumerate(spec.alpha0)
        ]
    else:
        columns = ["α₀", "β₀", "regret"]
        order = [(int(i) // len(spec.beta0), int(i) % len(spec.beta0)) for i in grid.mean.argsort(axis=None)]
        rows = [
            [f"{spec.alpha0[a]:g}", f"{spec.beta0[b]:g}", f"{_cell(grid, (a, b))} {_mark(grid, (a, b))}"]
            for a, b in order[:LISTED]
        ]
        title += f"; the best {len(rows)} of {grid.mean.size:,} cells"
    print_table(title, columns, rows, numbers=columns)
    others = int(grid.indistinguishable.sum()) - 1
    cell = format_params({"alpha0": spec.alpha0[best[0]], "beta0": spec.beta0[best[1]]})
    text = f"{others} more can't be told from it ({EQUAL})" if others else "all others are worse"
    say(f"{BEST} best: {cell}; {text} (paired over the same worlds, corrected for {grid.mean.size:,} cells, 95 %).")


def _cell(grid: Grid, place: tuple[int, int]) -> str:
    """Digits down to the second of the standard error."""
    from math import floor, log10

    mean, error = float(grid.mean[place]), float(grid.stderr[place])
    digits = min(6, max(0, 1 - floor(log10(error)))) if error > 0.0 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def _mark(grid: Grid, place: tuple[int, int]) -> str:
    if place == grid.best:
        return BEST
    return EQUAL if grid.indistinguishable[place] else NEITHER
