"""Running a grid: play every cell on the same worlds, store it, and compare the cells when all are stored.

The storage holds the mean and standard error of a cell, but the comparison is paired and needs the regret in every
world. So a resumed run replays the cells stored by earlier runs first, and then plays the missing ones.
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
        samples = _play_all(opened, Evaluator(grid_problem(opened.spec), workers), listener)
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


def _play_all(opened: OpenStudy[GridSpec], evaluator: Evaluator, listener: Listener) -> Floats:
    """Return the regret [cells, replications]: replay stored cells first, then play and store missing ones."""
    spec = opened.spec
    name = opened.study.study_name
    stored = [float(trial.values[0]) for trial in opened.trials]
    before = len(stored)
    samples = np.empty((spec.planned, spec.replications))
    listener.begin(spec, before)
    if before == spec.planned:
        listener.validate(before)
    for batch in _batches(0, before):  # first, so that a run that is refused has stored nothing
        samples[batch] = play_cells(spec, evaluator, batch)
        for number in range(batch.start, batch.stop):
            value = stored[number]
            regret = float(samples[number].mean())
            if not math.isclose(regret, value, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                raise InputError(
                    f"grid {name!r}: cell {number} has stored regret {value:.6g}, but this version of ravenlab gives"
                    f" {regret:.6g}; delete the study or choose another name.",
                    field="name",
                )
    for batch in _batches(before, spec.planned):
        begin = time.perf_counter()
        played = play_cells(spec, evaluator, batch)
        seconds = (time.perf_counter() - begin) / len(played)
        store_cells(opened.study, spec, batch.start, played, seconds)
        samples[batch] = played
        stored += [float(sample.mean()) for sample in played]
        steps = float(played.size * evaluator.problem.horizon)
        listener.batch(Progress(len(stored), min(stored), steps))
    if before < spec.planned:
        listener.validate()
    return samples


def _batches(first: int, end: int) -> list[slice]:
    return [slice(start, min(start + BATCH, end)) for start in range(first, end, BATCH)]
