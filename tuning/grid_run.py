"""Running a grid: play every cell on the same worlds, store it, and compare the cells when all are stored.

The storage holds the mean and standard error of a cell, but the comparison is paired and needs the regret in every
world. So a resumed run plays the missing cells first, and then replays those stored by earlier runs.
"""

import math
import time

import numpy as np

from ravenlab.common.compat.optuna import storage_of
from ravenlab.common.errors import InputError
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.studies.kinds import GRID
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.statistics.intervals import indistinguishable
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.trials import check_cells, store_cells
from ravenlab.tuning.listener import SILENT, Listener
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.study_run import OpenStudy, StudyRun, require_loaded, run_stored
from ravenlab.tuning.workers.local import SERIAL, Workers
from ravenlab.tuning.workers.problem import Evaluator, Problem

BATCH = 16  # cells played at a time, so that drawing worlds, once per batch, takes little of the time
TOLERANCE = 1e-9
"""Largest relative difference of a replayed cell: results of another machine differ in the last digits."""


def run_grid(spec: GridSpec, url: str, workers: Workers = SERIAL, listener: Listener = SILENT) -> StudyRun[Grid]:
    """Play the missing cells of a grid and compare all cells.

    The result does not depend on the workers or on interruptions.

    >>> import tempfile
    >>> spec = GridSpec(scenario="stationary", horizon=50, arms=3, replications=10, alpha0=(0.5, 1), beta0=(1, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_grid(spec, f"sqlite:///{folder}/studies.sqlite3").result.mean.shape
    (2, 2)
    """

    def check(opened: OpenStudy[GridSpec]) -> None:
        check_cells(opened.study.study_name, opened.spec, opened.trials)

    def body(opened: OpenStudy[GridSpec]) -> Grid:
        samples = _GridRun(opened, Evaluator(grid_problem(opened.spec), workers), listener).play()
        mask = indistinguishable(samples, opened.spec.seed)
        keys.write_indistinguishable(opened.study, np.flatnonzero(mask).tolist())
        listener.finish()
        grid = GRID.read_result(storage_of(opened.study), opened.study)
        return require_loaded(grid, f"grid {opened.study.study_name!r}")

    return run_stored(GRID, spec, url, listener, check, body)


def grid_problem(spec: GridSpec) -> Problem:
    """Return the problem that the cells of a grid play.

    >>> grid_problem(GridSpec(scenario="blips", horizon=100)).horizon
    100
    """
    scenario = spec.source.open()
    return Problem(spec.policy, scenario, spec.horizon, spec.arms, spec.seed, burn_in=0)


def play_cells(spec: GridSpec, evaluator: Evaluator, numbers: slice = slice(None)) -> Floats:
    """Return the regret [cells, replications] of the cells of a grid with these numbers, all by default."""
    cells = [spec.resolve_params(cell) for cell in spec.cells()[numbers]]
    return np.ascontiguousarray(evaluator.play(cells, Stream.GRID, 0, spec.replications).regret)


class _GridRun:
    """A running grid."""

    def __init__(self, opened: OpenStudy[GridSpec], evaluator: Evaluator, listener: Listener) -> None:
        self.spec = opened.spec
        self.study = opened.study
        self.evaluator = evaluator
        self.listener = listener
        self.count = self.spec.planned
        self.stored = [float(trial.values[0]) for trial in opened.trials]
        self.samples = np.empty((self.count, self.spec.replications))

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
        self.listener.validate(before)
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
