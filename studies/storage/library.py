"""What is stored, found again: studies by name, and all recommendations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


SHOWN = 5
"""How many names an error lists."""


def find_studies(storage: RDBStorage, names: Sequence[str], *, prefixes: bool = True) -> list[FrozenStudy]:
    """Studies by exact name, by pattern ('raven-ucb/*'), or by the beginning of one name alone; by name, each once.

    Without `prefixes` a beginning is not enough.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="raven-ucb/blips", storage=storage)
    >>> [study.study_name for study in find_studies(storage, ["raven"])]
    ['raven-ucb/blips']
    """
    known = {study.study_name: study for study in storage.get_all_studies()}
    found = {name for wanted in names for name in _matches(wanted, sorted(known), prefixes)}
    return [known[name] for name in sorted(found)]


def _matches(wanted: str, known: list[str], prefixes: bool) -> list[str]:
    if wanted in known:
        return [wanted]
    if any(sign in wanted for sign in "*?["):
        fitting = [name for name in known if fnmatchcase(name, wanted)]
        if fitting:
            return fitting
    elif prefixes and wanted:
        fitting = [name for name in known if name.startswith(wanted)]
        whole_parts = [name for name in fitting if name.startswith(f"{wanted}/")]
        for few in (fitting, whole_parts):
            if len(few) == 1:
                return few
        if fitting:
            hint = f"say {wanted + '*'!r} for all"
            raise InputError(f"study {wanted!r} fits {len(fitting)} studies: {_some(fitting)}; {hint}.")
    raise InputError(f"unknown study {wanted!r}{did_you_mean(wanted, known)} Stored: {_some(known) or 'none'}.")


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def read_recommendations(storage: RDBStorage, names: Sequence[str] | None = None) -> list[Recommendation]:
    """What the named studies recommend, or all of ours, in an order that depends on nothing else."""
    return split_by_recommendation(storage, names)[0]


def split_by_recommendation(
    storage: RDBStorage, names: Sequence[str] | None = None
) -> tuple[list[Recommendation], list[str]]:
    """What the named studies (or all of ours) recommend, and the names of those that recommend nothing yet."""
    if names is None:
        studies = [study for study in storage.get_all_studies() if study.user_attrs.get(SPEC) is not None]
    else:
        studies = find_studies(storage, names)
    found, without = [], []
    for study in studies:
        each = read_recommendation(study)
        if each is None:
            without.append(study.study_name)
        else:
            found.append(each)
    found.sort(key=lambda each: (each.policy, each.scenario, each.arms, each.horizon, each.study))
    return found, sorted(without)


def read_robust_results(storage: RDBStorage, names: Sequence[str] | None = None) -> list[RobustRecommendation | Front]:
    """What searches over several scenarios found, among the named studies or all, by name."""
    studies = storage.get_all_studies() if names is None else find_studies(storage, names)
    found = [read_robust(study) for study in studies if ROBUST in study.user_attrs]
    return sorted((each for each in found if each is not None), key=lambda each: each.study)


StudyState = Literal["searching", "complete", "recommended", "grid", "comparison", "external"]


@dataclass(frozen=True)
class StudyRow:
    """One study at a glance. What a study of someone else does not say is None."""

    name: str
    policy: str | None
    scenario: str | None
    horizon: int | None
    arms: int | None
    finished: int
    planned: int | None
    best: float | None
    regret: float | None
    """Mean regret on fresh worlds, once there is a recommendation."""
    state: StudyState


@dataclass(frozen=True)
class TrialCounts:
    """Finished trials (pruned ones too), and the smallest and largest value of complete ones."""

    finished: int = 0
    smallest: float | None = None
    largest: float | None = None


def list_studies(storage: RDBStorage) -> list[StudyRow]:
    """All studies by name.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="mine", storage=storage)
    >>> [(row.name, row.state) for row in list_studies(storage)]
    [('mine', 'external')]
    """
    tallies = _tallies(storage)
    rows = [_row(study, tallies.get(study._study_id, TrialCounts())) for study in storage.get_all_studies()]
    return sorted(rows, key=lambda row: row.name)


def describe_study(storage: RDBStorage, study: FrozenStudy) -> StudyRow:
    """The row of one study that was found by name."""
    return _row(study, _tallies(storage).get(study._study_id, TrialCounts()))


def _row(study: FrozenStudy, tally: TrialCounts) -> StudyRow:
    """The row of one study; one that can't be read is as good as someone else's."""
    from optuna.study import StudyDirection

    best = None
    if len(study.directions) == 1:
        best = tally.largest if study.directions[0] == StudyDirection.MAXIMIZE else tally.smallest
    blank = StudyRow(study.study_name, None, None, None, None, tally.finished, None, best, None, "external")
    try:
        if keys.ROBUST in study.user_attrs:
            return _robust_row(study, blank)
        return _grid_row(study, blank) or _comparison_row(study, blank) or _search_row(study, blank)
    except InputError:
        return blank


def _grid_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    grid = keys.read_grid_spec(study)
    if grid is None:
        return None
    here = grid.resolved()
    return replace(_placed(blank, here, GRID_POLICY), planned=len(here.cells()), state="grid")


def _comparison_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    spec = keys.read_comparison_spec(study)
    if spec is None:
        return None
    placed = _placed(blank, spec, f"{len(spec.policies)} policies")
    return replace(placed, planned=len(spec.entries()), state="comparison")


def _search_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    spec, found = keys.read_spec(study), keys.read_recommendation(study)
    if spec is None:
        return blank
    regret = None if found is None else found.regret.mean
    state = _state(blank.finished, spec.trials, found)
    return replace(_placed(blank, spec, spec.policy), planned=spec.trials, regret=regret, state=state)


def _robust_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    """A search over several scenarios: its best value is a relative regret, and there is no one regret."""
    spec, found = keys.read_robust_spec(study), keys.read_robust(study)
    if spec is None:
        return blank
    base = spec.base.resolved()
    placed = replace(_placed(blank, base, base.policy), scenario=",".join(spec.scenarios))
    return replace(placed, planned=base.trials, state=_state(blank.finished, base.trials, found))


def _placed(blank: StudyRow, spec: StudySpec | SimulatedSpec, policy: str) -> StudyRow:
    """The row with who plays where."""
    return replace(blank, policy=policy, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms)


def _state(finished: int, planned: int, found: object) -> StudyState:
    """How far a search has come."""
    if found is not None:
        return "recommended"
    return "complete" if finished >= planned else "searching"


def _tallies(storage: RDBStorage) -> dict[int, TrialCounts]:
    """Of all studies at once, in two queries."""
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
