"""The Python API of studies: tune, tune_robust, grid, compare and report.

`tuning.queries` has the functions that store no study, `tuning.figures` the figures.
"""

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, overload

from ravenlab.common.checks import check_nonnegative
from ravenlab.common.documents import ResultList
from ravenlab.common.errors import InputError
from ravenlab.environments.catalog import load_scenario_plugin
from ravenlab.studies.export.comparison import ComparisonDocument
from ravenlab.studies.registry import ALL_KEYWORD, PAPER_VALUES, StudyDefaults
from ravenlab.studies.results.comparison import ComparisonResult
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.grid import FINE_VALUES
from ravenlab.studies.spec.parse import parse_grid_spec, parse_study_spec
from ravenlab.studies.spec.robust import parse_robust_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.urls import storage_url
from ravenlab.tuning.comparison.run import plan_comparisons
from ravenlab.tuning.driver import run_plan
from ravenlab.tuning.files import check_folder
from ravenlab.tuning.listener import SILENT
from ravenlab.tuning.page_files import write_comparison, write_report
from ravenlab.tuning.plan import Plan, combine
from ravenlab.tuning.progress import Reporter
from ravenlab.tuning.queries import as_list, is_one
from ravenlab.tuning.screen import open_screen
from ravenlab.tuning.workers.local import DEFAULT_BACKEND, Workers, open_workers


def _run(
    plan: Plan,
    storage: str | None,
    open_pool: AbstractContextManager[Workers],
    progress: bool,
    timeout: float | None = None,
) -> ResultList[Any]:
    """Run a plan and return the results of finished studies; warnings point to the call of the API."""
    for text in plan.warnings():
        warnings.warn(text, UserWarning, stacklevel=3)
    url = storage_url(storage)
    limit = None if timeout is None else check_nonnegative("timeout", timeout)
    steps = plan.concurrent_steps()
    with (
        open_pool as workers,
        open_screen(Reporter, progress, many=workers.concurrent_studies > 1, steps=steps) as reporter,
    ):
        runs = run_plan(plan, url, workers, SILENT if reporter is None else reporter, limit)
    return ResultList(run.result for run in runs if run.result is not None)


@overload
def tune(
    scenario: str | StudySpec | None = None,
    horizon: int | None = None,
    *,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    timeout: None = None,
    progress: bool = True,
    **fields: Any,
) -> Recommendation: ...
@overload
def tune(
    scenario: str | StudySpec | None = None, horizon: int | None = None, *, timeout: float | None, **options: Any
) -> Recommendation | None: ...
@overload
def tune(
    scenario: Sequence[str] | Sequence[StudySpec], horizon: int | Sequence[int] | None = None, **options: Any
) -> ResultList[Recommendation]: ...
@overload
def tune(scenario: str | None, horizon: Sequence[int], **options: Any) -> ResultList[Recommendation]: ...
def tune(
    scenario: str | StudySpec | Sequence[str] | Sequence[StudySpec] | None = None,
    horizon: int | Sequence[int] | None = None,
    *,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    timeout: float | None = None,
    progress: bool = True,
    **fields: Any,
) -> Recommendation | ResultList[Recommendation] | None:
    """Tune a policy for a scenario and a horizon, or for each combination of several.

    Args:
        scenario: One or several names, or specifications from `load_study_file`. Effects may be joined by "+", and
            "./file.py:name" loads a plugin. Leave it out with ``trace="file.csv"`` or ``log="file.csv"``.
        horizon: One or several numbers of steps T; on a trace, the rows of a window unless ``keep_state=True``.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; one per core by default. It does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        timeout: Seconds per study; the next call resumes unfinished studies.
        progress: Whether progress is shown on stderr if that is a terminal, and in notebooks.
        fields: Any other field of a study file: policy, arms, trials, replications, fixed, space (such as
            ``{"alpha0": [0.1, 5.0]}``), seed, …

    Returns:
        The recommendation, or None if the timeout left the study unfinished. If scenarios or horizons are a sequence: a
        list of the recommendations, without unfinished studies.

    Raises:
        InputError: A field is invalid, or the storage holds a study of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recommendation = tune(
    ...         "stationary", 100, arms=3, trials=4, replications=5, selection=20, report=20,
    ...         storage=f"sqlite:///{folder}/studies.sqlite3",
    ...     )
    >>> sorted(recommendation.params)
    ['alpha0', 'beta0', 'epsilon']
    """
    plan = _plan_studies(as_list(scenario), as_list(horizon), fields)
    results = _run(plan, storage, open_workers(jobs, backend, cluster), progress, timeout)
    if is_one(scenario) and is_one(horizon):
        return results[0] if results else None
    return results


def _plan_studies(scenarios: list[Any], horizons: list[Any], fields: dict[str, Any]) -> Plan:
    """Plan one study per scenario and horizon; specifications are taken as they are."""
    specs = [item for item in scenarios if isinstance(item, StudySpec)]
    if not specs:
        return combine(parse_study_spec, [name for name in scenarios if name is not None], horizons, fields)
    if len(specs) < len(scenarios) or horizons != [None] or fields:
        raise InputError("specifications of studies can't be combined with names, horizons or other fields.")
    return Plan.of(specs)


def tune_robust(
    scenarios: Sequence[str],
    horizon: int | None = None,
    *,
    measure: str = StudyDefaults.measure,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    timeout: float | None = None,
    progress: bool = True,
    **fields: Any,
) -> RobustRecommendation | None:
    """Tune one setting for several scenarios.

    Args:
        scenarios: Two or more names; effects may be joined by "+".
        horizon: Number of steps T.
        measure: How relative regrets are combined: "worst", "mean", or "cvar:0.5" (mean of the worst half).
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; one per core by default. It does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        timeout: Seconds; the next call resumes an unfinished study.
        progress: Whether progress is shown on stderr if that is a terminal, and in notebooks.
        fields: Any other field of `StudySpec`: policy, arms, trials, replications, space, fixed, seed, …

    Returns:
        The recommendation, or None if the timeout left the study unfinished.

    Raises:
        InputError: A field is invalid, or the storage holds a study of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recommendation = tune_robust(
    ...         ["stationary", "blips"], 100, arms=3, trials=3, replications=5, selection=20, report=20,
    ...         storage=f"sqlite:///{folder}/studies.sqlite3",
    ...     )
    >>> [contender.name for contender in recommendation.contenders]
    ['recommended', 'tuned for stationary', 'tuned for blips', 'defaults']
    """
    names = [load_scenario_plugin(name) for name in as_list(scenarios)]
    plan = combine(parse_robust_spec, [], [horizon], {"scenarios": names, "measure": measure, **fields})
    results = _run(plan, storage, open_workers(jobs, backend, cluster), progress, timeout)
    return results[0] if results else None


@overload
def grid(
    scenario: str,
    horizon: int | None = None,
    *,
    fine: bool = False,
    paper: bool = False,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    progress: bool = True,
    **fields: Any,
) -> Grid: ...
@overload
def grid(scenario: Sequence[str], horizon: int | Sequence[int] | None = None, **options: Any) -> ResultList[Grid]: ...
def grid(
    scenario: str | Sequence[str],
    horizon: int | Sequence[int] | None = None,
    *,
    fine: bool = False,
    paper: bool = False,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    progress: bool = True,
    **fields: Any,
) -> Grid | ResultList[Grid]:
    """Evaluate RAVEN-UCB on a grid of α₀ and β₀ for one or several scenarios and horizons.

    All cells play the same worlds.

    Args:
        scenario: One or several names; effects may be joined by "+".
        horizon: One or several numbers of steps T.
        fine: Use 25 × 25 cells from 0.01 to 10 instead of 9 × 7.
        paper: Use the paper's 4 × 4 cells.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; one per core by default. It does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        progress: Whether progress is shown on stderr if that is a terminal, and in notebooks.
        fields: Any other field of `GridSpec`: alpha0, beta0, epsilon, replications, arms, settings, seed, name.

    Returns:
        The grid. If scenarios or horizons are a sequence: a list of grids.

    Raises:
        InputError: A field is invalid, or the storage holds a grid of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     result = grid("stationary", 100, arms=3, replications=10, alpha0=[0.5, 1.0], storage=url)
    >>> result.mean.shape
    (2, 7)
    """
    if fine or paper:
        values = FINE_VALUES if fine else PAPER_VALUES
        fields = {"alpha0": values, "beta0": values, **fields}
    plan = combine(parse_grid_spec, as_list(scenario), as_list(horizon), fields)
    grids = _run(plan, storage, open_workers(jobs, backend, cluster), progress)
    return grids[0] if is_one(scenario) and is_one(horizon) else grids


@overload
def compare(
    scenario: Literal["all"], horizon: int | Sequence[int] | None = None, **options: Any
) -> ComparisonDocument: ...
@overload
def compare(
    scenario: str | None = None,
    horizon: int | None = None,
    *,
    policies: str | Sequence[str] | None = None,
    output: str | Path | None = None,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    progress: bool = True,
    **fields: Any,
) -> ComparisonResult: ...
@overload
def compare(
    scenario: Sequence[str], horizon: int | Sequence[int] | None = None, **options: Any
) -> ComparisonDocument: ...
@overload
def compare(scenario: str | None, horizon: Sequence[int], **options: Any) -> ComparisonDocument: ...
def compare(
    scenario: str | Sequence[str] | None = None,
    horizon: int | Sequence[int] | None = None,
    *,
    policies: str | Sequence[str] | None = None,
    output: str | Path | None = None,
    storage: str | None = None,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    progress: bool = True,
    **fields: Any,
) -> ComparisonResult | ComparisonDocument:
    """Compare policies on the same held-out worlds, with their defaults and tuned with equal budgets.

    Args:
        scenario: One or several names; effects may be joined by "+", and "all" selects all scenarios. Leave it out
            with ``trace="file.csv"`` or ``log="file.csv"``: policies are compared on the last three tenths of the file.
        horizon: One or several numbers of steps T; on a trace, the rows of a window.
        policies: Names, "paper" for the paper's nine policies, or "all". By default those of the paper and, on a trace
            or log, raven-auto, d-raven and sw-raven.
        output: Folder for compare.html and the numbers as JSON, CSV, Markdown and LaTeX; nothing is written if None.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; one per core by default. It does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        progress: Whether progress is shown on stderr if that is a terminal, and in notebooks.
        fields: Any other field of `ComparisonSpec`: tune, replications, search_replications, arms, settings, seed, …

    Returns:
        The result. If scenarios or horizons are a sequence, or "all": a list of the results, which can be written as
        JSON, CSV, Markdown and LaTeX.

    Raises:
        InputError: A field is invalid, or the storage holds a comparison of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     result = compare("stationary", 100, arms=3, policies="ucb1,ccb", tune=0, replications=10, storage=url)
    >>> sorted(standing.policy for standing in result.main.standings)
    ['ccb', 'ucb1']
    """
    names = [] if scenario is None else as_list(scenario)
    plan = plan_comparisons(names, as_list(horizon), policies, fields)
    folder = None if output is None else Path(output)
    if folder is not None:
        check_folder(folder)
    document = ComparisonDocument(_run(plan, storage, open_workers(jobs, backend, cluster), progress))
    if folder is not None:
        write_comparison(document, folder)
    return document[0] if is_one(scenario) and is_one(horizon) and scenario != ALL_KEYWORD else document


def report(
    studies: str | Sequence[str] | None = None,
    output: str | Path = "report.html",
    *,
    figures: str | Path | None = None,
    storage: str | None = None,
) -> Path:
    """Write a report as one HTML file that works offline.

    Args:
        studies: One or several names, unique prefixes or patterns such as "raven-ucb/*", of studies and grids; all by
            default.
        output: The file.
        figures: Folder for the figures as separate files; none are written if None.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.

    Returns:
        The path of the file.

    Raises:
        InputError: No study matches, or the file cannot be written.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     _ = tune("stationary", 100, arms=3, trials=2, replications=5, selection=20, report=20, storage=url)
    ...     path = report(output=f"{folder}/report.html", storage=url)
    ...     print(path.name, path.read_text(encoding="utf-8")[:15])
    report.html <!doctype html>
    """
    names = None if studies is None else as_list(studies)
    return write_report(names, Path(output), None if figures is None else Path(figures), storage).path
