"""The commands for Python: `tune`, `tune_robust`, `grid`, `compare`, `export`, `report` and `reproduce`."""

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
from studies.registry import ComparisonDefaults, StudyDefaults
from studies.results.grid import Grid
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, RobustRecommendation
from studies.spec.grid import FINE_VALUES
from studies.spec.parse import parse_grid_spec, parse_study_spec
from studies.spec.robust import parse_robust_spec
from studies.storage.urls import storage_url
from tuning.grid_run import run_grid
from tuning.robust.run import run_robust
from tuning.study_run import run_study
from tuning.workers.local import DEFAULT_BACKEND, open_workers, run_concurrently


def _each(given: Any) -> list[Any]:
    """One or several of something as a list; whether they will do is said by who takes them."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def _seconds(timeout: float | None) -> float | None:
    return None if timeout is None else check_nonnegative("timeout", timeout)


def _with_own_policy(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with a policy of the caller's own, named as ./file.py:Name, loaded."""
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
    """Search a policy's parameters for scenarios and horizons, and give what to use in each.

    Args:
        scenario: A name or several; effects may be joined by "+", and "./yours.py:name" brings your own. With
            ``trace="file.csv"`` or ``log="file.csv"`` none.
        horizon: Steps T, or several; on a trace the rows of a window.
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.
        jobs: Workers; the result is the same for any number.
        backend: "threads" or "loky".
        cluster: The scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        timeout: Seconds for each study; one that is cut goes on at the next call.
        fields: Any other field of a study, as a study file has them: policy, arms, trials, replications, fixed,
            space (such as ``{"alpha0": [0.1, 5.0]}``), seed, …

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tune(
    ...         "stationary", 100, arms=3, trials=4, replications=5, selection=20, report=20,
    ...         storage=f"sqlite:///{folder}/studies.sqlite3",
    ...     )
    >>> sorted(found[0].params)
    ['alpha0', 'beta0', 'epsilon']
    """
    asked = [{} if name is None else {"scenario": load_scenario_plugin(name)} for name in _each(scenario)]
    fields = _with_own_policy(fields)
    specs = [parse_study_spec({"horizon": steps, **where, **fields}) for where, steps in product(asked, _each(horizon))]
    url, limit = storage_url(storage), _seconds(timeout)
    with open_workers(jobs, backend, cluster) as crew:
        ran = run_concurrently(crew, [partial(run_study, spec, url, crew, limit) for spec in specs])
    return [each.recommendation for each in ran if each.recommendation is not None]


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
    """Search one setting for several scenarios, when nobody knows which it will be, or their Pareto front.

    Args:
        scenarios: Two or more names; effects may be joined by "+".
        horizon: Steps T.
        measure: What counts of the relative regrets: "worst", "mean", or "cvar:0.5" (mean of the worst half).
        pareto: Give every setting that no other beats in all scenarios, instead of one.
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.
        jobs: Workers; the result is the same for any number.
        backend: "threads" or "loky".
        cluster: The scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        timeout: Seconds; what is cut goes on at the next call, and gives None until then.
        fields: Any other field of `StudySpec`: policy, arms, trials, replications, space, fixed, seed, …

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tune_robust(
    ...         ["stationary", "blips"], 100, arms=3, trials=3, replications=5, selection=20, report=20,
    ...         storage=f"sqlite:///{folder}/studies.sqlite3",
    ...     )
    >>> [contender.name for contender in found.contenders]
    ['recommended', 'tuned for stationary', 'tuned for blips', 'defaults']
    """
    brought = [load_scenario_plugin(name) for name in _each(scenarios)]
    asked = {"scenarios": brought, "horizon": horizon, "measure": measure, "pareto": pareto, **_with_own_policy(fields)}
    spec = parse_robust_spec({key: value for key, value in asked.items() if value is not None})
    limit = _seconds(timeout)
    with open_workers(jobs, backend, cluster) as crew:
        return run_robust(spec, storage_url(storage), crew, limit).found


def grid(
    scenario: str | Sequence[str],
    horizon: int | Sequence[int] | None = None,
    *,
    fine: bool = False,
    storage: str | None = None,
    jobs: int = 1,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    **fields: Any,
) -> list[Grid]:
    """Play RAVEN-UCB over a grid of α₀ and β₀, all cells in the same worlds, and give a grid a scenario and horizon.

    Args:
        scenario: A name or several; effects may be joined by "+".
        horizon: Steps T, or several.
        fine: 25 × 25 cells over the paper's box instead of the paper's 4 × 4.
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.
        jobs: Workers; the result is the same for any number.
        backend: "threads" or "loky".
        cluster: The scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        fields: Any other field of `GridSpec`: alpha0, beta0, epsilon, replications, arms, settings, seed, name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     (found,) = grid("stationary", 100, arms=3, replications=10, alpha0=[0.5, 1.0], storage=url)
    >>> found.mean.shape
    (2, 4)
    """
    if fine:
        fields = {"alpha0": FINE_VALUES, "beta0": FINE_VALUES, **fields}
    asked = product(map(load_scenario_plugin, _each(scenario)), _each(horizon))
    specs = [parse_grid_spec({"scenario": name, "horizon": steps, **fields}) for name, steps in asked]
    url = storage_url(storage)
    with open_workers(jobs, backend, cluster) as crew:
        return run_concurrently(crew, [partial(run_grid, spec, url, crew) for spec in specs])


def compare(
    scenario: str | Sequence[str],
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
    """Compare policies at their defaults and tuned by equal searches, all in the same fresh worlds.

    Args:
        scenario: A name or several; effects may be joined by "+", and "all" stands for all of them.
        horizon: Steps T, or several.
        policies: Names, "paper" for the paper's nine, or "all".
        output: A folder that gets compare.html and the numbers as JSON, CSV, Markdown and LaTeX.
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.
        jobs: Workers; the result is the same for any number.
        backend: "threads" or "loky".
        cluster: The scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        fields: Any other field of `ComparisonSpec`: tune, replications, search_replications, arms, settings, seed, …

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     found = compare("stationary", 100, arms=3, policies="ucb1,ccb", tune=0, replications=10, storage=url)
    >>> sorted(standing.policy for standing in found.results[0].main.standings)
    ['ccb', 'ucb1']
    """
    from tuning.comparison.run import comparison_specs, run_comparisons

    specs = comparison_specs(_each(scenario), _each(horizon), policies, fields)
    folder = None if output is None else Path(output)
    if folder is not None:
        from tuning.files import check_folder

        check_folder(folder)
    with open_workers(jobs, backend, cluster) as crew:
        document = run_comparisons(specs, storage_url(storage), crew)
    if folder is not None:
        from tuning.page_files import write_comparison

        write_comparison(document, folder)
    return document


def export(
    studies: str | Sequence[str] | None = None, form: str = DEFAULT_FORMAT, *, storage: str | None = None
) -> str:
    """Stored recommendations as the text of a file: json, toml, yaml, csv, markdown, latex or python.

    Args:
        studies: A name or several, unique beginnings or patterns such as "raven-ucb/*"; all of them if not given.
        form: The format.
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     _ = tune("stationary", 100, arms=3, trials=2, replications=5, selection=20, report=20, storage=url)
    ...     print(export(form="csv", storage=url).split(",")[0])
    study
    """
    from studies.export import export as written
    from studies.storage.database import opened
    from studies.storage.library import read_recommendations, read_robust_results

    names = None if studies is None else _each(studies)
    with opened(storage) as store:
        several = [each for each in read_robust_results(store, names) if isinstance(each, RobustRecommendation)]
        return written([*read_recommendations(store, names), *several], form)


def report(
    studies: str | Sequence[str] | None = None,
    output: str | Path = "report.html",
    *,
    figures: str | Path | None = None,
    storage: str | None = None,
) -> Path:
    """Write a report as one HTML file that works offline, and give its path.

    Args:
        studies: A name or several, unique beginnings or patterns such as "raven-ucb/*", of studies and grids; all if
            not given.
        output: The file.
        figures: A folder that also gets every figure as a file of its own.
        storage: A database URL; RAVENLAB_STORAGE or sqlite:///studies.sqlite3 if not given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     _ = tune("stationary", 100, arms=3, trials=2, replications=5, selection=20, report=20, storage=url)
    ...     path = report(output=f"{folder}/report.html", storage=url)
    ...     print(path.name, path.read_text(encoding="utf-8")[:15])
    report.html <!doctype html>
    """
    from tuning.page_files import write_report

    names = None if studies is None else _each(studies)
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
        jobs: Workers; the result is the same for any number.
        backend: "threads" or "loky".
        cluster: The scheduler of a Dask cluster, such as "tcp://host:8786", or "local".

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = reproduce(["figure1"], folder, replications=2)
    >>> result.verdicts()[0].claim.key
    'figure1-means-settle'
    """
    from tuning.files import check_folder, make_folder
    from tuning.reproduction import select_experiments
    from tuning.reproduction.context import make_context
    from tuning.reproduction.runner import reproduce as run
    from tuning.reproduction.runner import write_reproduction

    folder, selected = Path(output), select_experiments(_each(names))
    check_folder(folder)
    make_folder(folder)
    with open_workers(jobs, backend, cluster) as workers:
        context = make_context(folder, protocol=protocol, replications=replications, seed=seed, workers=workers)
        result = run(selected, context, folder)
    write_reproduction(result, folder)
    return result
