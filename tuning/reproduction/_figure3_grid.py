"""One grid of Figure 3: all sixteen cells in the same worlds, and what the paper's ten replications would make of them.

The authors gave each cell ten replications of its own. Cells are therefore resampled one by one, ten worlds each, and
the cell with the smallest of the sixteen means is "named best", its mean what would be printed.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from environments.streams import Stream, generator
from environments.world import Floats
from policies.playing import REGRET
from studies.grid import GridSpec
from studies.reproduction.optima import Optimum
from tuning.fanout import Evaluator
from tuning.grids import game_of
from tuning.reproduction.context import Context
from tuning.statistics import indistinguishable, mean_interval, relative_interval

FEW = 10
"""Replications of a cell in the paper."""

DRAWS = 10_000

MIDDLE = (0.025, 0.5, 0.975)
NEARLY_ALL = (0.00135, 0.99865)
"""As much as three standard errors either way would be, were it normal."""

BOX = (0.05, 0.25, 0.5, 0.75, 0.95)


def replications(context: Context, horizon: int) -> int:
    """Worlds of a grid: enough to tell its cells apart; long ones cost more.

    >>> from tuning.crew import ALONE
    >>> replications(Context(0, 50, (), ALONE, ""), 1000)
    4000
    """
    return context.count(4000 if horizon <= 1000 else 2000, least=40)


def play_grid(context: Context, world: str, printed: Optimum) -> dict[str, Any]:
    """Everything that the tables and verdicts need of one grid, cells in the order of `GridSpec.cells`."""
    worlds = replications(context, printed.horizon)
    spec = GridSpec(scenario=world, horizon=printed.horizon, replications=worlds, seed=context.seed).resolved()
    evaluator = Evaluator(game_of(spec), context.crew)
    candidates = [spec.values(cell) for cell in spec.cells()]
    regrets = np.ascontiguousarray(evaluator.play(candidates, Stream.GRID, 0, worlds)[..., REGRET])
    place = [(cell["alpha0"], cell["beta0"]) for cell in spec.cells()].index(printed.cell)
    return {
        "worlds": worlds,
        "mean": regrets.mean(axis=1).tolist(),
        "stderr": (regrets.std(axis=1, ddof=1) / worlds**0.5).tolist(),
        "among_best": indistinguishable(regrets, context.seed).tolist(),
        "boxes": np.quantile(regrets, BOX, axis=1).T.tolist(),
        "printed_cell": list(mean_interval(regrets[place], context.seed)),
        "printed_cost": list(relative_interval(regrets[place], regrets[regrets.mean(axis=1).argmin()], context.seed)),
        "sensitivity": _sensitivity(regrets, spec, context.seed),
        **few(regrets, printed.regret, context.seed),
        "played": hashlib.sha256(regrets.tobytes()).hexdigest(),
    }


def few(regrets: Floats, printed: float, seed: int) -> dict[str, Any]:
    """What the paper's few replications a cell would say, by resampling regrets [cells, R].

    `named`: how often each cell would have the smallest mean; `ten`: where each cell's mean would lie; `smallest` and
    `nearly_all`: where the smallest of the means would; `below`: how often it would be no larger than the printed one.

    >>> few(np.array([[1.0] * 20, [2.0] * 20]), printed=1.5, seed=0)["named"]
    [1.0, 0.0]
    """
    rng = generator(seed, Stream.GRID, 0, "few replications")
    means = np.stack([cell[rng.integers(0, cell.size, (DRAWS, FEW))].mean(axis=1) for cell in regrets])
    smallest = means.min(axis=0)
    return {
        "named": (np.bincount(means.argmin(axis=0), minlength=len(regrets)) / DRAWS).tolist(),
        "ten": np.quantile(means, MIDDLE, axis=1).T.tolist(),
        "smallest": np.quantile(smallest, MIDDLE).tolist(),
        "nearly_all": np.quantile(smallest, NEARLY_ALL).tolist(),
        "below": float(np.mean(smallest <= printed)),
    }


def _sensitivity(regrets: Floats, spec: GridSpec, seed: int) -> list[dict[str, Any]]:
    """For α₀ and for β₀: what its worst value costs more than its best, with the other one at its best.

    They are chosen on one half of the worlds and compared on the other: the best of several, in the worlds where it
    is the best, looks better than it is.
    """
    cells = np.arange(len(regrets)).reshape(len(spec.alpha0), len(spec.beta0))
    chosen, fresh = np.array_split(regrets, [regrets.shape[1] // 2], axis=1)
    seen = chosen.mean(axis=1)
    alpha, beta = divmod(int(seen.argmin()), len(spec.beta0))
    out = []
    for param, line, held in (
        ("alpha0", cells[:, beta], spec.beta0[beta]),
        ("beta0", cells[alpha, :], spec.alpha0[alpha]),
    ):
        best, worst = int(line[seen[line].argmin()]), int(line[seen[line].argmax()])
        values = {"best": spec.cells()[best][param], "worst": spec.cells()[worst][param]}
        cost = relative_interval(fresh[worst], fresh[best], seed)
        out.append({"param": param, "held": held, **values, "cost": list(cost)})
    return out
