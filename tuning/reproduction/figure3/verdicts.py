"""Claims about Figure 3 and the parameters, and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ravenlab.common.text import format_number, format_range
from ravenlab.studies.paper.claims import Claim, ClaimResult, ClaimVerdict, Measurement, index_claims
from ravenlab.studies.paper.criteria import (
    Cell,
    combine_probabilities,
    judge_cell,
    judge_costs,
    judge_different,
    judge_joint,
    judge_range,
    judge_rises,
    judge_same,
    judge_smallest,
    two_sided,
)
from ravenlab.studies.paper.numbers import Optimum, claimed_alpha0, claimed_beta0, played_scenario, read_optima
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.tables import make_table
from ravenlab.tuning.reproduction.context import PieceData, RunContext
from ravenlab.tuning.reproduction.figure3.run import PAPER_REPLICATIONS, RESAMPLES, piece_key
from ravenlab.tuning.reproduction.measurements import interval_columns, to_percent

OPTIMA_GROUP = "The six optima of Figure 3"
CELLS = [(alpha0, beta0) for alpha0 in PAPER_VALUES for beta0 in PAPER_VALUES]  # in the order of `GridSpec.cells`
QUANTILE_COLUMNS = ("q05", "q25", "q50", "q75", "q95")
CELL_MEAN_COLUMNS = ("cell_mean_low", "cell_mean", "cell_mean_high")
SMALLEST_COLUMNS = ("smallest_low", "smallest", "smallest_high")


def format_cell(alpha0: float, beta0: float) -> str:
    """Format the parameters of a cell."""
    return f"α₀ = {alpha0:g}, β₀ = {beta0:g}"


def _optimum_claims() -> list[Claim]:
    """Two claims per optimum: the cell and its regret."""
    out = []
    for optimum in read_optima():
        place, where = "Section 4.2, Figure 3", f"{optimum.name}, T = {optimum.horizon:,}"
        cell = f"{where}: the best cell is {format_cell(*optimum.cell)}."
        regret = f"{where}: the regret of the best cell is {optimum.regret:g}."
        out.append(Claim(f"{optimum.claim_prefix}-cell", place, cell, None, "%", OPTIMA_GROUP))
        out.append(Claim(f"{optimum.claim_prefix}-regret", place, regret, optimum.regret, "regret", OPTIMA_GROUP))
    return out


CLAIMS = index_claims(
    [
        Claim(
            "figure3-alpha-grows",
            "Section 4.2",
            "The best α₀ grows with the horizon, from 0.5 (short) to 5.0 (long).",
        ),
        Claim(
            "figure3-beta-volatility",
            "Section 4.2",
            "The best β₀ is low (0.5 to 1) under high variance and high (5 to 10) under gradual drift of the means.",
        ),
        Claim(
            "figure3-three-problems",
            "Section 4.2",
            "At T = 1,000, variance drift, incremental drift and blips have different best parameters.",
        ),
        Claim(
            "figure3-insensitive",
            "Sections 1 and 4.2",
            "RAVEN-UCB has low sensitivity to its parameters: its regret hardly depends on β₀.",
            unit="%",
        ),
        Claim(
            "figure3-optima-joint",
            "Section 4.2, Figure 3",
            "The six printed regrets are those of the best of sixteen cells with ten replications each.",
            unit="probability",
        ),
        *_optimum_claims(),
    ]
)


@dataclass(frozen=True)
class PlayedGrid:
    """One grid and the optimum that the paper prints for it."""

    protocol: str
    optimum: Optimum
    data: PieceData

    @cached_property
    def printed(self) -> int:
        """Index of the printed cell."""
        return CELLS.index(self.optimum.cell)

    @cached_property
    def lowest(self) -> int:
        """Index of the cell with the lowest mean."""
        mean: list[float] = self.data["mean"]
        return mean.index(min(mean))

    @cached_property
    def among_best(self) -> set[Cell]:
        """Cells that are statistically indistinguishable from the lowest."""
        return {cell for cell, is_among in zip(CELLS, self.data["among_best"], strict=True) if is_among}

    def best_values(self, param: str) -> set[float]:
        """Values of α₀ or β₀ among the best."""
        return {cell[0 if param == "alpha0" else 1] for cell in self.among_best}

    @property
    def probability(self) -> float:
        """Two-sided probability of the printed regret."""
        return two_sided(self.data["below"], self.data["above"], RESAMPLES)

    @property
    def title(self) -> str:
        """Scenario and horizon."""
        return f"{self.optimum.scenario}, T = {self.optimum.horizon:,}"


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Cells, optima and sensitivities of all grids, and the verdicts."""
    grids = [
        PlayedGrid(protocol, optimum, pieces[piece_key(protocol, optimum)])
        for protocol in context.protocols
        for optimum in read_optima()
    ]
    by_protocol = {name: [grid for grid in grids if grid.protocol == name] for name in context.protocols}
    results = [result for protocol, played in by_protocol.items() for result in _judge(protocol, played)]
    verdicts = {(result.claim.key, result.protocol): result.verdict for result in results}
    return ExperimentResult(
        tables={
            "cells": make_table(row for grid in grids for row in _cell_rows(grid)),
            "optima": make_table(_optimum_row(grid, verdicts) for grid in grids),
            "sensitivity": make_table(row for grid in grids for row in _sensitivity_rows(grid)),
        },
        facts={
            "replications": PAPER_REPLICATIONS,
            "resamples": RESAMPLES,
            "joint_probability": {name: _joint_probability(played) for name, played in by_protocol.items()},
            "one_problem": {name: _is_one_problem(played) for name, played in by_protocol.items()},
        },
        verdicts=results,
    )


def _grid_columns(grid: PlayedGrid) -> dict[str, Any]:
    """The first columns of every table."""
    return {
        "protocol": grid.protocol,
        "scenario": grid.optimum.scenario,
        "world": played_scenario(grid.protocol, grid.optimum.scenario),
        "horizon": grid.optimum.horizon,
        "worlds": grid.data["worlds"],
    }


def _cell_rows(grid: PlayedGrid) -> Iterator[dict[str, Any]]:
    data = grid.data
    for index, (alpha0, beta0) in enumerate(CELLS):
        yield {
            **_grid_columns(grid),
            "alpha0": alpha0,
            "beta0": beta0,
            "regret": data["mean"][index],
            "stderr": data["stderr"][index],
            "among_best": data["among_best"][index],
            "selected": data["selected"][index],
            "printed": (alpha0, beta0) == grid.optimum.cell,
            **dict(zip(QUANTILE_COLUMNS, data["boxes"][index], strict=True)),
            **dict(zip(CELL_MEAN_COLUMNS, data["cell_mean"][index], strict=True)),
        }


def _optimum_row(grid: PlayedGrid, verdicts: Mapping[tuple[str, str], ClaimVerdict]) -> dict[str, Any]:
    data, optimum = grid.data, grid.optimum
    best_alpha0, best_beta0 = CELLS[grid.lowest]
    return {
        **_grid_columns(grid),
        "alpha0": optimum.alpha0,
        "beta0": optimum.beta0,
        "printed_regret": optimum.regret,
        **interval_columns("regret", data["printed_cell"]),
        "stderr": data["stderr"][grid.printed],
        **dict(zip(CELL_MEAN_COLUMNS, data["cell_mean"][grid.printed], strict=True)),
        **dict(zip(SMALLEST_COLUMNS, data["smallest"], strict=True)),
        **dict(zip(("smallest_least", "smallest_most"), data["smallest_997"], strict=True)),
        "smallest_below_printed": data["below"],
        "probability": grid.probability,
        "selected": data["selected"][grid.printed],
        "among_best": data["among_best"][grid.printed],
        "best_alpha0": best_alpha0,
        "best_beta0": best_beta0,
        "best_regret": data["mean"][grid.lowest],
        **interval_columns("cost", data["printed_cost"]),
        "cell_verdict": verdicts[f"{optimum.claim_prefix}-cell", grid.protocol],
        "regret_verdict": verdicts[f"{optimum.claim_prefix}-regret", grid.protocol],
    }


def _sensitivity_rows(grid: PlayedGrid) -> Iterator[dict[str, Any]]:
    for line in grid.data["sensitivity"]:
        yield {**_grid_columns(grid), **line, **interval_columns("cost", line["cost"])}


def _joint_probability(grids: Sequence[PlayedGrid]) -> float:
    """Joint probability of all printed regrets."""
    return combine_probabilities([grid.probability for grid in grids])


def _is_one_problem(grids: Sequence[PlayedGrid]) -> bool:
    """Whether the grids of the shorter horizon have identical regrets."""
    shortest = min(grid.optimum.horizon for grid in grids)
    return len({grid.data["regret_hash"] for grid in grids if grid.optimum.horizon == shortest}) == 1


def _judge(protocol: str, grids: Sequence[PlayedGrid]) -> Iterator[ClaimResult]:
    for grid in grids:
        yield _judge_cell(grid)
        yield _judge_regret(grid)
    horizons = sorted({grid.optimum.horizon for grid in grids})
    yield _judge_alpha(protocol, grids, horizons[0], horizons[-1])
    yield _judge_beta(protocol, grids)
    yield _judge_problems(protocol, [grid for grid in grids if grid.optimum.horizon == horizons[0]])
    yield _judge_sensitivity(protocol, grids)
    yield _judge_jointly(protocol, grids)


def _judge_cell(grid: PlayedGrid) -> ClaimResult:
    share, is_among_best = grid.data["selected"][grid.printed], grid.data["among_best"][grid.printed]
    selected = f"with {PAPER_REPLICATIONS} replications per cell it would be selected {format_share(share)} of the time"
    printed = f"{format_cell(*grid.optimum.cell)} has regret {_format_mean(grid, grid.printed)}"
    lowest = f"the lowest cell ({format_cell(*CELLS[grid.lowest])}: {_format_mean(grid, grid.lowest)})"
    if grid.printed == grid.lowest:
        reason = f"{printed}, the lowest of all cells; {selected}."
    elif is_among_best:
        reason = f"{printed} and is statistically indistinguishable from {lowest}; {selected}."
    else:
        reason = f"{printed} and is worse than {lowest}; {selected}."
    claim, cost = CLAIMS[f"{grid.optimum.claim_prefix}-cell"], to_percent(grid.data["printed_cost"])
    return ClaimResult(claim, grid.protocol, cost, judge_cell(is_among_best, share), "cell", reason)


def _judge_regret(grid: PlayedGrid) -> ClaimResult:
    data = grid.data
    ours = Measurement(*data["printed_cell"])
    verdict = judge_smallest(grid.optimum.regret, ours, *data["smallest_997"])
    low, _, high = data["smallest"]
    mean_low, _, mean_high = data["cell_mean"][grid.printed]
    reason = (
        f"The mean regret of that cell is {format_number(ours.value)}. The mean of {PAPER_REPLICATIONS} replications "
        f"is {format_range((mean_low, mean_high))}, and the smallest of sixteen such means, which is what is printed, "
        f"is {format_range((low, high))} (95 %). It is at most {grid.optimum.regret:g} with probability "
        f"{format_probability(data['below'])}."
    )
    claim = CLAIMS[f"{grid.optimum.claim_prefix}-regret"]
    return ClaimResult(claim, grid.protocol, ours, verdict, "smallest", reason)


def _judge_jointly(protocol: str, grids: Sequence[PlayedGrid]) -> ClaimResult:
    joint = _joint_probability(grids)
    least = min(grids, key=lambda grid: grid.probability)
    reason = (
        f"The joint probability of the {len(grids)} printed regrets is {format_probability(joint)}. The least likely "
        f"is {least.optimum.regret:g} ({least.title}): its two-sided probability is "
        f"{format_probability(least.probability)}."
    )
    claim = CLAIMS["figure3-optima-joint"]
    return ClaimResult(claim, protocol, Measurement(joint, joint, joint), judge_joint(joint), "joint", reason)


def _judge_alpha(protocol: str, grids: Sequence[PlayedGrid], shorter: int, longer: int) -> ClaimResult:
    by_scenario: dict[str, dict[int, set[float]]] = {}
    for grid in grids:
        by_scenario.setdefault(grid.optimum.scenario, {})[grid.optimum.horizon] = grid.best_values("alpha0")
    verdict = judge_rises([(best[shorter], best[longer]) for best in by_scenario.values()])
    parts = [
        f"{_format_values(best[shorter])} → {_format_values(best[longer])} in {name}"
        for name, best in by_scenario.items()
    ]
    reason = f"From T = {shorter:,} to T = {longer:,} the best α₀ on the grid changes {', '.join(parts)}"
    claimed_short, _ = claimed_alpha0()
    if not any(claimed_short in grid.best_values("alpha0") for grid in grids if grid.optimum.horizon == shorter):
        reason += f"; {claimed_short:g} is never among the best at T = {shorter:,}"
    return ClaimResult(CLAIMS["figure3-alpha-grows"], protocol, None, verdict, "rises", f"{reason}.")


def _judge_beta(protocol: str, grids: Sequence[PlayedGrid]) -> ClaimResult:
    claimed = claimed_beta0()
    covered = [grid for grid in grids if grid.optimum.scenario in claimed]
    ranges = [claimed[grid.optimum.scenario] for grid in covered]
    verdict = judge_range([grid.best_values("beta0") for grid in covered], ranges)
    parts = [
        f"{_format_values(grid.best_values('beta0'))} in {grid.title} (claimed {low:g} to {high:g})"
        for grid, (low, high) in zip(covered, ranges, strict=True)
    ]
    reason = f"The best β₀ is {'; '.join(parts)}."
    return ClaimResult(CLAIMS["figure3-beta-volatility"], protocol, None, verdict, "range", reason)


def _judge_problems(protocol: str, grids: Sequence[PlayedGrid]) -> ClaimResult:
    claim = CLAIMS["figure3-three-problems"]
    names = [grid.optimum.scenario for grid in grids]
    verdict = judge_same([grid.data["regret_hash"] for grid in grids])
    if verdict is not None:
        reason = (
            f"At T = {grids[0].optimum.horizon:,} the {len(CELLS)} × {grids[0].data['worlds']:,} regrets of "
            f"{', '.join(names)} are identical to the last digit: no change happens, so the scenarios are the same "
            "stationary problem, and their printed optima differ only by noise."
        )
        return ClaimResult(claim, protocol, None, verdict, "same", reason)
    best = [grid.among_best for grid in grids]
    common = sorted(set.intersection(*best))
    if common:
        reason = f"{_format_cells(common)} is among the best in all of {', '.join(names)}."
    else:
        parts = [f"{_format_cells(sorted(cells))} in {name}" for cells, name in zip(best, names, strict=True)]
        reason = f"The best cells are {'; '.join(parts)}."
    return ClaimResult(claim, protocol, None, judge_different(best), "different", reason)


def _judge_sensitivity(protocol: str, grids: Sequence[PlayedGrid]) -> ClaimResult:
    """Judge both parameters; the number shown is that of β₀, which the paper plots."""
    rows = [(grid, line, Measurement(*line["cost"])) for grid in grids for line in grid.data["sensitivity"]]
    verdict = judge_costs([cost for _, _, cost in rows])
    (beta_grid, beta, beta_cost), (alpha_grid, alpha, alpha_cost) = (
        max((row for row in rows if row[1]["param"] == param), key=lambda row: row[2].value)
        for param in ("beta0", "alpha0")
    )
    reason = (
        f"With α₀ = {beta['other']:g}, the regret of β₀ = {beta['worst']:g} is {100.0 * beta_cost.value:.0f} % higher "
        f"than that of β₀ = {beta['best']:g} ({beta_grid.title}). With β₀ = {alpha['other']:g}, the regret of "
        f"α₀ = {alpha['worst']:g} is {100.0 * alpha_cost.value:.0f} % higher than that of α₀ = {alpha['best']:g} "
        f"({alpha_grid.title})."
    )
    return ClaimResult(CLAIMS["figure3-insensitive"], protocol, to_percent(beta_cost), verdict, "insensitive", reason)


def format_share(value: float) -> str:
    """Format a share between 0 and 1 in percent; a small share is not rounded to zero.

    >>> format_share(0.2193), format_share(0.004), format_share(0.0)
    ('22 %', 'less than 1 %', '0 %')
    """
    return "less than 1 %" if 0.0 < value < 0.01 else f"{100.0 * value:.0f} %"


def format_probability(value: float) -> str:
    """Format a probability with two digits; one below that of a single resample is not shown as zero."""
    return f"{value:.2g}" if value >= 1.0 / RESAMPLES else f"below {1.0 / RESAMPLES:g}"


def _format_mean(grid: PlayedGrid, index: int) -> str:
    return f"{format_number(grid.data['mean'][index])} ± {grid.data['stderr'][index]:.2g}"


def _format_cells(cells: Sequence[Cell]) -> str:
    return " and ".join(f"({format_cell(*cell)})" for cell in cells)


def _format_values(values: set[float]) -> str:
    return " or ".join(f"{value:g}" for value in sorted(values))
