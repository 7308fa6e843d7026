"""Finding, listing and summarizing the studies of a storage."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeVar

from ravenlab.common.compat.optuna import study_id
from ravenlab.common.errors import InputError, did_you_mean
from ravenlab.common.text import escape_unprintable
from ravenlab.studies.results.alternatives import BetterPolicy, find_better_policy, is_evidence
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.comparison import is_search_name
from ravenlab.studies.spec.grid import GRID_POLICY
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.keys import ROBUST, SPEC, read_recommendation, read_robust
from ravenlab.studies.storage.lock import find_running

if TYPE_CHECKING:
    from optuna.storages import BaseStorage, RDBStorage
    from optuna.trial import FrozenTrial

    from ravenlab.common.compat.optuna import FrozenStudy
    from ravenlab.studies.results.comparison import Comparison
    from ravenlab.studies.spec.comparison import ComparisonSpec
    from ravenlab.studies.spec.fields import SimulatedSpec
    from ravenlab.studies.spec.study import StudySpec


MAX_NAMES_SHOWN = 5  # in error messages

Value = TypeVar("Value")

log = logging.getLogger("ravenlab")


def is_internal(study: FrozenStudy) -> bool:
    """Whether a study is a search that a comparison runs to tune one of its policies."""
    spec = study.user_attrs.get(SPEC)
    if not isinstance(spec, dict):
        return False
    problem = [spec.get(field) for field in ("scenario", "horizon", "arms", "policy")]
    return is_search_name(study.study_name, *problem)  # type: ignore[arg-type]  # a damaged field matches no name


def select_studies(storage: RDBStorage, names: Sequence[str] | None, internal: bool = False) -> list[FrozenStudy]:
    """Return the named studies, or all; without `internal`, searches of comparisons must be named in full."""
    if names is not None:
        return find_studies(storage, names, internal=internal)
    return [study for study in storage.get_all_studies() if internal or not is_internal(study)]


def find_studies(
    storage: RDBStorage, names: Sequence[str], *, prefixes: bool = True, internal: bool = False
) -> list[FrozenStudy]:
    """Find studies by exact name, by pattern ('raven-ucb/*') or by unique prefix; the result is sorted by name.

    Args:
        storage: The storage.
        names: Names, patterns or prefixes.
        prefixes: Whether prefixes are allowed.
        internal: Whether patterns and prefixes also match searches of comparisons.

    Raises:
        InputError: If a name is unknown or a prefix is ambiguous.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="raven-ucb/blips", storage=storage)
    >>> [study.study_name for study in find_studies(storage, ["raven"])]
    ['raven-ucb/blips']
    """
    known = {study.study_name: study for study in storage.get_all_studies()}
    listed = sorted(name for name, study in known.items() if internal or not is_internal(study))
    matches = {match for name in names for match in ([name] if name in known else _match(name, listed, prefixes))}
    return [known[name] for name in sorted(matches)]


def _match(wanted: str, known: list[str], prefixes: bool) -> list[str]:
    if any(wildcard in wanted for wildcard in "*?["):
        matches = [name for name in known if fnmatchcase(name, wanted)]
        if matches:
            return matches
    elif prefixes and wanted:
        matches = [name for name in known if name.startswith(wanted)]
        complete_parts = [name for name in matches if name.startswith(f"{wanted}/")]
        for candidates in (matches, complete_parts):
            if len(candidates) == 1:
                return candidates
        if matches:
            hint = f"use {wanted + '*'!r} for all of them"
            raise InputError(f"study {wanted!r} matches {len(matches)} studies: {_list_some(matches)}; {hint}.")
    raise InputError(f"unknown study {wanted!r}{did_you_mean(wanted, known)} Stored: {_list_some(known) or 'none'}.")


def _list_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    return ", ".join(repr(name) for name in names[:MAX_NAMES_SHOWN]) + more


def read_each(studies: Sequence[FrozenStudy], read: Callable[[FrozenStudy], Value]) -> list[tuple[FrozenStudy, Value]]:
    """Read something of each study; of several, those that cannot be read are left out with a warning."""
    results = []
    for study in studies:
        try:
            results.append((study, read(study)))
        except InputError as error:
            if len(studies) == 1:
                raise
            log.warning("ravenlab: %s It is left out.", escape_unprintable(str(error)))
    return results


def read_recommendations(
    storage: RDBStorage, names: Sequence[str] | None = None, internal: bool = False
) -> list[Recommendation]:
    """Return the recommendations of the named studies, or of all studies of ravenlab, in a fixed order."""
    return split_by_recommendation(storage, names, internal)[0]


def split_by_recommendation(
    storage: RDBStorage, names: Sequence[str] | None = None, internal: bool = False
) -> tuple[list[Recommendation], list[str]]:
    """Return the recommendations of studies, and the names of studies without one."""
    studies = select_studies(storage, names, internal)
    if names is None:
        studies = [study for study in studies if study.user_attrs.get(SPEC) is not None]
    recommendations, without = [], []
    for study, recommendation in read_each(studies, read_recommendation):
        if recommendation is None:
            without.append(study.study_name)
        else:
            recommendations.append(recommendation)
    recommendations.sort(key=lambda item: (item.policy, item.scenario, item.arms, item.horizon, item.study))
    return recommendations, sorted(without)


def read_robust_results(storage: RDBStorage, names: Sequence[str] | None = None) -> list[RobustRecommendation]:
    """Return the results of the robust searches among the named studies, or among all, sorted by name."""
    studies = [study for study in select_studies(storage, names) if ROBUST in study.user_attrs]
    results = [result for _, result in read_each(studies, read_robust)]
    return sorted((result for result in results if result is not None), key=lambda result: result.study)


def find_better_policies(storage: BaseStorage, recommendations: Iterable[Recommendation]) -> dict[str, BetterPolicy]:
    """Find better policies in the stored comparisons, by the study of each recommendation.

    Comparisons that are unfinished, or that this version cannot read, are skipped.
    """
    specs = list_comparison_specs(storage.get_all_studies())
    read: dict[str, Comparison | None] = {}
    better = {}
    for recommendation in recommendations:
        evidence = []
        for study, spec in specs:
            if is_evidence(spec, recommendation):
                if study.study_name not in read:
                    read[study.study_name] = _read_comparison(storage, study)
                comparison = read[study.study_name]
                evidence += [] if comparison is None else [comparison]
        best = find_better_policy(recommendation, evidence)
        if best is not None:
            better[recommendation.study] = best
    return better


def list_comparison_specs(studies: Iterable[FrozenStudy]) -> list[tuple[FrozenStudy, ComparisonSpec]]:
    """List the comparisons among studies with their specifications, except for those that cannot be read."""
    listed = []
    for study in studies:
        try:
            spec = keys.read_comparison_spec(study)
        except InputError:
            continue
        if spec is not None:
            listed.append((study, spec))
    return listed


def _read_comparison(storage: BaseStorage, study: FrozenStudy) -> Comparison | None:
    from ravenlab.studies.storage.trials import read_comparison

    try:
        return read_comparison(study, storage.get_all_trials(study_id(study), deepcopy=False))
    except InputError:
        return None


StudyKind = Literal["study", "robust", "front", "grid", "comparison", "external"]
StudyState = Literal[
    "searching", "validating", "running", "interrupted", "complete", "recommended", "unsupported", "external"
]
"""A driver is alive in the first three, of which `running` is for grids and comparisons."""


@dataclass(frozen=True)
class StudyRow:
    """Summary of one study; unknown fields of an external study are None."""

    name: str
    policy: str | None
    scenario: str | None
    horizon: int | None
    arms: int | None
    finished: int
    planned: int | None
    best: float | None
    regret: float | None
    """Mean regret on held-out worlds; None before there is a recommendation."""
    state: StudyState
    kind: StudyKind = "external"
    seed: int | None = None
    date: str | None = None
    """Local time at which the last trial was stored, in ISO 8601."""
    seconds: float | None = None
    """Time that the stored trials took, without validation."""


@dataclass(frozen=True)
class TrialCounts:
    """Finished trials of a study, including pruned ones."""

    finished: int = 0
    date: str | None = None
    """Time of the last one."""
    seconds: float | None = None
    """Time that they took."""
    smallest: float | None = None
    """Smallest value of complete ones."""
    largest: float | None = None


def list_studies(storage: RDBStorage, internal: bool = False) -> list[StudyRow]:
    """List all studies, sorted by name; with `internal`, also the searches of comparisons.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="mine", storage=storage)
    >>> [(row.name, row.state) for row in list_studies(storage)]
    [('mine', 'external')]
    """
    counts, studies = _count_trials(storage), select_studies(storage, None, internal)
    rows = [_row(study, counts.get(study_id(study), TrialCounts())) for study in studies]
    return _mark_running(storage, sorted(rows, key=lambda row: row.name))


def describe_study(storage: RDBStorage, study: FrozenStudy) -> StudyRow:
    """Return the summary of one study."""
    return _mark_running(storage, [_row(study, _count_trials(storage).get(study_id(study), TrialCounts()))])[0]


def _mark_running(storage: RDBStorage, rows: Sequence[StudyRow]) -> list[StudyRow]:
    """Set the state of unfinished studies whose driver is alive."""
    running = find_running(storage, [row.name for row in rows if row.state == "interrupted"])
    return [replace(row, state=_running_state(row)) if row.name in running else row for row in rows]


def _running_state(row: StudyRow) -> StudyState:
    if row.kind in ("grid", "comparison"):
        return "running"
    return "searching" if row.planned is None or row.finished < row.planned else "validating"


def _row(study: FrozenStudy, counts: TrialCounts) -> StudyRow:
    """Return the summary of a study; a study that cannot be read counts as external."""
    from optuna.study import StudyDirection

    best = None
    if len(study.directions) == 1:
        best = counts.largest if study.directions[0] == StudyDirection.MAXIMIZE else counts.smallest
    blank = StudyRow(
        name=study.study_name,
        policy=None,
        scenario=None,
        horizon=None,
        arms=None,
        finished=counts.finished,
        planned=None,
        best=best,
        regret=None,
        state="external",
        date=counts.date,
        seconds=counts.seconds,
    )
    try:
        if keys.is_front(study):
            return replace(blank, state="unsupported", kind="front")
        if keys.ROBUST in study.user_attrs:
            return _robust_row(study, blank)
        return _grid_row(study, blank) or _comparison_row(study, blank) or _search_row(study, blank)
    except InputError:
        return blank


def _grid_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    spec = keys.read_grid_spec(study)
    if spec is None:
        return None
    complete = keys.read_indistinguishable(study) is not None
    row = _fill(blank, spec, GRID_POLICY, "grid")
    return replace(row, planned=len(spec.cells()), state="complete" if complete else "interrupted")


def _comparison_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    spec = keys.read_comparison_spec(study)
    if spec is None:
        return None
    row = _fill(blank, spec, f"{len(spec.policies)} policies", "comparison")
    entries = len(spec.entries())
    return replace(row, planned=entries, state="complete" if blank.finished >= entries else "interrupted")


def _search_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    spec, recommendation = keys.read_spec(study), keys.read_recommendation(study)
    if spec is None:
        return blank
    regret = None if recommendation is None else recommendation.regret.mean
    state: StudyState = "interrupted" if recommendation is None else "recommended"
    return replace(_fill(blank, spec, spec.policy, "study"), planned=spec.trials, regret=regret, state=state)


def _robust_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    """Return the summary of a robust search; its best value is a relative regret."""
    spec, result = keys.read_robust_spec(study), keys.read_robust(study)
    if spec is None:
        return blank
    base = spec.base
    row = replace(_fill(blank, base, base.policy, "robust"), scenario=",".join(spec.scenarios))
    return replace(row, planned=base.trials, state="interrupted" if result is None else "recommended")


def _fill(blank: StudyRow, spec: StudySpec | SimulatedSpec, policy: str, kind: StudyKind) -> StudyRow:
    """Fill in policy, scenario, horizon, arms, seed and kind."""
    return replace(
        blank,
        policy=policy,
        scenario=spec.scenario,
        horizon=spec.horizon,
        arms=spec.arms,
        seed=spec.seed,
        kind=kind,
    )


def _count_trials(storage: RDBStorage) -> dict[int, TrialCounts]:
    """Summarize the trials of all studies in three queries."""
    from sqlalchemy import text

    with storage.engine.connect() as connection:
        counts = connection.execute(
            text(
                "SELECT study_id, COUNT(*), MAX(datetime_complete) FROM trials"
                " WHERE state IN ('COMPLETE', 'PRUNED') GROUP BY study_id"
            )
        ).all()
        durations = connection.execute(
            text(
                "SELECT t.study_id, SUM(CAST(a.value_json AS FLOAT)) FROM trials t JOIN trial_user_attributes a"
                " ON a.trial_id = t.trial_id WHERE a.key = :key GROUP BY t.study_id"
            ),
            {"key": keys.SECONDS},
        ).all()
        values = connection.execute(
            text(
                "SELECT t.study_id, MIN(v.value), MAX(v.value) FROM trials t JOIN trial_values v"
                " ON v.trial_id = t.trial_id WHERE t.state = 'COMPLETE' AND v.objective = 0"
                " AND v.value_type = 'FINITE' GROUP BY t.study_id"
            )
        ).all()
    ends = {study: (smallest, largest) for study, smallest, largest in values}
    seconds = {study: round(float(total), 3) for study, total in durations}
    return {
        study: TrialCounts(finished, _format_date(last), seconds.get(study), *ends.get(study, (None, None)))
        for study, finished, last in counts
    }


def read_best_trials(storage: RDBStorage, study: FrozenStudy, limit: int) -> list[FrozenTrial]:
    """Read the best complete trials of a study with one direction, of equal ones the first; no other trial is read."""
    from sqlalchemy import text

    if len(study.directions) != 1:
        return []
    order = "DESC" if study.directions[0].name == "MAXIMIZE" else "ASC"
    query = (
        "SELECT t.trial_id FROM trials t JOIN trial_values v ON v.trial_id = t.trial_id WHERE t.study_id = :study"
        " AND t.state = 'COMPLETE' AND v.objective = 0 AND v.value_type = 'FINITE' AND v.value IS NOT NULL"
        f" ORDER BY v.value {order}, t.number LIMIT :limit"
    )
    with storage.engine.connect() as connection:
        numbers = connection.execute(text(query), {"study": study_id(study), "limit": limit}).scalars().all()
    return [storage.get_trial(number) for number in numbers]


def _format_date(value: object) -> str | None:
    """Format a time, which SQLite returns as text, in ISO 8601 without fractions of a second."""
    try:
        return None if value is None else datetime.fromisoformat(str(value)).isoformat(timespec="seconds")
    except ValueError:  # damaged
        return None
