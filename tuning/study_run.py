"""Going on with a study that is there already: what was stored must agree with what is asked for now."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from environments.errors import InputError
from studies.results.recommendation import Recommendation
from studies.spec.study import BUDGET_FIELDS, ResolvedStudy, StudySpec
from studies.storage import keys
from studies.storage.database import has_study
from studies.storage.keys import COMPARISON, GRID, ROBUST, SPEC
from studies.storage.lock import run_as_driver
from tuning.search.loop import Progress, search
from tuning.workers.local import SERIAL, Workers
from tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


Direction = Literal["minimize", "maximize"]
Stored = TypeVar("Stored")

KINDS = {
    SPEC: "a search of one world",
    GRID: "a grid",
    ROBUST: "a search over several scenarios",
    COMPARISON: "a comparison",
}
"""What a study is, by the key of its specification."""

VALIDATED = ("candidates", "selection", "report")
"""Budgets that a recommendation hangs on, but no trial."""


def open_study(
    storage: RDBStorage, name: str, kind: str, directions: Sequence[Direction], sign: Callable[[optuna.Study], None]
) -> optuna.Study:
    """The study of a name and of one of the `KINDS`; where there is none, a new one that `sign` writes its
    specification to.

    A kill between the two leaves one without, which whoever goes on signs then. What is of another kind, or not ours,
    is refused.
    """
    import optuna

    if has_study(storage, name):
        study = optuna.load_study(storage=storage, study_name=name)
        if kind in study.user_attrs:
            return study
        _refuse_others(study, kind, directions)
    else:
        study = optuna.create_study(storage=storage, study_name=name, directions=list(directions))
    sign(study)
    return study


def _refuse_others(study: optuna.Study, kind: str, directions: Sequence[Direction]) -> None:
    """Raise InputError unless a study without the specification of this kind is empty, and as it would be made."""
    other = next((what for key, what in KINDS.items() if key in study.user_attrs), None)
    if other is not None:
        raise InputError(
            f"study {study.study_name!r} is {other}, not {KINDS[kind]}; choose another name.", field="name"
        )
    alike = [each.name.lower() for each in study.directions] == list(directions)
    if not alike or study.get_trials(deepcopy=False):
        raise InputError(f"study {study.study_name!r} was not made by ravenlab; choose another name.", field="name")


def require_loaded(stored: Stored | None, what: str) -> Stored:
    """The specification that was stored; one that plays something that is not here reads as None, and is refused.

    >>> at_hand(None, "grid 'mine'")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: grid 'mine' uses a plugin that is not loaded; choose another name.
    """
    if stored is None:
        raise InputError(f"{what} uses a plugin that is not loaded; choose another name.", field="name")
    return stored


def check_comparable(what: str, parts: str, differences: Sequence[str]) -> None:
    """Raise InputError where specifications differ in what would mix parts that can't be compared.

    >>> refuse_differences("grid 'mine'", "cells", ["seed 1 instead of 0"])
    Traceback (most recent call last):
    ...
    environments.errors.InputError: grid 'mine' already exists and its cells would not be comparable: seed 1 instead \
of 0; delete it or choose another name.
    """
    if differences:
        raise InputError(
            f"{what} already exists and its {parts} would not be comparable: "
            f"{'; '.join(differences)}; delete it or choose another name.",
            field="name",
        )


def update_budget(
    asked: StudySpec, stored: StudySpec, landed: int, forget: Callable[[], None], write: Callable[[], None]
) -> None:
    """Write a budget that is not the stored one; forget what was recommended if it could come out otherwise."""
    if _differ(asked, stored, BUDGET_FIELDS):
        if _differ(asked, stored, VALIDATED) or asked.trials > landed:
            forget()
        write()


def _differ(asked: StudySpec, stored: StudySpec, fields: Sequence[str]) -> bool:
    return any(getattr(asked, field) != getattr(stored, field) for field in fields)


@dataclass(frozen=True)
class StudyRun:
    """What came of running a study: `finished` is False when time was up first, `fresh` when nothing was to do."""

    study: str
    trials: int
    finished: bool
    fresh: bool
    recommendation: Recommendation | None


@dataclass(frozen=True)
class StudyListener:
    """Who wants to know: the start (with trials landed before), every batch, the validation, its end."""

    begin: Callable[[StudySpec, int], None]
    batch: Callable[[Progress], None]
    validate: Callable[[], None]
    found: Callable[[], None] = lambda: None


def run_study(
    spec: StudySpec,
    url: str,
    workers: Workers = SERIAL,
    timeout: float | None = None,
    listener: StudyListener | None = None,
) -> StudyRun:
    """Search, validate and recommend; go on where an earlier run stopped, do nothing where it is complete."""
    deadline = None if timeout is None else time.monotonic() + timeout
    name = spec.study_name()
    worked = False

    def go_on(storage: RDBStorage) -> StudyRun:
        nonlocal worked
        study = open_study(storage, name, keys.SPEC, [_direction(spec)], lambda new: keys.write_spec(new, spec))
        agreed = _agreed(spec, study)
        landed = len(study.get_trials(deepcopy=False))
        stored = keys.read_recommendation(study)
        if stored is not None and landed >= agreed.trials:
            return StudyRun(name, landed, finished=True, fresh=worked, recommendation=stored)
        worked = True
        evaluator = Evaluator(agreed, workers)
        if listener is not None:
            listener.begin(agreed, landed)
        if not search(agreed, study, evaluator, listener.batch if listener else None, deadline):
            return StudyRun(
                name, len(study.get_trials(deepcopy=False)), finished=False, fresh=True, recommendation=None
            )
        from tuning.validation.recommend import recommend

        if listener is not None:
            listener.validate()
        recommendation = recommend(agreed, study, evaluator)
        keys.write_recommendation(study, recommendation)
        if listener is not None:
            listener.found()
        return StudyRun(name, agreed.trials, finished=True, fresh=True, recommendation=recommendation)

    return run_as_driver(url, name, go_on)


def _direction(spec: StudySpec) -> Direction:
    from studies.spec.objective import parse_objective

    return "maximize" if parse_objective(spec.objective).maximize else "minimize"


def _agreed(spec: StudySpec, study: optuna.Study) -> ResolvedStudy:
    """The specification to go on with: refuses what would mix trials that can't be compared."""
    what = f"study {study.study_name!r}"
    stored = require_loaded(keys.read_spec(study), what)
    landed = len(study.get_trials(deepcopy=False))
    check_comparable(what, "trials", spec.differences(stored))
    agreed = spec.resolved().model_copy(update={"trials": max(spec.trials, landed)})
    update_budget(
        agreed,
        stored,
        landed,
        forget=lambda: keys.write_recommendation(study, None),
        write=lambda: keys.write_spec(study, agreed),
    )
    return agreed
