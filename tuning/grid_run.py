"""Running a grid: play every cell on the same worlds, store it, and compare the cells when all are stored.

The storage holds the mean and standard error of a cell, but the comparison is paired and needs the regret in every
world. So a resumed run plays the missing cells first, and then replays those stored by earlier runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import GRID_POLICY, GridSpec
from ravenlab.studies.statistics.intervals import indistinguishable
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.lock import run_as_driver
from ravenlab.studies.storage.trials import check_cells, read_grid, store_cells
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.study_run import check_comparable, open_study, require_loaded
from ravenlab.tuning.workers.local import SERIAL, Workers
from ravenlab.tuning.workers.problem import Evaluator, Problem

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


BATCH = 16  # cells played at a time, so that drawing worlds, once per batch, takes little of the time
TOLERANCE = 1e-9
"""Largest relative difference of a replayed cell: results of another machine differ in the last digits."""


@dataclass(frozen=True)
class GridListener:
    """Optional callbacks of `run_grid`, called from the thread that runs it."""

    begin: Callable[[GridSpec, int], None] = lambda spec, stored: None
    """The grid starts; `stored` cells come from an earlier run."""
    batch: Callable[[Progress], None] = lambda progress: None
    """A batch of cells was stored."""
    compare: Callable[[int], None] = lambda replayed: None
    """All cells are stored; `replayed` of them are played again for the comparison."""
    finish: Callable[[], None] = lambda: None
    """The cells were compared."""
    complete: Callable[[GridSpec], None] = lambda spec: None
    """The grid was already complete; no other callback is called."""


SILENT_GRID = GridListener()


def run_grid(spec: GridSpec, url: str, workers: Workers = SERIAL, listener: GridListener = SILENT_GRID) -> Grid:
    """Play the missing cells of a grid and compare all cells.

    The result does not depend on the workers or on interruptions.

    >>> import tempfile
    >>> spec = GridSpec(scenario="stationary", horizon=50, arms=3, replications=10, alpha0=(0.5, 1), beta0=(1, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_grid(spec, f"sqlite:///{folder}/studies.sqlite3").mean.shape
    (2, 2)
    """
    name = spec.study_name()

    def run(storage: RDBStorage) -> Grid:
        study = open_study(storage, name, keys.GRID, ["minimize"], lambda new: keys.write_grid_spec(new, spec))
        resolved = _resume(spec, study)
        grid = read_grid(study)
        if grid is not None:
            listener.complete(resolved)
            return grid
        samples = _GridRun(resolved, study, Evaluator(grid_problem(resolved), workers), listener).play()
        mask = indistinguishable(samples, resolved.seed)
        keys.write_indistinguishable(study, np.flatnonzero(mask).tolist())
        listener.finish()
        return require_loaded(read_grid(study), f"grid {name!r}")

    return run_as_driver(url, name, run)


def grid_problem(spec: GridSpec) -> Problem:
    """Return the problem that the cells of a grid play.

    >>> grid_problem(GridSpec(scenario="blips", horizon=100)).horizon
    100
    """
    scenario = spec.source.open()
    return Problem(GRID_POLICY, scenario, spec.horizon, spec.arms, spec.seed, burn_in=0)


def play_cells(spec: GridSpec, evaluator: Evaluator, numbers: slice = slice(None)) -> Floats:
    """Return the regret [cells, replications] of the cells of a grid with these numbers, all by default."""
    cells = [spec.resolve_params(cell) for cell in spec.cells()[numbers]]
    return np.ascontiguousarray(evaluator.play(cells, Stream.GRID, 0, spec.replications).regret)


class _GridRun:
    """A running grid."""

    def __init__(self, spec: GridSpec, study: optuna.Study, evaluator: Evaluator, listener: GridListener) -> None:
        self.spec, self.study, self.evaluator, self.listener = spec, study, evaluator, listener
        self.count = len(spec.cells())
        self.stored = [float(trial.values[0]) for trial in study.get_trials(deepcopy=False)]
        self.samples = np.empty((self.count, spec.replications))

    def play(self) -> Floats:
        """Return the regret [cells, replications]: play missing cells first, then replay stored ones."""
        before = len(self.stored)
        self.listener.begin(self.spec, before)
        for first in range(before, self.count, BATCH):
            begin = time.perf_counter()
            numbers = self._play_batch(first, self.count)
            seconds = (time.perf_counter() - begin) / len(numbers)
            samples = self.samples[numbers.start : numbers.stop]
            store_cells(self.study, self.spec, first, samples, seconds)
            self.stored += [float(sample.mean()) for sample in samples]
            steps = float(len(numbers) * self.spec.replications * self.evaluator.problem.horizon)
            self.listener.batch(Progress(len(self.stored), min(self.stored), steps))
        self.listener.compare(before)
        for first in range(0, before, BATCH):
            for number in self._play_batch(first, before):
                self._check_replay(number)
        return self.samples

    def _play_batch(self, first: int, end: int) -> range:
        """Play a batch of cells; return their numbers."""
        numbers = range(first, min(first + BATCH, end))
        batch = slice(numbers.start, numbers.stop)
        self.samples[batch] = play_cells(self.spec, self.evaluator, batch)
        return numbers

    def _check_replay(self, number: int) -> None:
        """Raise InputError if a replayed cell differs from the stored one."""
        regret = float(self.samples[number].mean())
        if not math.isclose(regret, self.stored[number], rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            raise InputError(
                f"grid {self.study.study_name!r}: cell {number} has stored regret {self.stored[number]:.6g}, but this "
                f"version of ravenlab gives {regret:.6g}; delete the study or choose another name.",
                field="name",
            )


def _resume(spec: GridSpec, study: optuna.Study) -> GridSpec:
    """Return the specification to run, after checking that its cells are comparable with the stored ones."""
    label = f"grid {study.study_name!r}"
    stored = require_loaded(keys.read_grid_spec(study), label)
    check_comparable(label, "cells", spec.differences(stored))
    check_cells(study.study_name, stored, study.get_trials(deepcopy=False))
    return spec
