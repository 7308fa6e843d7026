"""Finding, listing and summarizing the studies of a storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from environments.errors import InputError, did_you_mean
from studies.results.recommendation import Recommendation
from studies.results.robust import Front, RobustRecommendation
from studies.spec.grid import GRID_POLICY
from studies.storage import keys
from studies.storage.keys import ROBUST, SPEC, read_recommendation, read_robust

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy

    from studies.spec.fields import SimulatedSpec
    from studies.spec.study import StudySpec


MAX_NAMES_SHOWN = 5  # in error messages


def find_studies(storage: RDBStorage, names: Sequence[str], *, prefixes: bool = True) -> list[FrozenStudy]:
    """Find studies by exact name, by pattern ('raven-ucb/*') or by unique prefix; the result is sorted by name.

    Args:
        storage: The storage.
        names: Names, patterns or prefixes.
        prefixes: Whether prefixes are allowed.

    Raises:
        InputError: If a name is unknown or a prefix is ambiguous.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="raven-ucb/blips", storage=storage)
    >>> [study.study_name for study in find_studies(storage, ["raven"])]
    ['raven-ucb/blips']
    """
    known = {study.study_name: study for study in storage.get_all_studies()}
    matches = {match for name in names for match in _match(name, sorted(known), prefixes)}
    return [known[name] for name in sorted(matches)]


def _match(wanted: str, known: list[str], prefixes: bool) -> list[str]:
    if wanted in known:
        return [wanted]
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


def read_recommendations(storage: RDBStorage, names: Sequence[str] | None = None) -> list[Recommendation]:
    """Return the recommendations of the named studies, or of all studies of ravenlab, in a fixed order."""
    return split_by_recommendation(storage, names)[0]


def split_by_recommendation(
    storage: RDBStorage, names: Sequence[str] | None = None
) -> tuple[list[Recommendation], list[str]]:
    """Return the recommendations of studies, and the names of studies without one."""
    if names is None:
        studies = [study for study in storage.get_all_studies() if study.user_attrs.get(SPEC) is not None]
    else:
        studies = find_studies(storage, names)
    recommendations, without = [], []
    for study in studies:
        recommendation = read_recommendation(study)
        if recommendation is None:
            without.append(study.study_name)
        else:
            recommendations.append(recommendation)
    recommendations.sort(key=lambda item: (item.policy, item.scenario, item.arms, item.horizon, item.study))
    return recommendations, sorted(without)


def read_robust_results(storage: RDBStorage, names: Sequence[str] | None = None) -> list[RobustRecommendation | Front]:
    """Return the results of the robust searches among the named studies, or among all, sorted by name."""
    studies = storage.get_all_studies() if names is None else find_studies(storage, names)
    results = [read_robust(study) for study in studies if ROBUST in study.user_attrs]
    return sorted((result for result in results if result is not None), key=lambda result: result.study)


StudyState = Literal["searching", "complete", "recommended", "grid", "comparison", "external"]


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


@dataclass(frozen=True)
class TrialCounts:
    """Number of finished trials, including pruned ones, and the smallest and largest value of complete ones."""

    finished: int = 0
    smallest: float | None = None
    largest: float | None = None


def list_studies(storage: RDBStorage) -> list[StudyRow]:
    """List all studies, sorted by name.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="mine", storage=storage)
    >>> [(row.name, row.state) for row in list_studies(storage)]
    [('mine', 'external')]
    """
    counts = _count_trials(storage)
    rows = [_row(study, counts.get(study._study_id, TrialCounts())) for study in storage.get_all_studies()]
    return sorted(rows, key=lambda row: row.name)


def describe_study(storage: RDBStorage, study: FrozenStudy) -> StudyRow:
    """Return the summary of one study."""
    return _row(study, _count_trials(storage).get(study._study_id, TrialCounts()))


def _row(study: FrozenStudy, counts: TrialCounts) -> StudyRow:
    """Return the summary of a study; a study that cannot be read counts as external."""
    from optuna.study import StudyDirection

    best = None
    if len(study.directions) == 1:
        best = counts.largest if study.directions[0] == StudyDirection.MAXIMIZE else counts.smallest
    blank = StudyRow(study.study_name, None, None, None, None, counts.finished, None, best, None, "external")
    try:
        if keys.ROBUST in study.user_attrs:
            return _robust_row(study, blank)
        return _grid_row(study, blank) or _comparison_row(study, blank) or _search_row(study, blank)
    except InputError:
        return blank


def _grid_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    spec = keys.read_grid_spec(study)
    if spec is None:
        return None
    return replace(_fill(blank, spec, GRID_POLICY), planned=len(spec.cells()), state="grid")


def _comparison_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    spec = keys.read_comparison_spec(study)
    if spec is None:
        return None
    row = _fill(blank, spec, f"{len(spec.policies)} policies")
    return replace(row, planned=len(spec.entries()), state="comparison")


def _search_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    spec, recommendation = keys.read_spec(study), keys.read_recommendation(study)
    if spec is None:
        return blank
    regret = None if recommendation is None else recommendation.regret.mean
    state = _search_state(blank.finished, spec.trials, recommendation)
    return replace(_fill(blank, spec, spec.policy), planned=spec.trials, regret=regret, state=state)


def _robust_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    """Return the summary of a robust search; its best value is a relative regret."""
    spec, result = keys.read_robust_spec(study), keys.read_robust(study)
    if spec is None:
        return blank
    base = spec.base
    row = replace(_fill(blank, base, base.policy), scenario=",".join(spec.scenarios))
    return replace(row, planned=base.trials, state=_search_state(blank.finished, base.trials, result))


def _fill(blank: StudyRow, spec: StudySpec | SimulatedSpec, policy: str) -> StudyRow:
    """Fill in policy, scenario, horizon and arms."""
    return replace(blank, policy=policy, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms)


def _search_state(finished: int, planned: int, result: object) -> StudyState:
    if result is not None:
        return "recommended"
    return "complete" if finished >= planned else "searching"


def _count_trials(storage: RDBStorage) -> dict[int, TrialCounts]:
    """Count the trials of all studies in two queries."""
    from sqlalchemy import text

    with storage.engine.connect() as connection:
        counts = connection.execute(
            text("SELECT study_id, COUNT(*) FROM trials WHERE state IN ('COMPLETE', 'PRUNED') GROUP BY study_id")
        ).all()
        values = connection.execute(
            text(
                "SELECT t.study_id, MIN(v.value), MAX(v.value) FROM trials t JOIN trial_values v"
                " ON v.trial_id = t.trial_id WHERE t.state = 'COMPLETE' AND v.objective = 0"
                " AND v.value_type = 'FINITE' GROUP BY t.study_id"
            )
        ).all()
    ends = {study: (smallest, largest) for study, smallest, largest in values}
    return {study: TrialCounts(finished, *ends.get(study, (None, None))) for study, finished in counts}
