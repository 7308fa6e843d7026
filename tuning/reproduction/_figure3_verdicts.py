"""What the grids say of the paper's claims about parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from environments.text import format_number
from studies.reproduction.grid_rules import (
    Cell,
    judge_costs,
    judge_different,
    judge_range,
    judge_rises,
    judge_same,
    judge_smallest,
)
from studies.reproduction.optima import Optimum, claimed_alpha0, claimed_beta0
from studies.reproduction.rules import Measured, Verdict, judge_cell
from tuning.reproduction._figure3_grid import FEW
from tuning.reproduction._intervals import percent
from tuning.reproduction.context import Found


@dataclass(frozen=True)
class GridFound:
    """One grid, and the optimum that the paper prints for it."""

    protocol: str
    printed: Optimum
    cells: Sequence[Cell]
    found: Found

    @cached_property
    def place(self) -> int:
        """Which cell the paper prints."""
        return self.cells.index(self.printed.cell)

    @cached_property
    def best(self) -> int:
        """Which cell has the lowest mean."""
        mean: list[float] = self.found["mean"]
        return mean.index(min(mean))

    @cached_property
    def among_best(self) -> set[Cell]:
        """The cells that can't be told from it."""
        return {cell for cell, among in zip(self.cells, self.found["among_best"], strict=True) if among}

    def values(self, param: str) -> set[float]:
        """The α₀ or the β₀ of these."""
        return {cell[0 if param == "alpha0" else 1] for cell in self.among_best}

    @property
    def title(self) -> str:
        """Where it was played, in words."""
        return f"{self.printed.scenario}, T = {self.printed.horizon}"


def verdicts(protocol: str, grids: Sequence[GridFound]) -> Iterator[Verdict]:
    """Of one protocol."""
    mine = [grid for grid in grids if grid.protocol == protocol]
    for grid in mine:
        yield _cell(grid)
        yield _regret(grid)
    horizons = sorted({grid.printed.horizon for grid in mine})
    yield _alpha(protocol, mine, horizons[0], horizons[-1])
    yield _beta(protocol, mine)
    yield _problems(protocol, [grid for grid in mine if grid.printed.horizon == horizons[0]])
    yield _insensitive(protocol, mine)


def _cell(grid: GridFound) -> Verdict:
    named, among = grid.found["named"][grid.place], grid.found["among_best"][grid.place]
    cost = percent(*grid.found["printed_cost"])
    best = grid.cells[grid.best]
    how = "can't be told from" if among else "is worse than"
    reason = (
        f"{_named(grid.printed.cell)} has regret {_mean(grid, grid.place)} and {how} the lowest cell ({_named(best)}: "
        f"{_mean(grid, grid.best)}); {FEW} replications a cell would name it best {share(named)} of the time."
    )
    if grid.place == grid.best:
        reason = (
            f"{_named(best)} has the lowest regret, {_mean(grid, grid.best)}; {FEW} replications a cell would name it "
            f"best {share(named)} of the time."
        )
    return Verdict(f"{grid.printed.claim}-cell", grid.protocol, cost, judge_cell(among, named), "cell", reason)


def _regret(grid: GridFound) -> Verdict:
    printed, found = grid.printed.regret, grid.found
    ours = Measured(*found["printed_cell"])
    word = judge_smallest(printed, ours, *found["nearly_all"])
    low, _, high = found["smallest"]
    ten_low, _, ten_high = found["ten"][grid.place]
    reason = (
        f"The mean of that cell is {format_number(ours.value)}; {FEW} replications of it give"
        f" {format_number(ten_low)} to "
        f"{format_number(ten_high)}, and the smallest of the sixteen such means, which is what gets printed,"
        f" {format_number(low)} to "
        f"{format_number(high)} (95 %)."
    )
    return Verdict(f"{grid.printed.claim}-regret", grid.protocol, ours, word, "smallest", reason)


def _alpha(protocol: str, grids: Sequence[GridFound], shorter: int, longer: int) -> Verdict:
    by_scenario: dict[str, dict[int, set[float]]] = {}
    for grid in grids:
        by_scenario.setdefault(grid.printed.scenario, {})[grid.printed.horizon] = grid.values("alpha0")
    word = judge_rises([(sets[shorter], sets[longer]) for sets in by_scenario.values()])
    parts = [f"{_listed(sets[shorter])} → {_listed(sets[longer])} in {name}" for name, sets in by_scenario.items()]
    reason = f"From T = {shorter} to T = {longer} the best α₀ on the grid goes {', '.join(parts)}"
    first, _ = claimed_alpha0()
    if not any(first in grid.values("alpha0") for grid in grids if grid.printed.horizon == shorter):
        reason += f"; {first:g} is nowhere among the best at T = {shorter}"
    return Verdict("figure3-alpha-grows", protocol, None, word, "rises", f"{reason}.")


def _beta(protocol: str, grids: Sequence[GridFound]) -> Verdict:
    claimed = claimed_beta0()
    asked = [grid for grid in grids if grid.printed.scenario in claimed]
    ranges = [claimed[grid.printed.scenario] for grid in asked]
    word = judge_range([grid.values("beta0") for grid in asked], ranges)
    parts = [
        f"{_listed(grid.values('beta0'))} in {grid.title} (claimed {low:g} to {high:g})"
        for grid, (low, high) in zip(asked, ranges, strict=True)
    ]
    return Verdict("figure3-beta-volatility", protocol, None, word, "range", f"The best β₀ is {'; '.join(parts)}.")


def _problems(protocol: str, grids: Sequence[GridFound]) -> Verdict:
    names = [grid.printed.scenario for grid in grids]
    horizon, worlds = grids[0].printed.horizon, grids[0].found["worlds"]
    word = judge_same([grid.found["played"] for grid in grids])
    if word is not None:
        reason = (
            f"At T = {horizon} the {len(grids[0].cells)} × {worlds} regrets of {', '.join(names)} are the same to the "
            "last digit: no shift ever happens, so the scenarios are one and the same stationary problem, and their "
            "printed optima differ by noise alone."
        )
        return Verdict("figure3-three-problems", protocol, None, word, "same", reason)
    sets = [grid.among_best for grid in grids]
    common = sorted(set.intersection(*sets))
    reason = (
        f"{_cells(common)} can't be told from the best in any of {', '.join(names)}."
        if common
        else f"The best cells are {'; '.join(f'{_cells(sorted(s))} in {n}' for s, n in zip(sets, names, strict=True))}."
    )
    return Verdict("figure3-three-problems", protocol, None, judge_different(sets), "different", reason)


def _insensitive(protocol: str, grids: Sequence[GridFound]) -> Verdict:
    """Judged on both parameters; what is shown is the one that the paper shows to prove it, β₀."""
    found = [(grid, each, Measured(*each["cost"])) for grid in grids for each in grid.found["sensitivity"]]
    word = judge_costs([cost for _, _, cost in found])
    dearest = {
        param: max((row for row in found if row[1]["param"] == param), key=lambda row: row[2].value)
        for param in ("beta0", "alpha0")
    }
    (where, beta, cost), (there, alpha, dear) = dearest["beta0"], dearest["alpha0"]
    reason = (
        f"With α₀ = {beta['held']:g}, β₀ = {beta['worst']:g} costs {_share(cost.value)} more regret than β₀ = "
        f"{beta['best']:g} ({where.title}); with β₀ = {alpha['held']:g}, α₀ = {alpha['worst']:g} costs "
        f"{_share(dear.value)} more than α₀ = {alpha['best']:g} ({there.title})."
    )
    return Verdict("figure3-insensitive", protocol, percent(*beta["cost"]), word, "insensitive", reason)


def share(value: float) -> str:
    """A share between 0 and 1 in whole percent; a small one is not called none.

    >>> share(0.2193), share(0.004), share(0.0)
    ('22 %', 'less than 1 %', '0 %')
    """
    return "less than 1 %" if 0.0 < value < 0.01 else _share(value)


def _share(value: float) -> str:
    return f"{100.0 * value:.0f} %"


def _mean(grid: GridFound, place: int) -> str:
    return f"{format_number(grid.found['mean'][place])} ± {grid.found['stderr'][place]:.2g}"


def _named(cell: Cell) -> str:
    return f"α₀ = {cell[0]:g}, β₀ = {cell[1]:g}"


def _cells(cells: Sequence[Cell]) -> str:
    return " and ".join(f"({_named(cell)})" for cell in cells)


def _listed(values: set[float]) -> str:
    return " or ".join(f"{value:g}" for value in sorted(values))
