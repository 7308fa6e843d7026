"""The Python API without studies of its own: simulate, diagnose, recommend, load_result, export and reproduce."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack, overload

from ravenlab.common.checks import check_integer
from ravenlab.common.documents import ResultList
from ravenlab.common.errors import InputError
from ravenlab.environments.recorded.log_file import Columns, Log
from ravenlab.environments.recorded.recording import is_binary
from ravenlab.environments.recorded.trace_file import Trace
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.simulation import Simulation
from ravenlab.policies.engine.simulation import simulate as run_simulation
from ravenlab.studies.export import DEFAULT_FORMAT
from ravenlab.studies.export import export as export_text
from ravenlab.studies.laws.recommendation import RecommendedParameters
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.storage.database import use_storage
from ravenlab.tuning.advice import Question, answer_question
from ravenlab.tuning.screen import open_screen
from ravenlab.tuning.workers.local import DEFAULT_BACKEND, open_workers, worker_count

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pandas import DataFrame

    from ravenlab.environments.blocks import AnyScenario
    from ravenlab.environments.world import Floats
    from ravenlab.policies.engine.base import Policy
    from ravenlab.policies.engine.parameters import Value
    from ravenlab.studies.diagnosis.result import Diagnosis
    from ravenlab.studies.kinds import StudyResult
    from ravenlab.studies.paper.results import ReproductionResult
    from ravenlab.studies.results.recommendation import Recommendation
    from ravenlab.studies.results.robust import RobustRecommendation
    from ravenlab.tuning.listener import Listener

    ExportableResult: TypeAlias = Recommendation | RobustRecommendation | RecommendedParameters


def is_one(value: Any) -> bool:
    """Whether an argument is a single value, not a sequence of values. Specifications and results are single values.

    >>> is_one("blips"), is_one(None), is_one(["blips"]), is_one(range(3))
    (True, True, False, False)
    """
    return isinstance(value, str) or not isinstance(value, Collection | Iterator)


def as_list(values: Any) -> list[Any]:
    """Return one or several values as a list."""
    return [values] if is_one(values) else list(values)


class SimulationOptions(TypedDict, total=False):
    """Further arguments of `simulate`."""

    trace: str | Path | Trace | None
    minimize: bool
    arms: int | None
    replications: int
    seed: int
    params: Mapping[str, Value] | None
    settings: Mapping[str, Any] | None
    checkpoints: Sequence[int] | int | None
    pulls: bool
    jobs: int | None
    stream: int


@overload
def simulate(
    policy: str | type[Policy],
    scenario: str | AnyScenario | None = None,
    *,
    horizon: int | None = None,
    **options: Unpack[SimulationOptions],
) -> Simulation: ...
@overload
def simulate(
    policy: list[str] | list[type[Policy]] | tuple[str | type[Policy], ...],
    scenario: str | AnyScenario | Sequence[str | AnyScenario] | None = None,
    *,
    horizon: int | Sequence[int] | None = None,
    **options: Unpack[SimulationOptions],
) -> ResultList[Simulation]: ...
@overload
def simulate(
    policy: str | type[Policy],
    scenario: list[str] | list[AnyScenario] | tuple[str | AnyScenario, ...],
    *,
    horizon: int | Sequence[int] | None = None,
    **options: Unpack[SimulationOptions],
) -> ResultList[Simulation]: ...
@overload
def simulate(
    policy: str | type[Policy],
    scenario: str | AnyScenario | None = None,
    *,
    horizon: Sequence[int],
    **options: Unpack[SimulationOptions],
) -> ResultList[Simulation]: ...
def simulate(
    policy: Any,
    scenario: Any = None,
    *,
    trace: str | Path | Trace | None = None,
    minimize: bool = False,
    horizon: int | Sequence[int] | None = None,
    arms: int | None = None,
    replications: int = 100,
    seed: int = 0,
    params: Mapping[str, Value] | None = None,
    settings: Mapping[str, Any] | None = None,
    checkpoints: Sequence[int] | int | None = None,
    pulls: bool = False,
    jobs: int | None = None,
    stream: int = Stream.SIMULATE,
) -> Simulation | ResultList[Simulation]:
    """Simulate a policy and measure its regret.

    A sequence of policies, scenarios or horizons gives a list with one result per combination; all policies play the
    same worlds.

    Args:
        policy: A name such as "raven-ucb", or a class; one or several.
        scenario: A name such as "variance-drift", effects joined by "+", or a `Scenario`; one or several.
        trace: A file or `Trace` instead of a scenario; windows of it are played.
        minimize: Whether the values of the trace are costs.
        horizon: Number of steps T, one or several; by default that of the scenario. On a trace, the length of a window
            in rows.
        arms: Number of arms K; by default that of the scenario.
        replications: Number of worlds.
        seed: Random seed; with the same seed all policies play the same worlds.
        params: Parameters of the policy; the others have their defaults.
        settings: Parameters of the scenario, such as ``{"every": "5%", "noise": "laplace"}``.
        checkpoints: Steps at which cumulative regret and reward are recorded, or a number of evenly spaced steps up to
            the last one.
        pulls: Whether to record the arm pulled at each step.
        jobs: Number of threads; one per core by default. It does not affect the result.
        stream: Random stream.

    Returns:
        The regret, reward and suboptimal pulls of each world.

    Raises:
        InputError: An argument is invalid.

    Example:

    >>> result = simulate("raven-ucb", "blips", horizon=500, arms=5, replications=3, seed=7)
    >>> result.regret.shape
    (3,)
    >>> [each.policy for each in simulate(["ucb1", "ccb"], "blips", horizon=100, arms=3, replications=2)]
    ['ucb1', 'ccb']
    """
    results = ResultList(
        run_simulation(
            each_policy,
            each_scenario,
            trace=trace,
            minimize=minimize,
            horizon=steps,
            arms=arms,
            replications=replications,
            seed=seed,
            params=params,
            settings=settings,
            checkpoints=checkpoints,
            pulls=pulls,
            jobs=worker_count(jobs),
            stream=stream,
        )
        for each_policy, each_scenario, steps in product(as_list(policy), as_list(scenario), as_list(horizon))
    )
    return results[0] if is_one(policy) and is_one(scenario) and is_one(horizon) else results


def diagnose(
    data: str | Path | Trace | Log | DataFrame | list[DataFrame] | Floats,
    names: Sequence[str] = (),
    *,
    columns: Columns | None = None,
    minimize: bool = False,
    halves: int = 10,
    seed: int = 0,
) -> Diagnosis:
    """Find out which kinds of change recorded rewards show.

    Args:
        data: A trace or log: a file, a DataFrame with the same columns, a `Trace` or a `Log`; a collection of traces,
            of which a file with the most common result is described; or an array with one row per step and one column
            per arm, with NaN where no reward was observed.
        names: Names of the arms of an array.
        columns: Names of the columns of a log, such as ``{"arm": "carrier"}``; recognized if absent.
        minimize: Whether the values are costs. They are diagnosed as rewards: as negative costs, or 1 − cost if all
            are 0 or 1.
        halves: Number of random halves of the rows to diagnose again, which shows how stable the result is.
        seed: Seed of the random halves.

    Returns:
        The kinds of change, with strength and significance. `propose_study` turns them into a study file.

    Raises:
        InputError: The file cannot be read, or the table is not two-dimensional.

    Example:

    >>> import numpy as np
    >>> rewards = np.random.default_rng(1).normal(size=(1000, 3)) + np.linspace(0, 1, 1000)[:, None]
    >>> diagnose(rewards, halves=0).verdict
    'incremental-drift'
    """
    import numpy as np
    import pandas

    from ravenlab.environments.recorded.collection import CollectionScenario, is_collection
    from ravenlab.environments.recorded.recording import are_frames, write_frame
    from ravenlab.environments.recorded.trace_world import open_trace
    from ravenlab.studies.diagnosis.analysis import RecordedRewards, read_rewards, tabulate_log
    from ravenlab.studies.diagnosis.analysis import diagnose as diagnose_table

    check_integer("halves", halves, least=0, most=1000)
    check_integer("seed", seed, least=0)
    files: dict[str, str] = {}
    if isinstance(data, list) and are_frames(data):
        with tempfile.TemporaryDirectory() as folder:
            return diagnose(write_frame(data, Path(folder), "data"), minimize=minimize, halves=halves, seed=seed)
    if isinstance(data, pandas.DataFrame):
        with tempfile.TemporaryDirectory() as folder:
            rewards = read_rewards(write_frame(data, Path(folder), "data"), columns)
    elif isinstance(data, str | Path) and is_collection(data):
        collection = open_trace(data, minimize)
        assert isinstance(collection, CollectionScenario)
        tables = dict(zip(collection.files, np.split(collection.trace.values, collection.starts[1:-1]), strict=True))
        signed = np.split(collection.positive_rewards, collection.starts[1:-1])
        arms = collection.trace.names
        files = {file: diagnose_table(part, arms).verdict for file, part in zip(tables, signed, strict=True)}
        shown = max(sorted(files), key=lambda file: list(files.values()).count(files[file]))
        rewards = RecordedRewards("trace", arms, tables[shown])
    elif isinstance(data, str | Path):
        rewards = read_rewards(Path(data), columns)
    elif isinstance(data, Trace):
        rewards = RecordedRewards("trace", data.names, data.values, data.notes)
    elif isinstance(data, Log):
        rewards = tabulate_log(data)
    else:
        try:
            values = np.asarray(data, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("data must be a table of numbers: one row per step, one column per arm.") from None
        if values.ndim != 2:
            raise InputError(f"data must be a table of rows and arms but got shape {values.shape}.")
        if len(names) not in (0, values.shape[1]):
            raise InputError(f"names must have {values.shape[1]} items, one per arm, but got {len(names)}.")
        rewards = RecordedRewards("trace", tuple(names), values)
    values = rewards.values
    if minimize:
        values = (1.0 if is_binary(values) else 0.0) - values
    diagnosis = diagnose_table(values, rewards.names, halves, seed, check=True)
    return replace(diagnosis, kind=rewards.kind, notes=rewards.notes, files=files)


def recommend(
    scenario: str | Path | None = None,
    horizon: int | None = None,
    *,
    policy: str = StudyDefaults.policy,
    arms: int | None = None,
    settings: Mapping[str, Any] | None = None,
    minimize: bool = False,
    keep_state: bool = False,
    columns: Columns | None = None,
    storage: str | None = None,
    search: bool = True,
    jobs: int | None = None,
    progress: bool = True,
    **quantities: float,
) -> RecommendedParameters:
    """Recommend parameters for a scenario, a file of recorded rewards, or a described problem.

    A stored study or the law answers a scenario at once. Everything else, such as rewards of 0 and 1, is answered by a
    search that takes seconds, starts from the nearest law and is not stored.

    Args:
        scenario: A name; effects may be joined by "+". Or a file with a trace or a log.
        horizon: Number of steps T; on a trace, the rows of a window unless `keep_state` is true.
        policy: The policy.
        arms: Number of arms K; by default that of the scenario.
        settings: Parameters of the scenario, such as ``{"every": "5%", "variance_high": 0.2}``.
        minimize: Whether the values of a file are costs.
        keep_state: Whether the policy keeps running on a trace for `horizon` steps instead of being restarted.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3. A file that does not exist is
            not created.
        search: Whether a problem without a law is searched.
        jobs: Number of workers of a search; one per core by default. It does not affect the result.
        progress: Whether the progress of a search is shown on stderr if that is a terminal, and in notebooks.
        quantities: A description instead of settings: `difference` (typical difference between the means of two arms),
            `sd` (standard deviation of the rewards of an arm) or `rate` (of rewards of 0 and 1), and `changes` (their
            number within the horizon).

    Returns:
        The parameters, the expected regret with its interval, and where they come from.

    Raises:
        InputError: An argument is invalid, or without a search there is neither a stored study nor a law.

    Example:

    >>> recommend("stationary", 5000, arms=20, storage="sqlite:///missing.sqlite3").kind
    'interpolated'
    >>> recommend("stationary", 500, arms=3, difference=0.1, rate=0.5, storage="sqlite:///missing.sqlite3").understood
    '3 arms for 500 steps; rewards are 0 or 1 with rates between 0.35 and 0.65; stationary.'
    """
    about = None if scenario is None else str(scenario)
    question = Question(
        about, horizon, policy, arms, dict(settings or {}), quantities, minimize, keep_state=keep_state, columns=columns
    )

    def open_progress(note: str) -> AbstractContextManager[Listener | None]:
        from ravenlab.tuning.progress import Reporter

        return open_screen(Reporter, progress)

    return answer_question(question, storage, open_progress, search=search, jobs=jobs)


def load_result(study: str, *, storage: str | None = None) -> StudyResult:
    """Load the result of a study, grid, comparison or robust search, also one that the command line ran.

    Args:
        study: A name or a unique prefix.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.

    Returns:
        The same result that `tune`, `grid`, `compare` or `tune_robust` returned.

    Raises:
        InputError: No study or more than one matches, or it has no result yet.

    Example:

    >>> import tempfile
    >>> from ravenlab.tuning.api import tune
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     result = tune("stationary", 100, arms=3, trials=2, replications=5, selection=20, report=20, storage=url)
    ...     load_result("raven-ucb/stationary", storage=url) == result
    True
    """
    from ravenlab.studies.storage.library import find_study, read_result

    with use_storage(storage) as store:
        stored = find_study(store, study)
        result: StudyResult | None = read_result(store, stored)
    if result is None:
        raise InputError(f"study {stored.study_name!r} has no result: it is unfinished, or ravenlab did not create it.")
    return result


def export(
    studies: str | ExportableResult | Sequence[str] | Sequence[ExportableResult] | None = None,
    form: str = DEFAULT_FORMAT,
    *,
    storage: str | None = None,
) -> str:
    """Export recommendations: stored ones by name, or the results of `tune`, `tune_robust` and `recommend`.

    Args:
        studies: One or several names, unique prefixes or patterns such as "raven-ucb/*", or one or several results; by
            default all stored recommendations but those of the searches of comparisons.
        form: The format: json, toml, yaml, csv, markdown, latex or python.
        storage: Database URL; by default RAVENLAB_STORAGE or sqlite:///studies.sqlite3.

    Returns:
        The text of the file.

    Raises:
        InputError: No study matches, there is no recommendation, or the format is unknown.

    Warns:
        UserWarning: A named study has no recommendation, and why.

    Example:

    >>> import tempfile
    >>> from ravenlab.tuning.api import tune
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/studies.sqlite3"
    ...     result = tune("stationary", 100, arms=3, trials=2, replications=5, selection=20, report=20, storage=url)
    ...     export(result) == export(result.study, storage=url)
    True
    """
    from ravenlab.studies.results.expected import Advice
    from ravenlab.studies.storage.library import read_exportable

    names = None if studies is None else as_list(studies)
    if names and not all(isinstance(name, str) for name in names):
        results = [
            result.as_recommendation() if isinstance(result, RecommendedParameters) else result for result in names
        ]
        for result in results:
            if not isinstance(result, Advice):
                raise InputError(f"studies must be names or recommendations but got {type(result).__name__}.")
        return export_text(results, form)
    with use_storage(storage) as store:
        exportable = read_exportable(store, names)
    for note in exportable.notes:
        warnings.warn(note, UserWarning, stacklevel=2)
    return export_text(exportable.recommendations, form)


def reproduce(
    names: str | Sequence[str] = (),
    output: str | Path = "reproduction",
    *,
    protocol: str = "both",
    replications: int | None = None,
    seed: int = StudyDefaults.seed,
    jobs: int | None = None,
    backend: str = DEFAULT_BACKEND,
    cluster: str | None = None,
    progress: bool = True,
) -> ReproductionResult:
    """Reproduce the paper and write the page, JSON and CSV files to a folder.

    Args:
        names: One or several figures or tables such as "figure1" or "table3"; all by default.
        output: The folder; completed pieces in it are reused.
        protocol: "published" (as in the authors' scripts), "defined" (as in the paper's text), or "both".
        replications: Replications of Table 3, 50 by default; all other counts are proportional.
        seed: Random seed.
        jobs: Number of workers; one per core by default. It does not affect the result.
        backend: "threads" or "loky".
        cluster: Address of the scheduler of a Dask cluster, such as "tcp://host:8786", or "local".
        progress: Whether progress is shown on stderr if that is a terminal, and in notebooks.

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
    from ravenlab.tuning.reproduction.progress import ReproductionReporter
    from ravenlab.tuning.reproduction.runner import reproduce_paper

    result, _ = reproduce_paper(
        as_list(names),
        Path(output),
        open_workers(jobs, backend, cluster),
        open_screen(ReproductionReporter, progress),
        protocol=protocol,
        replications=replications,
        seed=seed,
    )
    return result
