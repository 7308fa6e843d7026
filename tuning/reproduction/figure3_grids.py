"""The grids of Figure 3: how they are played and resampled."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.criteria import Cell
from ravenlab.studies.paper.numbers import Optimum, played_scenario, read_optima
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.statistics.intervals import indistinguishable, level_interval, relative_interval
from ravenlab.tuning.grid_run import grid_problem, play_cells
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.texts import Row, where
from ravenlab.tuning.workers.problem import Evaluator

PAPER_REPLICATIONS = 10  # replications per cell in the paper
RESAMPLES = 10_000
CELLS = [(alpha0, beta0) for alpha0 in PAPER_VALUES for beta0 in PAPER_VALUES]  # in the order of `GridSpec.cells`

CENTRAL_95 = (0.025, 0.5, 0.975)
CENTRAL_997 = (0.00135, 0.99865)  # three standard errors on either side, if the distribution were normal
BOX = (0.05, 0.25, 0.5, 0.75, 0.95)


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per grid."""
    return [
        RunPiece(
            piece_key(protocol, optimum),
            1.8 if optimum.horizon <= 1000 else 4.2,
            partial(play_grid, protocol=protocol, optimum=optimum),
        )
        for protocol in context.protocols
        for optimum in read_optima()
    ]


def piece_key(protocol: str, optimum: Optimum) -> str:
    """Key of the piece of one grid."""
    return f"figure3/{protocol}/{optimum.scenario}-T{optimum.horizon}"


def count_worlds(context: RunContext, horizon: int) -> int:
    """Worlds of a grid: enough to distinguish its cells; long horizons cost more."""
    return context.count(4000 if horizon <= 1000 else 2000, least=40)


def make_spec(protocol: str, optimum: Optimum, worlds: int, seed: int = 0) -> GridSpec:
    """The grid in which the paper found an optimum."""
    return GridSpec(
        scenario=played_scenario(protocol, optimum.scenario),
        horizon=optimum.horizon,
        replications=worlds,
        seed=seed,
        alpha0=PAPER_VALUES,
        beta0=PAPER_VALUES,
    )


def play_grid(context: RunContext, protocol: str, optimum: Optimum) -> PieceData:
    """Everything that tables and verdicts need of one grid, cells in the order of `GridSpec.cells`."""
    worlds = count_worlds(context, optimum.horizon)
    spec = make_spec(protocol, optimum, worlds, context.seed)
    regrets = play_cells(spec, Evaluator(grid_problem(spec), context.workers))
    printed = CELLS.index(optimum.cell)
    lowest = regrets.mean(axis=1).argmin()
    return {
        "worlds": worlds,
        "mean": regrets.mean(axis=1).tolist(),
        "stderr": (regrets.std(axis=1, ddof=1) / worlds**0.5).tolist(),
        "among_best": indistinguishable(regrets, context.seed).tolist(),
        "boxes": np.quantile(regrets, BOX, axis=1).T.tolist(),
        "printed_cell": list(level_interval(regrets[printed], context.seed)),
        "printed_cost": list(relative_interval(regrets[printed], regrets[lowest], context.seed)),
        "sensitivity": _measure_sensitivity(regrets, spec, context.seed),
        **resample(regrets, optimum.regret, context.seed),
        "regret_hash": hashlib.sha256(regrets.tobytes()).hexdigest(),
    }


def resample(regrets: Floats, printed: float, seed: int) -> dict[str, Any]:
    """Simulate the paper's design by resampling regrets [cells, R].

    `selected`: how often each cell has the smallest mean; `cell_mean`: distribution of each cell's mean; `smallest`
    and `smallest_997`: distribution of the smallest mean; `below` and `above`: how often it is at most or at least the
    printed regret.
    """
    rng = generator(seed, Stream.GRID, 0, "few replications")
    shape = (RESAMPLES, PAPER_REPLICATIONS)
    means = np.stack([cell[rng.integers(0, cell.size, shape)].mean(axis=1) for cell in regrets])
    smallest = means.min(axis=0)
    return {
        "selected": (np.bincount(means.argmin(axis=0), minlength=len(regrets)) / RESAMPLES).tolist(),
        "cell_mean": np.quantile(means, CENTRAL_95, axis=1).T.tolist(),
        "smallest": np.quantile(smallest, CENTRAL_95).tolist(),
        "smallest_997": np.quantile(smallest, CENTRAL_997).tolist(),
        "below": float(np.mean(smallest <= printed)),
        "above": float(np.mean(smallest >= printed)),
    }


def _measure_sensitivity(regrets: Floats, spec: GridSpec, seed: int) -> list[dict[str, Any]]:
    """Excess regret of the worst over the best value of α₀ and of β₀, with the other parameter at its best value.

    Values are selected on one half of the worlds and compared on the other half, to avoid selection bias.
    """
    cells = np.arange(len(regrets)).reshape(len(spec.alpha0), len(spec.beta0))
    selection, held_out = np.array_split(regrets, [regrets.shape[1] // 2], axis=1)
    means = selection.mean(axis=1)
    alpha, beta = divmod(int(means.argmin()), len(spec.beta0))
    out = []
    for param, line, other in (
        ("alpha0", cells[:, beta], spec.beta0[beta]),
        ("beta0", cells[alpha, :], spec.alpha0[alpha]),
    ):
        best = int(line[means[line].argmin()])
        worst = int(line[means[line].argmax()])
        values = {"best": spec.cells()[best][param], "worst": spec.cells()[worst][param]}
        cost = relative_interval(held_out[worst], held_out[best], seed)
        out.append({"param": param, "other": other, **values, "cost": list(cost)})
    return out


QUANTILE_COLUMNS = ("q05", "q25", "q50", "q75", "q95")
CELL_MEAN_COLUMNS = ("cell_mean_low", "cell_mean", "cell_mean_high")
SMALLEST_COLUMNS = ("smallest_low", "smallest", "smallest_high")


def format_cell(row: Row) -> str:
    """Format the parameters of a cell.

    >>> format_cell({"alpha0": 0.5, "beta0": 10.0})
    'α₀ = 0.5, β₀ = 10'
    """
    return f"α₀ = {row['alpha0']:g}, β₀ = {row['beta0']:g}"


def format_share(value: float) -> str:
    """Format a share between 0 and 1 in percent; a small share is not rounded to zero.

    >>> format_share(0.2193), format_share(0.004), format_share(0.0)
    ('22 %', 'less than 1 %', '0 %')
    """
    return "less than 1 %" if 0.0 < value < 0.01 else f"{100.0 * value:.0f} %"


@dataclass(frozen=True)
class PlayedGrid:
    """The cells of one grid, as rows of the table, and the optimum that the paper prints for it."""

    protocol: str
    optimum: Optimum
    cells: list[Row]

    @property
    def printed(self) -> Row:
        """The printed cell."""
        return next(cell for cell in self.cells if cell["printed"])

    @property
    def lowest(self) -> Row:
        """The cell with the lowest mean."""
        return min(self.cells, key=lambda cell: float(cell["regret"]))

    @cached_property
    def among_best(self) -> set[Cell]:
        """Cells that are statistically indistinguishable from the lowest."""
        return {(cell["alpha0"], cell["beta0"]) for cell in self.cells if cell["among_best"]}

    def best_values(self, param: str) -> list[float]:
        """Values of α₀ or β₀ among the best, in ascending order."""
        return sorted({cell[param] for cell in self.cells if cell["among_best"]})

    @property
    def title(self) -> str:
        """Scenario and horizon."""
        return f"{self.optimum.scenario}, T = {self.optimum.horizon:,}"


def list_grids(cells: Sequence[Row], protocol: str) -> list[PlayedGrid]:
    """List the grids of a protocol in the order of the paper, from the table of cells."""
    return [
        PlayedGrid(
            protocol, optimum, where(cells, protocol=protocol, scenario=optimum.scenario, horizon=optimum.horizon)
        )
        for optimum in read_optima()
    ]
