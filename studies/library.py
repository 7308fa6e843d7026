"""What is stored, read back: one row a study, studies by name, and all recommendations.

Listing takes a fixed number of queries for any number of studies and trials: Optuna's own `get_n_trials`
loads every trial with its parameters only to count them, so counts and best values are asked of the tables.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from environments.errors import InputError
from studies.grid import POLICY
from studies.keys import (
    ROBUST,
    SPEC,
    read_comparison_spec,
    read_grid_spec,
    read_recommendation,
    read_robust,
    read_robust_spec,
    read_spec,
)
from studies.recommendation import Recommendation
from studies.robust_recommendation import Front, RobustRecommendation

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy

State = Literal["searching", "complete", "recommended", "grid", "comparison", "not ours"]

SHOWN = 5
"""How many names an error lists."""


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


def list_studies(storage: RDBStorage) -> list[StudyRow]:
    """All studies by name.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="mine", storage=storage)
    >>> [(row.name, row.state) for row in list_studies(storage)]
    [('mine', 'not ours')]
    """
    tallies = _tallies(storage)
    nothing = Tally(0, None, None)
    rows = [summary(study, tallies.get(study._study_id, nothing)) for study in storage.get_all_studies()]
    return sorted(rows, key=lambda row: row.name)


@dataclass(frozen=True)
class Tally:
    """Finished trials (pruned ones too), and the smallest and largest value of complete ones."""

    done: int
    smallest: float | None
    largest: float | None


def summary(study: FrozenStudy, tally: Tally) -> StudyRow:
    """The row of one study."""
    from optuna.study import StudyDirection

    best = None
    if len(study.directions) == 1:
        best = tally.largest if study.directions[0] == StudyDirection.MAXIMIZE else tally.smallest
    try:
        spec, found, grid = read_spec(study), read_recommendation(study), read_grid_spec(study)
        compared = read_comparison_spec(study)
    except InputError:
        spec, grid, compared = None, None, None
    if ROBUST in study.user_attrs:
        return _summary_of_robust(study, tally, best)
    if grid is not None:
        here = grid.resolved()
        return StudyRow(
            name=study.study_name,
            policy=POLICY,
            scenario=here.scenario,
            horizon=here.horizon,
            arms=here.arms,
            done=tally.done,
            asked=len(here.cells()),
            best=best,
            regret=None,
            state="grid",
        )
    if compared is not None:
        return StudyRow(
            name=study.study_name,
            policy=f"{len(compared.policies)} policies",
            scenario=compared.scenario,
            horizon=compared.horizon,
            arms=compared.arms,
            done=tally.done,
            asked=len(compared.entries()),
            best=best,
            regret=None,
            state="comparison",
        )
    if spec is None:
        return StudyRow(study.study_name, None, None, None, None, tally.done, None, best, None, "not ours")
    state: State = "searching"
    if found is not None:
        state = "recommended"
    elif tally.done >= spec.trials:
        state = "complete"
    return StudyRow(
        name=study.study_name,
        policy=spec.policy,
        scenario=spec.scenario,
        horizon=spec.horizon,
        arms=spec.arms,
        done=tally.done,
        asked=spec.trials,
        best=best,
        regret=None if found is None else found.regret.mean,
        state=state,
    )


def _summary_of_robust(study: FrozenStudy, tally: Tally, best: float | None) -> StudyRow:
    """The row of a search over several scenarios; its best value is a relative regret, and there is no one regret."""
    try:
        spec, found = read_robust_spec(study), read_robust(study)
    except InputError:
        spec = None
    if spec is None:
        return StudyRow(study.study_name, None, None, None, None, tally.done, None, best, None, "not ours")
    base = spec.base.resolved()
    done: State = "complete" if tally.done >= base.trials else "searching"
    return StudyRow(
        name=study.study_name,
        policy=base.policy,
        scenario=",".join(spec.scenarios),
        horizon=base.horizon,
        arms=base.arms,
        done=tally.done,
        asked=base.trials,
        best=best,
        regret=None,
        state=done if found is None else "recommended",
    )


def describe_study(storage: RDBStorage, study: FrozenStudy) -> StudyRow:
    """The row of one study that was found by name."""
    return summary(study, _tallies(storage).get(study._study_id, Tally(0, None, None)))


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
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise InputError(f"unknown study {wanted!r}{hint} Stored: {_some(known) or 'none'}.")


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def recommendations(storage: RDBStorage, names: Sequence[str] | None = None) -> list[Recommendation]:
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


def robust_findings(storage: RDBStorage, names: Sequence[str] | None = None) -> list[RobustRecommendation | Front]:
    """What searches over several scenarios found, among the named studies or all, by name."""
    studies = storage.get_all_studies() if names is None else find_studies(storage, names)
    found = [read_robust(study) for study in studies if ROBUST in study.user_attrs]
    return sorted((each for each in found if each is not None), key=lambda each: each.study)
