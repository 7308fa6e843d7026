"""Figure 3 and the six optima of Section 4.2: the 4 × 4 grids over α₀ and β₀, with enough worlds to settle them.

As published no shift happens before t = 5000, so that at T = 1000 all three scenarios are one stationary problem. As
defined drift, variance growth and blips happen within the horizon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from studies.registry import PAPER_VALUES
from studies.reproduction.document import Outcome
from studies.reproduction.optima import Optimum, optima, world_of
from studies.reproduction.tables import Table
from tuning.reproduction._figure3_grid import DRAWS, FEW, play_grid
from tuning.reproduction._figure3_verdicts import GridFound, verdicts
from tuning.reproduction._intervals import in_columns
from tuning.reproduction.context import Context, Found, Piece

CELLS = [(alpha0, beta0) for alpha0 in PAPER_VALUES for beta0 in PAPER_VALUES]
"""In the order of `GridSpec.cells`."""


def pieces(context: Context) -> list[Piece]:
    """A grid each."""
    return [
        Piece(
            _key(protocol, printed),
            1.8 if printed.horizon <= 1000 else 4.2,
            partial(play_grid, world=world_of(protocol, printed.scenario), printed=printed),
        )
        for protocol in context.protocols
        for printed in optima()
    ]


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """Cells, optima and sensitivities of all grids, and what they say of the paper's claims."""
    grids = [
        GridFound(protocol, printed, CELLS, found[_key(protocol, printed)])
        for protocol in context.protocols
        for printed in optima()
    ]
    judged = [verdict for protocol in context.protocols for verdict in verdicts(protocol, grids)]
    words = {(each.claim, each.protocol): each.word for each in judged}
    return Outcome(
        tables={
            "cells": Table.of(row for grid in grids for row in _cells(grid)),
            "optima": Table.of(_optimum(grid, words) for grid in grids),
            "sensitivity": Table.of(row for grid in grids for row in _sensitivity(grid)),
        },
        facts={
            "few": FEW,
            "draws": DRAWS,
            "one_problem": {name: _one_problem(name, grids) for name in context.protocols},
        },
        verdicts=judged,
    )


def _key(protocol: str, printed: Optimum) -> str:
    return f"figure3/{protocol}/{printed.scenario}-T{printed.horizon}"


def _where(grid: GridFound) -> dict[str, Any]:
    """What every row of every table begins with."""
    return {
        "protocol": grid.protocol,
        "scenario": grid.printed.scenario,
        "world": world_of(grid.protocol, grid.printed.scenario),
        "horizon": grid.printed.horizon,
        "worlds": grid.found["worlds"],
    }


def _cells(grid: GridFound) -> Iterator[dict[str, Any]]:
    found = grid.found
    for place, (alpha0, beta0) in enumerate(grid.cells):
        yield {
            **_where(grid),
            "alpha0": alpha0,
            "beta0": beta0,
            "regret": found["mean"][place],
            "stderr": found["stderr"][place],
            "among_best": found["among_best"][place],
            "named_best": found["named"][place],
            "printed": (alpha0, beta0) == grid.printed.cell,
            **dict(zip(("q05", "q25", "q50", "q75", "q95"), found["boxes"][place], strict=True)),
            **dict(zip(("ten_low", "ten_median", "ten_high"), found["ten"][place], strict=True)),
        }


def _optimum(grid: GridFound, words: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    found, printed, place = grid.found, grid.printed, grid.place
    low, median, high = found["ten"][place]
    best = grid.cells[grid.best]
    return {
        **_where(grid),
        "alpha0": printed.alpha0,
        "beta0": printed.beta0,
        "printed_regret": printed.regret,
        **in_columns("regret", found["printed_cell"]),
        "stderr": found["stderr"][place],
        "ten_low": low,
        "ten_median": median,
        "ten_high": high,
        **dict(zip(("smallest_low", "smallest_median", "smallest_high"), found["smallest"], strict=True)),
        **dict(zip(("smallest_least", "smallest_most"), found["nearly_all"], strict=True)),
        "smallest_below_printed": found["below"],
        "named_best": found["named"][place],
        "among_best": found["among_best"][place],
        "best_alpha0": best[0],
        "best_beta0": best[1],
        "best_regret": found["mean"][grid.best],
        **in_columns("cost", found["printed_cost"]),
        "cell_verdict": words[f"{printed.claim}-cell", grid.protocol],
        "regret_verdict": words[f"{printed.claim}-regret", grid.protocol],
    }


def _sensitivity(grid: GridFound) -> Iterator[dict[str, Any]]:
    for each in grid.found["sensitivity"]:
        yield {
            **_where(grid),
            "param": each["param"],
            "other_at": each["held"],
            "best": each["best"],
            "worst": each["worst"],
            **in_columns("cost", each["cost"]),
        }


def _one_problem(protocol: str, grids: list[GridFound]) -> bool:
    """Whether the grids of the shorter horizon were played in the very same worlds."""
    mine = [grid for grid in grids if grid.protocol == protocol]
    shortest = min(grid.printed.horizon for grid in mine)
    return len({grid.found["played"] for grid in mine if grid.printed.horizon == shortest}) == 1
