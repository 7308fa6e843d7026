"""One row a study: what it is, how far it has come and what is known of its best.

Listing takes a fixed number of queries for any number of studies and trials: Optuna's own `get_n_trials`
loads every trial with its parameters only to count them, so counts and best values are asked of the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from environments.errors import InputError
from studies import keys
from studies.grid import POLICY

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy

    from studies.played_spec import PlayedSpec
    from studies.spec import StudySpec

State = Literal["searching", "complete", "recommended", "grid", "comparison", "not ours"]


@dataclass(frozen=True)
class StudyRow:
    """One study at a glance. What a study of someone else does not say is None."""

    name: str
    policy: str | None
    scenario: str | None
    horizon: int | None
    arms: int | None
    done: int
    asked: int | None
    best: float | None
    regret: float | None
    """Mean regret on fresh worlds, once there is a recommendation."""
    state: State


@dataclass(frozen=True)
class Tally:
    """Finished trials (pruned ones too), and the smallest and largest value of complete ones."""

    done: int = 0
    smallest: float | None = None
    largest: float | None = None


def list_studies(storage: RDBStorage) -> list[StudyRow]:
    """All studies by name.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="mine", storage=storage)
    >>> [(row.name, row.state) for row in list_studies(storage)]
    [('mine', 'not ours')]
    """
    tallies = _tallies(storage)
    rows = [_row(study, tallies.get(study._study_id, Tally())) for study in storage.get_all_studies()]
    return sorted(rows, key=lambda row: row.name)


def describe_study(storage: RDBStorage, study: FrozenStudy) -> StudyRow:
    """The row of one study that was found by name."""
    return _row(study, _tallies(storage).get(study._study_id, Tally()))


def _row(study: FrozenStudy, tally: Tally) -> StudyRow:
    """The row of one study; one that can't be read is as good as someone else's."""
    from optuna.study import StudyDirection

    best = None
    if len(study.directions) == 1:
        best = tally.largest if study.directions[0] == StudyDirection.MAXIMIZE else tally.smallest
    blank = StudyRow(study.study_name, None, None, None, None, tally.done, None, best, None, "not ours")
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
    return replace(_placed(blank, here, POLICY), asked=len(here.cells()), state="grid")


def _comparison_row(study: FrozenStudy, blank: StudyRow) -> StudyRow | None:
    spec = keys.read_comparison_spec(study)
    if spec is None:
        return None
    placed = _placed(blank, spec, f"{len(spec.policies)} policies")
    return replace(placed, asked=len(spec.entries()), state="comparison")


def _search_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    spec, found = keys.read_spec(study), keys.read_recommendation(study)
    if spec is None:
        return blank
    regret = None if found is None else found.regret.mean
    state = _state(blank.done, spec.trials, found)
    return replace(_placed(blank, spec, spec.policy), asked=spec.trials, regret=regret, state=state)


def _robust_row(study: FrozenStudy, blank: StudyRow) -> StudyRow:
    """A search over several scenarios: its best value is a relative regret, and there is no one regret."""
    spec, found = keys.read_robust_spec(study), keys.read_robust(study)
    if spec is None:
        return blank
    base = spec.base.resolved()
    placed = replace(_placed(blank, base, base.policy), scenario=",".join(spec.scenarios))
    return replace(placed, asked=base.trials, state=_state(blank.done, base.trials, found))


def _placed(blank: StudyRow, spec: StudySpec | PlayedSpec, policy: str) -> StudyRow:
    """The row with who plays where."""
    return replace(blank, policy=policy, scenario=spec.scenario, horizon=spec.horizon, arms=spec.arms)


def _state(done: int, asked: int, found: object) -> State:
    """How far a search has come."""
    if found is not None:
        return "recommended"
    return "complete" if done >= asked else "searching"


def _tallies(storage: RDBStorage) -> dict[int, Tally]:
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
    return {study: Tally(done, *ends.get(study, (None, None))) for study, done in counts}
