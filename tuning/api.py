"""The Python API: tune, tune_robust, grid, compare, export, report and reproduce."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from environments.catalog import load_scenario_plugin
from environments.checks import check_nonnegative
from policies.engine.plugins import load_policy_plugin
from studies.export import DEFAULT_FORMAT
from studies.export.comparison import ComparisonDocument as Comparisons
from studies.paper.results import ReproductionResult
from studies.registry import PAPER_VALUES, ComparisonDefaults, StudyDefaults
from studies.results.grid import Grid
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, RobustRecommendation
from studies.spec.grid import FINE_VALUES
from studies.spec.parse import parse_grid_spec, parse_study_spec
from studies.spec.robust import parse_robust_spec
from studies.storage.urls import storage_url
from tuning.files import check_folder, make_folder
from tuning.grid_run import run_grid
from tuning.page_files import write_comparison, write_report
from tuning.robust.run import run_robust
from tuning.study_run import FinishedStudy, run_study
from tuning.workers.local import DEFAULT_BACKEND, open_workers, run_concurrently


def _as_list(values: Any) -> list[Any]:
    """Return one or several values as a list."""
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def _check_timeout(timeout: float | None) -> float | None:
    return None if timeout is None else check_nonnegative("timeout", timeout)


def _load_policy(fields: dict[str, Any]) -> dict[str, Any]:
    """Load the policy if it is a plugin, given as ./file.py:Name."""
    return {**fields, "policy": load_policy_plugin(fields["policy"])} if "policy" in fields else fields


def tune(
    scenario: str | Sequence[str] | None = None,
    horizon: int | Sequence[int] | None = None,
    *,
    storage: str | None = None,
    jobs: int = 1,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    timeout: float | None = None,
    **fields: Any,
) -> list[Recommendation]:
    """Tune a policy for each scenario and horizon.

    Args:
        scenario: One or several names. Effects may be joined by "+", and "./file.py:name" loads a plugin. Leave it out
            with ``trace="file.csv"`` or ``log="file.csv"``.
        horizon: One or several numbers of steps T; on a trace, the rows of a window.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; it does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        timeout: Seconds per study; the next call resumes unfinished studies.
        fields: Any other field of a study file: policy, arms, trials, replications, fixed, space (such as
            ``{"alpha0": [0.1, 5.0]}``), seed, …

    Returns:
        The recommendations, without studies that the timeout left unfinished.

    Raises:
        InputError: A field is invalid, or the storage holds a study of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recommendations = tune(
    ...         "stationary", 100, arms=3, trials=4, replications=5, selection=20, report=20,
    ...         storage=f"sqlite:///{folder}/studies.sqlite3",
    ...     )
    >>> sorted(recommendations[0].params)
    ['alpha0', 'beta0', 'epsilon']
    """
    sources = [{} if name is None else {"scenario": load_scenario_plugin(name)} for name in _as_list(scenario)]
    fields = _load_policy(fields)
    specs = [
        parse_study_spec({"horizon": steps, **source, **fields})
        for source, steps in product(sources, _as_list(horizon))
    ]
    url, limit = storage_url(storage), _check_timeout(timeout)
    with open_workers(jobs, backend, cluster) as workers:
        runs = run_concurrently(workers, [partial(run_study, spec, url, workers, limit) for spec in specs])
    return [run.recommendation for run in runs if isinstance(run, FinishedStudy)]


def tune_robust(
    scenarios: Sequence[str],
    horizon: int | None = None,
    *,
    measure: str = StudyDefaults.measure,
    pareto: bool = False,
    storage: str | None = None,
    jobs: int = 1,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    timeout: float | None = None,
    **fields: Any,
) -> RobustRecommendation | Front | None:
    """Tune one setting for several scenarios, or compute their Pareto front.

    Args:
        scenarios: Two or more names; effects may be joined by "+".
        horizon: Number of steps T.
        measure: How relative regrets are combined: "worst", "mean", or "cvar:0.5" (mean of the worst half).
        pareto: Return the Pareto front instead of one setting.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; it does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        timeout: Seconds; the next call resumes an unfinished study.
        fields: Any other field of `StudySpec`: policy, arms, trials, replications, space, fixed, seed, …

    Returns:
        The recommendation or the front, or None if the timeout left the study unfinished.

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
    names = [load_scenario_plugin(name) for name in _as_list(scenarios)]
    fields = {"scenarios": names, "horizon": horizon, "measure": measure, "pareto": pareto, **_load_policy(fields)}
    spec = parse_robust_spec({key: value for key, value in fields.items() if value is not None})
    limit = _check_timeout(timeout)
    with open_workers(jobs, backend, cluster) as workers:
        return run_robust(spec, storage_url(storage), workers, limit).result


def grid(
    scenario: str | Sequence[str],
    horizon: int | Sequence[int] | None = None,
    *,
    fine: bool = False,
    paper: bool = False,
    storage: str | None = None,
    jobs: int = 1,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    **fields: Any,
) -> list[Grid]:
    """Evaluate RAVEN-UCB on a grid of α₀ and β₀ for each scenario and horizon; all cells play the same worlds.

    Args:
        scenario: One or several names; effects may be joined by "+".
        horizon: One or several numbers of steps T.
        fine: Use 25 × 25 cells from 0.01 to 10 instead of 9 × 7.
        paper: Use the paper's 4 × 4 cells.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; it does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        fields: Any other field of `GridSpec`: alpha0, beta0, epsilon, replications, arms, settings, seed, name.

    Returns:
        One grid per scenario and horizon.

    Raises:
        InputError: A field is invalid, or the storage holds a grid of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     (result,) = grid("stationary", 100, arms=3, replications=10, alpha0=[0.5, 1.0], storage=url)
    >>> result.mean.shape
    (2, 7)
    """
    if fine or paper:
        values = FINE_VALUES if fine else PAPER_VALUES
        fields = {"alpha0": values, "beta0": values, **fields}
    problems = product(map(load_scenario_plugin, _as_list(scenario)), _as_list(horizon))
    specs = [parse_grid_spec({"scenario": name, "horizon": steps, **fields}) for name, steps in problems]
    url = storage_url(storage)
    with open_workers(jobs, backend, cluster) as workers:
        return run_concurrently(workers, [partial(run_grid, spec, url, workers) for spec in specs])


def compare(
    scenario: str | Sequence[str] | None = None,
    horizon: int | Sequence[int] | None = None,
    *,
    policies: str | Sequence[str] = ComparisonDefaults.policies,
    output: str | Path | None = None,
    storage: str | None = None,
    jobs: int = 1,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    **fields: Any,
) -> Comparisons:
    """Compare policies on the same held-out worlds, with their defaults and tuned with equal budgets.

    Args:
        scenario: One or several names; effects may be joined by "+", and "all" selects all scenarios. Leave it out
            with ``trace="file.csv"`` or ``log="file.csv"``: policies are compared on the last three tenths of the file.
        horizon: One or several numbers of steps T; on a trace, the rows of a window.
        policies: Names, "paper" for the paper's nine policies, or "all".
        output: Folder for compare.html and the numbers as JSON, CSV, Markdown and LaTeX; nothing is written if None.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.
        jobs: Number of workers; it does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        fields: Any other field of `ComparisonSpec`: tune, replications, search_replications, arms, settings, seed, …

    Returns:
        A document with one result per scenario and horizon.

    Raises:
        InputError: A field is invalid, or the storage holds a comparison of the same name with different settings.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     document = compare("stationary", 100, arms=3, policies="ucb1,ccb", tune=0, replications=10, storage=url)
    >>> sorted(standing.policy for standing in document.results[0].main.standings)
    ['ccb', 'ucb1']
    """
    from tuning.comparison.run import comparison_specs, run_comparisons

    names = [] if scenario is None else _as_list(scenario)
    specs = comparison_specs(names, _as_list(horizon), policies, fields)
    folder = None if output is None else Path(output)
    if folder is not None:
        check_folder(folder)
    with open_workers(jobs, backend, cluster) as workers:
        document = run_comparisons(specs, storage_url(storage), workers)
    if folder is not None:
        write_comparison(document, folder)
    return document


def export(
    studies: str | Sequence[str] | None = None, form: str = DEFAULT_FORMAT, *, storage: str | None = None
) -> str:
    """Export stored recommendations.

    Args:
        studies: One or several names, unique prefixes or patterns such as "raven-ucb/*"; by default all but the
            searches of comparisons.
        form: The format: json, toml, yaml, csv, markdown, latex or python.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.

    Returns:
        The text of the file.

    Raises:
        InputError: No study matches, or the format is unknown.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     _ = tune("stationary", 100, arms=3, trials=2, replications=5, selection=20, report=20, storage=url)
    ...     print(export(form="csv", storage=url).split(",")[0])
    study
    """
    from studies.export import export as export_text
    from studies.storage.database import use_storage
    from studies.storage.library import read_recommendations, read_robust_results

    names = None if studies is None else _as_list(studies)
    with use_storage(storage) as store:
        robust = [result for result in read_robust_results(store, names) if isinstance(result, RobustRecommendation)]
        return export_text([*read_recommendations(store, names), *robust], form)


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
    names = None if studies is None else _as_list(studies)
    return write_report(names, Path(output), None if figures is None else Path(figures), storage).path


def reproduce(
    names: str | Sequence[str] = (),
    output: str | Path = "reproduction",
    *,
    protocol: str = "both",
    replications: int | None = None,
    seed: int = StudyDefaults.seed,
    jobs: int = 1,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
) -> ReproductionResult:
    """Reproduce the paper and write the page, JSON and CSV files to a folder.

    Args:
        names: One or several figures or tables such as "figure1" or "table3"; all by default.
        output: The folder; completed pieces in it are reused.
        protocol: "published" (what the authors' scripts ran), "defined" (what the paper defines), or "both".
        replications: Replications of Table 3, 50 by default; all other counts are proportional.
        seed: Random seed.
        jobs: Number of workers; it does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".

    Returns:
        The numbers and verdicts.

    Raises:
        InputError: An argument is invalid, or the folder cannot be written.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = reproduce(["figure1"], folder, replications=2)
    >>> result.verdicts()[0].claim.key
    'figure1-means-settle'
    """
    from tuning.reproduction import select_experiments
    from tuning.reproduction.context import make_context
    from tuning.reproduction.runner import reproduce as run
    from tuning.reproduction.runner import write_reproduction

    folder, selected = Path(output), select_experiments(_as_list(names))
    check_folder(folder)
    make_folder(folder)
    with open_workers(jobs, backend, cluster) as workers:
        context = make_context(folder, protocol=protocol, replications=replications, seed=seed, workers=workers)
        result = run(selected, context, folder)
    write_reproduction(result, folder)
    return result
