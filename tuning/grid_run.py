"""Play a grid: every cell in the same worlds, landed as it is done, compared when all are there.

The storage keeps a cell's mean and standard error, not what it got in each world, and the comparison is paired. So a
run that goes on after another plays the cells that are missing first, and then those again that had landed before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from environments.errors import InputError
from environments.streams import Stream
from environments.world import Floats
from policies.engine.play import REGRET
from studies.results.grid import Grid
from studies.spec.grid import GRID_POLICY, GridSpec, ResolvedGridSpec
from studies.statistics.intervals import indistinguishable
from studies.storage import keys
from studies.storage.lock import run_as_driver
from studies.storage.trials import check_cells, read_grid, store_cell
from tuning.search.loop import Progress
from tuning.study_run import check_comparable, open_study, require_loaded
from tuning.workers.local import SERIAL, Workers
from tuning.workers.problem import Evaluator, Problem

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


BATCH = 16
"""Cells played at a time: enough that drawing worlds, anew for each batch where they are many, hardly counts."""

SAME = 1e-9
"""How far a cell that is played again may lie from what landed: another machine's last digits, nothing more."""


@dataclass(frozen=True)
class GridListener:
    """Who wants to know: the start (with cells landed before), every batch, the comparison (with how many cells it
    plays again), or that there was nothing to do."""

    begin: Callable[[GridSpec, int], None]
    batch: Callable[[Progress], None]
    compare: Callable[[int], None]
    complete: Callable[[GridSpec], None]


def run_grid(spec: GridSpec, url: str, workers: Workers = SERIAL, listener: GridListener | None = None) -> Grid:
    """Play what is missing of a grid and compare its cells; do nothing where it is finished.

    The same for any number of workers, in one go or in pieces.

    >>> import tempfile
    >>> spec = GridSpec(scenario="stationary", horizon=50, arms=3, replications=10, alpha0=(0.5, 1), beta0=(1, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_grid(spec, f"sqlite:///{folder}/studies.sqlite3").mean.shape
    (2, 2)
    """
    name = spec.study_name()

    def go_on(storage: RDBStorage) -> Grid:
        study = open_study(storage, name, keys.GRID, ["minimize"], lambda new: keys.write_grid_spec(new, spec))
        agreed = _agreed(spec, study)
        done = read_grid(study)
        if done is not None:
            if listener is not None:
                listener.complete(agreed)
            return done
        samples = _Run(agreed, study, Evaluator(grid_problem(agreed), workers), listener).play()
        mask = indistinguishable(samples, agreed.seed)
        keys.write_indistinguishable(study, np.flatnonzero(mask).tolist())
        grid = read_grid(study)
        assert grid is not None
        return grid

    return run_as_driver(url, name, go_on)


def grid_problem(spec: GridSpec) -> Problem:
    """What the cells of a grid play.

    >>> game_of(GridSpec(scenario="blips", horizon=100)).horizon
    100
    """
    here = spec.resolved()
    return Problem(GRID_POLICY, here.open_scenario(), here.horizon, here.arms, here.seed, burn_in=0)


class _Run:
    """One grid while it is played."""

    def __init__(
        self, spec: ResolvedGridSpec, study: optuna.Study, evaluator: Evaluator, listener: GridListener | None
    ) -> None:
        self.spec, self.study, self.evaluator, self.listener = spec, study, evaluator, listener
        self.cells = [spec.values(cell) for cell in spec.cells()]
        self.stored = [float(trial.values[0]) for trial in study.get_trials(deepcopy=False)]
        self.samples = np.empty((len(self.cells), spec.replications))

    def play(self) -> Floats:
        """Regret [cells, replications]: missing cells first, then again those that had landed."""
        before = len(self.stored)
        if self.listener is not None:
            self.listener.begin(self.spec, before)
        for first in range(before, len(self.cells), BATCH):
            begin = time.perf_counter()
            numbers = self._play(first, len(self.cells))
            seconds = (time.perf_counter() - begin) / len(numbers)
            for number in numbers:
                store_cell(self.study, self.spec, number, self.samples[number], seconds)
                self.stored.append(float(self.samples[number].mean()))
            self._tell(len(numbers))
        if self.listener is not None:
            self.listener.compare(before)
        for first in range(0, before, BATCH):
            for number in self._play(first, before):
                self._check(number)
        return self.samples

    def _play(self, first: int, end: int) -> range:
        """Play a batch of cells; gives their numbers."""
        numbers = range(first, min(first + BATCH, end))
        some = [self.cells[number] for number in numbers]
        played = self.evaluator.play(some, Stream.GRID, 0, self.spec.replications)
        self.samples[numbers.start : numbers.stop] = played[..., REGRET]
        return numbers

    def _check(self, number: int) -> None:
        """What landed must come out again, or the grid would mix two ways of playing."""
        again = float(self.samples[number].mean())
        if not math.isclose(again, self.stored[number], rel_tol=SAME, abs_tol=SAME):
            raise InputError(
                f"grid {self.study.study_name!r}: cell {number} had regret {self.stored[number]:.6g} and now has "
                f"{again:.6g}, so another version played it; delete the study or choose another name.",
                field="name",
            )

    def _tell(self, count: int) -> None:
        if self.listener is not None:
            steps = float(count * self.spec.replications * self.evaluator.problem.horizon)
            self.listener.batch(Progress(len(self.stored), min(self.stored), steps))


def _agreed(spec: GridSpec, study: optuna.Study) -> ResolvedGridSpec:
    """The specification to go on with: refuses what would mix cells that can't be compared."""
    name = study.study_name
    what = f"grid {name!r}"
    stored = require_loaded(keys.read_grid_spec(study), what)
    check_comparable(what, "cells", spec.differences(stored))
    check_cells(name, stored, study.get_trials(deepcopy=False))
    return spec.resolved()
