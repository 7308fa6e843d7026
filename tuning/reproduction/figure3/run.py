"""Play all sixteen cells of each grid on the same worlds, and resample them with the paper's ten replications.

As published, no change happens before t = 5,000, so at T = 1,000 all three scenarios are the same stationary problem.
As defined, drift, variance growth and blips happen within the horizon.

The authors ran ten separate replications per cell. Cells are therefore resampled independently, ten worlds each; the
cell with the smallest of the sixteen means is selected, and its mean is what would be printed.
"""

import hashlib
from functools import partial
from typing import Any

import numpy as np

from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.numbers import Optimum, played_scenario, read_optima
from ravenlab.studies.registry import PAPER_VALUES
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.statistics.intervals import indistinguishable, mean_interval, relative_interval
from ravenlab.tuning.grid_run import grid_problem, play_cells
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
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
        "printed_cell": list(mean_interval(regrets[printed], context.seed)),
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
