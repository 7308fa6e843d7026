"""Figure 3 and the six optima of Section 4.2: 4 × 4 grids over α₀ and β₀, all cells on the same worlds.

As published, no change happens before t = 5,000, so at T = 1,000 all three scenarios are the same stationary problem.
As defined, drift, variance growth and blips happen within the horizon.

The authors ran ten separate replications per cell. Cells are therefore resampled independently, ten worlds each; the
cell with the smallest of the sixteen means is selected, and its mean is what would be printed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_p_value
from ravenlab.studies.paper.claims import Claim, ClaimResult
from ravenlab.studies.paper.criteria import combine_probabilities, two_sided
from ravenlab.studies.paper.numbers import Optimum, claimed_alpha0, claimed_beta0, played_scenario, read_optima
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import make_table, to_records
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext
from ravenlab.tuning.reproduction.figure3_figures import plot_figures
from ravenlab.tuning.reproduction.figure3_grids import (
    CELL_MEAN_COLUMNS,
    CELLS,
    PAPER_REPLICATIONS,
    QUANTILE_COLUMNS,
    RESAMPLES,
    SMALLEST_COLUMNS,
    PlayedGrid,
    format_cell,
    format_share,
    list_grids,
    make_pieces,
    piece_key,
)
from ravenlab.tuning.reproduction.measurements import interval_columns, read_measurement
from ravenlab.tuning.reproduction.texts import Row, judge, read_claims, read_texts, where

OPTIMA_GROUP = "The six optima of Figure 3"


def _optimum_claims() -> Iterator[Claim]:
    """Two claims per optimum: the cell and its regret."""
    reasons = read_texts("figure3")["reasons"]
    place = "Section 4.2, Figure 3"
    for optimum in read_optima():
        where = f"{optimum.name}, T = {optimum.horizon:,}"
        prefix = optimum.claim_prefix
        cell = f"{where}: the best cell is {format_cell(vars(optimum))}."
        regret = f"{where}: the regret of the best cell is {optimum.regret:g}."
        yield Claim(f"{prefix}-cell", place, cell, None, "%", OPTIMA_GROUP, "cell", reasons["cell"])
        yield Claim(
            f"{prefix}-regret", place, regret, optimum.regret, "regret", OPTIMA_GROUP, "smallest", reasons["regret"]
        )


CLAIMS = read_claims("figure3") | {claim.key: claim for claim in _optimum_claims()}


CONSTANTS: dict[str, Any] = {
    "replications": PAPER_REPLICATIONS,
    "cell": format_cell,
    "share": format_share,
    "probability": format_p_value,
}


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Cells, optima and sensitivities of all grids, and the verdicts."""
    played = [
        (protocol, optimum, pieces[piece_key(protocol, optimum)])
        for protocol in context.protocols
        for optimum in read_optima()
    ]
    cells = make_table(row for grid in played for row in _cell_rows(*grid))
    sensitivity = make_table(row for grid in played for row in _sensitivity_rows(*grid))
    optima = []
    verdicts = []
    joint = {}
    one_problem = {}
    for protocol in context.protocols:
        grids = list_grids(to_records(cells), protocol)
        rows = [_optimum_row(*grid) for grid in played if grid[0] == protocol]
        results = [[_judge_cell(grid, row), _judge_regret(grid, row)] for grid, row in zip(grids, rows, strict=True)]
        optima += [
            {**row, "cell_verdict": cell.verdict, "regret_verdict": regret.verdict}
            for row, (cell, regret) in zip(rows, results, strict=True)
        ]
        horizons = sorted({grid.optimum.horizon for grid in grids})
        short = [grid for grid in grids if grid.optimum.horizon == horizons[0]]
        hashes = [pieces[piece_key(protocol, grid.optimum)]["regret_hash"] for grid in short]
        joint[protocol] = combine_probabilities([row["probability"] for row in rows])
        one_problem[protocol] = len(set(hashes)) == 1
        verdicts += [
            *(result for pair in results for result in pair),
            _judge_alpha(protocol, grids, horizons[0], horizons[-1]),
            _judge_beta(protocol, grids),
            _judge_problems(protocol, short, hashes),
            _judge_sensitivity(protocol, where(to_records(sensitivity), protocol=protocol)),
            _judge_jointly(protocol, rows, joint[protocol]),
        ]
    return ExperimentResult(
        tables={"cells": cells, "optima": make_table(optima), "sensitivity": sensitivity},
        facts={
            "replications": PAPER_REPLICATIONS,
            "resamples": RESAMPLES,
            "joint_probability": joint,
            "one_problem": one_problem,
        },
        verdicts=verdicts,
    )


def _grid_columns(protocol: str, optimum: Optimum, data: PieceData) -> dict[str, Any]:
    """The first columns of every table."""
    return {
        "protocol": protocol,
        "scenario": optimum.scenario,
        "world": played_scenario(protocol, optimum.scenario),
        "horizon": optimum.horizon,
        "worlds": data["worlds"],
    }


def _cell_rows(protocol: str, optimum: Optimum, data: PieceData) -> Iterator[dict[str, Any]]:
    for index, (alpha0, beta0) in enumerate(CELLS):
        yield {
            **_grid_columns(protocol, optimum, data),
            "alpha0": alpha0,
            "beta0": beta0,
            "regret": data["mean"][index],
            "stderr": data["stderr"][index],
            "among_best": data["among_best"][index],
            "selected": data["selected"][index],
            "printed": (alpha0, beta0) == optimum.cell,
            **dict(zip(QUANTILE_COLUMNS, data["boxes"][index], strict=True)),
            **dict(zip(CELL_MEAN_COLUMNS, data["cell_mean"][index], strict=True)),
        }


def _optimum_row(protocol: str, optimum: Optimum, data: PieceData) -> dict[str, Any]:
    printed = CELLS.index(optimum.cell)
    lowest = data["mean"].index(min(data["mean"]))
    best_alpha0, best_beta0 = CELLS[lowest]
    return {
        **_grid_columns(protocol, optimum, data),
        "alpha0": optimum.alpha0,
        "beta0": optimum.beta0,
        "printed_regret": optimum.regret,
        **interval_columns("regret", data["printed_cell"]),
        "stderr": data["stderr"][printed],
        **dict(zip(CELL_MEAN_COLUMNS, data["cell_mean"][printed], strict=True)),
        **dict(zip(SMALLEST_COLUMNS, data["smallest"], strict=True)),
        **dict(zip(("smallest_least", "smallest_most"), data["smallest_997"], strict=True)),
        "smallest_below_printed": data["below"],
        "probability": two_sided(data["below"], data["above"], RESAMPLES),
        "selected": data["selected"][printed],
        "among_best": data["among_best"][printed],
        "best_alpha0": best_alpha0,
        "best_beta0": best_beta0,
        "best_regret": data["mean"][lowest],
        **interval_columns("cost", data["printed_cost"]),
    }


def _sensitivity_rows(protocol: str, optimum: Optimum, data: PieceData) -> Iterator[dict[str, Any]]:
    for line in data["sensitivity"]:
        yield {**_grid_columns(protocol, optimum, data), **line, **interval_columns("cost", line["cost"])}


def _judge_cell(grid: PlayedGrid, row: Row) -> ClaimResult:
    return judge(
        CLAIMS[f"{grid.optimum.claim_prefix}-cell"],
        grid.protocol,
        read_measurement(row, "cost").scaled(100.0),
        row["among_best"],
        row["selected"],
        printed=grid.printed,
        lowest=grid.lowest,
        **CONSTANTS,
    )


def _judge_regret(grid: PlayedGrid, row: Row) -> ClaimResult:
    claim = CLAIMS[f"{grid.optimum.claim_prefix}-regret"]
    ours = read_measurement(row, "regret")
    evidence = row["printed_regret"], ours, row["smallest_least"], row["smallest_most"]
    return judge(claim, grid.protocol, ours, *evidence, row=row, **CONSTANTS)


def _judge_jointly(protocol: str, rows: Sequence[Row], joint: float) -> ClaimResult:
    least = min(rows, key=lambda row: float(row["probability"]))
    ours = Interval(joint, joint, joint)
    return judge(CLAIMS["figure3-optima-joint"], protocol, ours, joint, count=len(rows), least=least, **CONSTANTS)


def _judge_alpha(protocol: str, grids: Sequence[PlayedGrid], shorter: int, longer: int) -> ClaimResult:
    best = {(grid.optimum.scenario, grid.optimum.horizon): grid.best_values("alpha0") for grid in grids}
    scenarios = list(dict.fromkeys(scenario for scenario, _ in best))
    claimed, _ = claimed_alpha0()
    return judge(
        CLAIMS["figure3-alpha-grows"],
        protocol,
        None,
        [(best[name, shorter], best[name, longer]) for name in scenarios],
        shorter=shorter,
        longer=longer,
        changes=[(name, best[name, shorter], best[name, longer]) for name in scenarios],
        claimed=claimed,
        never=not any(claimed in best[name, shorter] for name in scenarios),
    )


def _judge_beta(protocol: str, grids: Sequence[PlayedGrid]) -> ClaimResult:
    claimed = claimed_beta0()
    covered = [grid for grid in grids if grid.optimum.scenario in claimed]
    best = [grid.best_values("beta0") for grid in covered]
    ranges = [claimed[grid.optimum.scenario] for grid in covered]
    return judge(
        CLAIMS["figure3-beta-volatility"],
        protocol,
        None,
        best,
        ranges,
        best=[(grid.title, values, *limits) for grid, values, limits in zip(covered, best, ranges, strict=True)],
    )


def _judge_problems(protocol: str, grids: Sequence[PlayedGrid], regret_hashes: list[str]) -> ClaimResult:
    """Judge whether the scenarios differ: they do not if all regrets are identical."""
    is_one = len(set(regret_hashes)) == 1
    best = [grid.among_best for grid in grids]
    return judge(
        CLAIMS["figure3-three-problems"],
        protocol,
        None,
        regret_hashes if is_one else best,
        rule="same" if is_one else "different",
        one_problem=is_one,
        horizon=grids[0].optimum.horizon,
        cells=len(CELLS),
        worlds=grids[0].cells[0]["worlds"],
        names=[grid.optimum.scenario for grid in grids],
        best=best,
        common=set.intersection(*best),
    )


def _judge_sensitivity(protocol: str, rows: Sequence[Row]) -> ClaimResult:
    """Judge both parameters; the number shown is that of β₀, which the paper plots."""
    beta, alpha = (max(where(rows, param=param), key=lambda row: float(row["cost"])) for param in ("beta0", "alpha0"))
    costs = [read_measurement(row, "cost") for row in rows]
    ours = read_measurement(beta, "cost").scaled(100.0)
    return judge(CLAIMS["figure3-insensitive"], protocol, ours, costs, alpha=alpha, beta=beta)


EXPERIMENT = Experiment("figure3", make_pieces, evaluate, plot_figures, CONSTANTS, claims=CLAIMS)
