"""Finding, listing and summarizing the studies of a storage."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal, TypeVar

from ravenlab.common.compat.optuna import BaseStorage, FrozenStudy, FrozenTrial, RDBStorage, study_id
from ravenlab.common.errors import InputError, did_you_mean
from ravenlab.common.text import escape_unprintable
from ravenlab.studies.kinds import COMPARISON, KINDS, TUNE, StudyKindName, StudyResult, find_kind
from ravenlab.studies.results.alternatives import BetterPolicy, find_better_policy, is_evidence
from ravenlab.studies.results.comparison import Comparison
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.results.verdict import Decision
from ravenlab.studies.spec.comparison import ComparisonSpec, is_search_name
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.lock import find_running

MAX_NAMES_SHOWN = 5  # in error messages

Value = TypeVar("Value")

log = logging.getLogger("ravenlab")


def is_internal(study: FrozenStudy) -> bool:
    """Whether a study is a search that a comparison runs to tune one of its policies."""
    spec = study.user_attrs.get(TUNE.key)
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


def find_study(storage: RDBStorage, name: str) -> FrozenStudy:
    """Find one study by exact name or unique prefix. Raises InputError if none or several match."""
    matches = find_studies(storage, [name])
    if len(matches) > 1:
        raise InputError(f"study {name!r} matches {len(matches)} studies; name one of them.")
    return matches[0]


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
    """Return the recommendations of the named studies of one scenario, or of all, in a fixed order."""
    studies = [study for study in select_studies(storage, names, internal) if find_kind(study) is TUNE]
    results = [result for _, result in read_each(studies, keys.read_recommendation) if result is not None]
    return sorted(results, key=_export_order)


@dataclass(frozen=True)
class Exportable:
    """Recommendations of stored studies in a fixed order, and what the other studies are instead."""

    recommendations: list[Recommendation | RobustRecommendation]
    notes: list[str]
    """A sentence on each study without a recommendation."""


def read_exportable(storage: RDBStorage, names: Sequence[str] | None = None, internal: bool = False) -> Exportable:
    """Read the recommendations of the named studies, or of all studies that recommend parameters.

    Those for single scenarios come first. Of several studies, those that cannot be read are left out with a warning.

    Raises:
        InputError: There is no recommendation.
    """
    studies = []
    notes = {}
    for study in select_studies(storage, names, internal):
        kind = find_kind(study)
        if kind is not None and kind.recommends:
            studies.append(study)
        elif names is not None:
            reason = "was not created by ravenlab" if kind is None else f"is a {kind.name}; {kind.files} writes it"
            notes[study.study_name] = reason
    results = []
    for study, result in read_each(studies, lambda study: read_result(storage, study)):
        if isinstance(result, Recommendation | RobustRecommendation):
            results.append(result)
        else:
            notes[study.study_name] = "has no recommendation yet"
    sentences = [f"study {name!r} {reason}." for name, reason in sorted(notes.items())]
    if not results:
        reasons = " ".join(sentences) or "no study has a recommendation; run ravenlab tune first."
        raise InputError(f"nothing to export: {reasons}")
    return Exportable(sorted(results, key=_export_order), sentences)


def _export_order(result: Recommendation | RobustRecommendation) -> tuple[object, ...]:
    if isinstance(result, RobustRecommendation):
        return (True, result.study)
    return (False, result.policy, result.scenario, result.arms, result.horizon, result.study)


def read_result(storage: BaseStorage, study: FrozenStudy) -> StudyResult | None:
    """Read the result of a study of any kind; None if it has none."""
    kind = find_kind(study)
    result: StudyResult | None = None if kind is None else kind.read_result(storage, study)
    return result


def find_better_policies(storage: BaseStorage, recommendations: Iterable[Recommendation]) -> dict[str, BetterPolicy]:
    """Find better policies in the stored comparisons, by the study of each recommendation.

    Comparisons that are unfinished, or that this version cannot read, are skipped.
    """
    specs = list_comparison_specs(storage.get_all_studies())

    @cache
    def read(place: int) -> list[Comparison]:
        try:
            result = COMPARISON.read_result(storage, specs[place][0])
        except InputError:
            return []
        return [] if result is None else [result.comparison]

    better = {}
    for recommendation in recommendations:
        places = [place for place, (_, spec) in enumerate(specs) if is_evidence(spec, recommendation)]
        best = find_better_policy(recommendation, [comparison for place in places for comparison in read(place)])
        if best is not None:
            better[recommendation.study] = best
    return better


def list_comparison_specs(studies: Iterable[FrozenStudy]) -> list[tuple[FrozenStudy, ComparisonSpec]]:
    """List the comparisons among studies with their specifications, except for those that cannot be read."""
    listed = []
    for study in studies:
        try:
            spec = COMPARISON.read_spec(study)
        except InputError:
            continue
        if spec is not None:
            listed.append((study, spec))
    return listed


ListedKind = StudyKindName | Literal["front", "external"]
StudyState = Literal[
    "searching", "validating", "running", "interrupted", "complete", "recommended", "unsupported", "external"
]
"""A driver is alive in the first three, of which `running` is for grids and comparisons."""


@dataclass(frozen=True)
class StudyRow:
    """Summary of one study; unknown fields of an external study are None."""

    name: str
    policy: str | None = None
    scenario: str | None = None
    horizon: int | None = None
    arms: int | None = None
    finished: int = 0
    planned: int | None = None
    best: float | None = None
    regret: float | None = None
    """Mean regret on held-out worlds; None before there is a recommendation."""
    decision: Decision | None = None
    """What a study recommends to do; None before that, and for grids and comparisons."""
    state: StudyState = "external"
    kind: ListedKind = "external"
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
    return sorted(_summarize(storage, select_studies(storage, None, internal)), key=lambda row: row.name)


def describe_study(storage: RDBStorage, study: FrozenStudy) -> StudyRow:
    """Return the summary of one study."""
    return _summarize(storage, [study])[0]


def _summarize(storage: RDBStorage, studies: Sequence[FrozenStudy]) -> list[StudyRow]:
    """Return the summaries of studies; unfinished ones whose driver is alive are running."""
    counts = _count_trials(storage)
    rows = [_row(study, counts.get(study_id(study), TrialCounts())) for study in studies]
    running = find_running(storage, [row.name for row in rows if row.state == "interrupted"])
    without_recommendation = {kind.name for kind in KINDS if not kind.recommends}
    for place, row in enumerate(rows):
        if row.name in running:
            state: StudyState = "searching" if row.planned is None or row.finished < row.planned else "validating"
            rows[place] = replace(row, state="running" if row.kind in without_recommendation else state)
    return rows


def _row(study: FrozenStudy, counts: TrialCounts) -> StudyRow:
    """Return the summary of a study; a study that cannot be read counts as external."""
    from optuna.study import StudyDirection

    best = None
    if len(study.directions) == 1:
        best = counts.largest if study.directions[0] == StudyDirection.MAXIMIZE else counts.smallest
    row = StudyRow(study.study_name, finished=counts.finished, best=best, date=counts.date, seconds=counts.seconds)
    try:
        if keys.is_front(study):
            return replace(row, state="unsupported", kind="front")
        kind = find_kind(study)
        spec = None if kind is None else kind.read_spec(study)
        if kind is None or spec is None:
            return row
        result = keys.read_recommendation(study) or keys.read_robust(study)
    except InputError:
        return row
    state: StudyState = "interrupted"
    if kind.is_complete(study):
        state = "recommended" if kind.recommends else "complete"
    row = replace(row, **spec.summary(), planned=spec.planned, state=state, kind=kind.name)
    if result is None:
        return row
    regret = result.regret.mean if isinstance(result, Recommendation) else None
    return replace(row, regret=regret, decision=result.verdict.decision)


COUNTS = (
    "SELECT study_id, COUNT(*), MAX(datetime_complete) FROM trials"
    " WHERE state IN ('COMPLETE', 'PRUNED') GROUP BY study_id",
    "SELECT t.study_id, SUM(CAST(a.value_json AS FLOAT)) FROM trials t JOIN trial_user_attributes a"
    f" ON a.trial_id = t.trial_id WHERE a.key = '{keys.SECONDS}' GROUP BY t.study_id",
    "SELECT t.study_id, MIN(v.value), MAX(v.value) FROM trials t JOIN trial_values v ON v.trial_id = t.trial_id"
    " WHERE t.state = 'COMPLETE' AND v.objective = 0 AND v.value_type = 'FINITE' GROUP BY t.study_id",
)


def _count_trials(storage: RDBStorage) -> dict[int, TrialCounts]:
    """Summarize the trials of all studies in three queries."""
    from sqlalchemy import text

    with storage.engine.connect() as connection:
        counts, durations, values = (connection.execute(text(query)).all() for query in COUNTS)
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
