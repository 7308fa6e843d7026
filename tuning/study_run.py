"""Running one study: open or resume it, search, validate, recommend."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar, overload

from ravenlab.common.errors import InputError
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.distributions import make_distributions
from ravenlab.studies.spec.study import BUDGET_FIELDS, StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import has_study
from ravenlab.studies.storage.keys import COMPARISON, GRID, ROBUST, SPEC
from ravenlab.studies.storage.lock import run_as_driver
from ravenlab.studies.storage.trials import check_trials
from ravenlab.tuning.search.loop import Progress, search
from ravenlab.tuning.search.samplers import check_sampler, resume_candidates
from ravenlab.tuning.search.widening import widest_spec
from ravenlab.tuning.workers.local import SERIAL, Workers
from ravenlab.tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


Direction = Literal["minimize", "maximize"]
Stored = TypeVar("Stored")

KINDS = {
    SPEC: "a study of one scenario",
    GRID: "a grid",
    ROBUST: "a study of several scenarios",
    COMPARISON: "a comparison",
}
"""Descriptions of the kinds of study, by the key of their specification."""

VALIDATION_BUDGET = ("candidates", "selection", "report")
"""Budget fields that affect the recommendation, but no trial."""


@dataclass(frozen=True)
class FinishedStudy:
    """A study with its recommendation."""

    study: str
    trials: int
    recommendation: Recommendation
    already_complete: bool
    """Whether an earlier run had finished it."""


@dataclass(frozen=True)
class UnfinishedStudy:
    """A study whose time limit was reached before its last trial."""

    study: str
    trials: int
    recommendation: ClassVar[None] = None
    already_complete: ClassVar[bool] = False


StudyRun = FinishedStudy | UnfinishedStudy


@dataclass(frozen=True)
class StudyListener:
    """Optional callbacks of `run_study`, called in this order from the thread that runs the study."""

    begin: Callable[[StudySpec, int], None] = lambda spec, stored: None
    """The search starts; `stored` trials come from an earlier run."""
    batch: Callable[[Progress], None] = lambda progress: None
    """A batch of trials was stored."""
    validate: Callable[[], None] = lambda: None
    """All trials are stored; the validation starts."""
    validated: Callable[[float], None] = lambda steps: None
    """The validation has simulated so many further steps."""
    finish: Callable[[], None] = lambda: None
    """The recommendation was stored."""


SILENT = StudyListener()


@overload
def run_study(
    spec: StudySpec,
    url: str,
    workers: Workers = ...,
    timeout: None = ...,
    listener: StudyListener = ...,
    law: bool = ...,
) -> FinishedStudy: ...
@overload
def run_study(
    spec: StudySpec,
    url: str,
    workers: Workers = ...,
    timeout: float | None = ...,
    listener: StudyListener = ...,
    law: bool = ...,
) -> StudyRun: ...
def run_study(
    spec: StudySpec,
    url: str,
    workers: Workers = SERIAL,
    timeout: float | None = None,
    listener: StudyListener = SILENT,
    law: bool = True,
) -> StudyRun:
    """Search, validate and recommend; resume a study that an earlier run left unfinished.

    Args:
        spec: The study.
        url: The database URL of the storage.
        workers: The workers; they do not affect the result.
        timeout: Seconds after which no further batch starts.
        listener: Callbacks for progress.
        law: Whether the law's parameters are among the first candidates; False where policies without a law must be
            tuned alike.

    Raises:
        InputError: The sampler is not installed, or the storage holds a study of this name with different settings.
    """
    check_sampler(spec)
    deadline = None if timeout is None else time.monotonic() + timeout
    name = spec.study_name()
    already_complete = True  # a run that is repeated after a lost connection finds what this call stored

    def run(storage: RDBStorage) -> StudyRun:
        nonlocal already_complete
        study = open_study(storage, name, keys.SPEC, [_direction(spec)], lambda new: keys.write_spec(new, spec))
        resolved = _resume(spec, study)
        trials = study.get_trials(deepcopy=False)
        count = len(trials)
        recommendation = keys.read_recommendation(study)
        if recommendation is not None and count >= resolved.trials:
            return FinishedStudy(name, count, recommendation, already_complete)
        already_complete = False
        evaluator = Evaluator(resolved, workers)
        listener.begin(resolved, count)
        first = resume_candidates(resolved, [trial.params for trial in trials], law)
        if not search(resolved, study, evaluator, listener.batch, deadline, first):
            return UnfinishedStudy(name, len(study.get_trials(deepcopy=False)))
        from ravenlab.tuning.validation.recommend import recommend

        listener.validate()
        evaluator.on_steps = listener.validated
        recommendation = recommend(resolved, study, evaluator)
        keys.write_recommendation(study, recommendation)
        listener.finish()
        return FinishedStudy(name, resolved.trials, recommendation, already_complete)

    return run_as_driver(url, name, run)


def _direction(spec: StudySpec) -> Direction:
    from ravenlab.studies.spec.objective import parse_objective

    return "maximize" if parse_objective(spec.objective).maximize else "minimize"


def _resume(spec: StudySpec, study: optuna.Study) -> StudySpec:
    """Return the specification to run, after checking that its trials are comparable with the stored ones."""
    label = f"study {study.study_name!r}"
    stored = require_loaded(keys.read_spec(study), label)
    trials = study.get_trials(deepcopy=False)
    count = len(trials)
    check_comparable(label, "trials", spec.differences(stored))
    check_trials(study.study_name, make_distributions(widest_spec(spec)), 1, trials)
    resolved = spec.model_copy(update={"trials": max(spec.trials, count)})
    update_budget(
        resolved,
        stored,
        count,
        drop_result=lambda: keys.write_recommendation(study, None),
        write_spec=lambda: keys.write_spec(study, resolved),
    )
    return resolved


def open_study(
    storage: RDBStorage,
    name: str,
    kind: str,
    directions: Sequence[Direction],
    write_spec: Callable[[optuna.Study], None],
) -> optuna.Study:
    """Load the study of this name and kind, or create it and write its specification.

    A process killed between the two leaves a study without a specification; the next run writes it.

    Raises:
        InputError: The study is of another kind, or ravenlab did not create it.
    """
    import optuna

    if has_study(storage, name):
        study = optuna.load_study(storage=storage, study_name=name)
        if kind in study.user_attrs:
            return study
        _check_unused(study, kind, directions)
    else:
        study = optuna.create_study(storage=storage, study_name=name, directions=list(directions))
    write_spec(study)
    return study


def _check_unused(study: optuna.Study, kind: str, directions: Sequence[Direction]) -> None:
    """Raise InputError unless a study without a specification is empty and has the expected directions."""
    other = next((description for key, description in KINDS.items() if key in study.user_attrs), None)
    if other is not None:
        raise InputError(
            f"study {study.study_name!r} is {other}, not {KINDS[kind]}; choose another name.", field="name"
        )
    same_directions = [direction.name.lower() for direction in study.directions] == list(directions)
    if not same_directions or study.get_trials(deepcopy=False):
        raise InputError(f"study {study.study_name!r} was not created by ravenlab; choose another name.", field="name")


def require_loaded(stored: Stored | None, label: str) -> Stored:
    """Return a stored specification; None means that it uses a plugin that is not loaded.

    >>> require_loaded(None, "grid 'mine'")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: grid 'mine' uses a plugin that is not loaded; choose another name.
    """
    if stored is None:
        raise InputError(f"{label} uses a plugin that is not loaded; choose another name.", field="name")
    return stored


def check_comparable(label: str, parts: str, differences: Sequence[str]) -> None:
    """Raise InputError if the settings differ from those of the stored parts.

    >>> check_comparable("grid 'mine'", "cells", ["seed 1 instead of 0"])
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: grid 'mine' already exists with different settings, so its cells would not be \
comparable: seed 1 instead of 0; delete it or choose another name.
    """
    if differences:
        raise InputError(
            f"{label} already exists with different settings, so its {parts} would not be comparable: "
            f"{'; '.join(differences)}; delete it or choose another name.",
            field="name",
        )


def update_budget(
    spec: StudySpec,
    stored: StudySpec,
    count: int,
    drop_result: Callable[[], None],
    write_spec: Callable[[], None],
) -> None:
    """Store a changed budget; drop the stored result if it could change. `count` trials are stored."""
    if _differ(spec, stored, BUDGET_FIELDS):
        if _differ(spec, stored, VALIDATION_BUDGET) or spec.trials > count:
            drop_result()
        write_spec()


def _differ(spec: StudySpec, stored: StudySpec, fields: Sequence[str]) -> bool:
    return any(getattr(spec, field) != getattr(stored, field) for field in fields)
