"""The driver of all studies, for Python and the command line."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ravenlab.policies.engine.ahead import compile_ahead
from ravenlab.studies.kinds import COMPARISON, GRID, ROBUST, TUNE, StudyKindName, kind_of
from ravenlab.studies.spec.fields import Specification
from ravenlab.tuning.attachments import attach_to_studies
from ravenlab.tuning.comparison.run import run_comparison
from ravenlab.tuning.grid_run import run_grid
from ravenlab.tuning.listener import SILENT, Listener
from ravenlab.tuning.plan import Plan
from ravenlab.tuning.robust.run import run_robust
from ravenlab.tuning.study_run import StudyRun, run_study
from ravenlab.tuning.workers.local import SERIAL, LocalWorkers, Workers, run_concurrently

Runner = Callable[[Any, str, Workers, float | None, Listener], StudyRun[Any]]

RUNNERS: dict[StudyKindName, Runner] = {
    TUNE.name: run_study,
    ROBUST.name: run_robust,
    GRID.name: lambda spec, url, workers, timeout, listener: run_grid(spec, url, workers, listener),
    COMPARISON.name: lambda spec, url, workers, timeout, listener: run_comparison(spec, url, workers, listener),
}
"""What runs each kind of study. Grids and comparisons have no time limit."""


def run_plan(
    plan: Plan, url: str, workers: Workers = SERIAL, listener: Listener = SILENT, timeout: float | None = None
) -> list[StudyRun[Any]]:
    """Run all studies of a plan, and attach to each its note for the dashboard.

    Studies that an earlier run left unfinished are resumed. The results are in the order of the plan and do not depend
    on the workers. Children of the listener are told about each study. The time limit holds for each search.
    """
    if isinstance(workers, LocalWorkers):
        compile_ahead(policy for spec in plan.specs for policy in spec.compiled_policies())

    def run(spec: Specification) -> StudyRun[Any]:
        result = RUNNERS[kind_of(spec).name](spec, url, workers, timeout, listener.child(spec))
        finished = [part.study for part in (*result.first, result) if part.result is not None]
        if finished:
            attach_to_studies(url, finished, figures=False)
        return result

    nested = [run(spec) for spec in plan.specs if kind_of(spec).nested]
    others = [partial(run, spec) for spec in plan.specs if not kind_of(spec).nested]
    return [*nested, *run_concurrently(workers, others)]
