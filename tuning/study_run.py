"""Running a stored study of any kind: open or resume it, run what is missing, and store the result.

`run_stored` is common to all kinds. `run_study` runs a search over one scenario, trace or log.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ravenlab.common.errors import InputError
from ravenlab.studies.kinds import TUNE, StudyKind, find_kind
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.distributions import make_distributions
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import has_study
from ravenlab.studies.storage.lock import run_as_driver
from ravenlab.studies.storage.trials import check_trials
from ravenlab.tuning.listener import SILENT, Listener
from ravenlab.tuning.search.loop import check_race, search
from ravenlab.tuning.search.samplers import check_sampler, resume_candidates
from ravenlab.tuning.search.widening import widest_spec
from ravenlab.tuning.validation.recommend import recommend
from ravenlab.tuning.workers.local import SERIAL, Workers
from ravenlab.tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial


Spec = TypeVar("Spec", bound=Specification)
Result = TypeVar("Result")
Body = TypeVar("Body")
MaybeResult = TypeVar("MaybeResult", covariant=True)

VALIDATION_BUDGET = ("candidates", "selection", "report")
"""Budget fields that affect the recommendation, but no trial."""


@dataclass(frozen=True)
class StudyRun(Generic[MaybeResult]):
    """A run of a study."""

    study: str
    trials: int
    """Stored trials, cells or entries."""
    result: MaybeResult
    """None if the time limit was reached first."""
    already_complete: bool = False
    """Whether an earlier run had finished the study."""
    first: tuple[StudyRun[Any], ...] = ()
    """Runs of the studies that this one needs."""


@dataclass(frozen=True)
class OpenStudy(Generic[Spec]):
    """A study that was opened for running."""

    spec: Spec
    """The specification to run, with at least as many trials as are stored."""
    study: optuna.Study
    trials: list[FrozenTrial]
    """Those of earlier runs."""


def run_stored(
    kind: StudyKind[Spec, Result],
    spec: Spec,
    url: str,
    listener: Listener,
    check: Callable[[OpenStudy[Spec]], object],
    body: Callable[[OpenStudy[Spec]], Body],
) -> StudyRun[Result | Body]:
    """Open or resume a study as its only driver, and run what is missing.

    Args:
        kind, spec, url: The study and the database URL of the storage.
        listener: Is told if the study was complete before.
        check: Raises InputError if a stored trial does not belong to the study.
        body: Stores what is missing and the result, and returns the result; None if it stopped before.

    Raises:
        InputError: The storage holds a study of this name with different settings or of another kind.
    """
    name = spec.study_name()
    already_complete = True  # a run that is repeated after a lost connection finds what this call stored

    def run(storage: RDBStorage) -> StudyRun[Result | Body]:
        nonlocal already_complete
        opened = open_study(storage, kind, spec, check)
        result = kind.read_result(storage, opened.study)
        if result is not None and len(opened.trials) >= opened.spec.planned:
            if already_complete:
                listener.complete(opened.spec)
            return StudyRun(name, len(opened.trials), result, already_complete)
        already_complete = False
        new = body(opened)
        return StudyRun(name, len(opened.study.get_trials(deepcopy=False)), new)

    return run_as_driver(url, name, run)


def open_study(
    storage: RDBStorage, kind: StudyKind[Spec, Any], spec: Spec, check: Callable[[OpenStudy[Spec]], object]
) -> OpenStudy[Spec]:
    """Create the study, or load it after checking that what is stored is comparable with the specification.

    A process killed between creating a study and writing its specification leaves a study without one; the next run
    writes it.
    """
    import optuna

    name = spec.study_name()
    label = f"{kind.label} {spec.study_name()!r}"
    if has_study(storage, name):
        study = optuna.load_study(storage=storage, study_name=name)
    else:
        study = optuna.create_study(storage=storage, study_name=name, direction=spec.direction)
    if kind.key not in study.user_attrs:
        _check_unused(study, kind, spec.direction)
        kind.write_spec(study, spec)
    stored = require_loaded(kind.read_spec(study), label)
    check_comparable(label, kind.unit, spec.differences(stored))
    trials = study.get_trials(deepcopy=False)
    opened = OpenStudy(spec.with_trials(len(trials)), study, trials)
    check(opened)
    budget = opened.spec.budget()
    former = stored.budget()
    changed = {field for field in budget if budget[field] != former[field]}
    if changed:
        more = budget.get("map", 0) > former.get("map", 0)  # a stored map is kept if none is asked for
        if more or changed.intersection(VALIDATION_BUDGET) or opened.spec.planned > len(trials):
            kind.drop_result(study)
        kind.write_spec(study, opened.spec)
    return opened


def _check_unused(study: optuna.Study, kind: StudyKind[Any, Any], direction: str) -> None:
    """Raise InputError unless a study without a specification is empty and has the expected direction."""
    other = find_kind(study)
    if other is not None:
        raise InputError(
            f"study {study.study_name!r} is {other.meaning}, not {kind.meaning}; choose another name.", field="name"
        )
    same_direction = [stored.name.lower() for stored in study.directions] == [direction]
    if not same_direction or study.get_trials(deepcopy=False):
        raise InputError(f"study {study.study_name!r} was not created by ravenlab; choose another name.", field="name")


def require_loaded(stored: Result | None, label: str) -> Result:
    """Return a stored specification or result; None means that it uses a plugin that is not loaded.

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


@overload
def run_study(
    spec: StudySpec, url: str, workers: Workers = ..., timeout: None = ..., *rest: Any, **options: Any
) -> StudyRun[Recommendation]: ...
@overload
def run_study(
    spec: StudySpec, url: str, workers: Workers = ..., timeout: float | None = ..., *rest: Any, **options: Any
) -> StudyRun[Recommendation | None]: ...
def run_study(
    spec: StudySpec,
    url: str,
    workers: Workers = SERIAL,
    timeout: float | None = None,
    listener: Listener = SILENT,
    standalone: bool = True,
    more: Sequence[Mapping[str, Any]] = (),
    alternatives: Sequence[str] | None = None,
) -> StudyRun[Any]:
    """Search, validate and recommend; resume a study that an earlier run left unfinished.

    Args:
        spec, url: The study and the database URL of the storage.
        workers: They do not affect the result.
        timeout: Seconds after which no further batch starts.
        listener: Is told how far the study is.
        standalone: Whether nothing else tunes policies on the same problem. Otherwise the search does not start from
            a law, which most policies do not have, and no alternatives are measured.
        more: Further first candidates.
        alternatives: Untuned policies to measure; by default those of the study if it is standalone.

    Raises:
        InputError: The sampler is not installed, or the storage holds a study of this name with different settings.
    """
    check_sampler(spec)
    deadline = None if timeout is None else time.monotonic() + timeout

    def body(opened: OpenStudy[StudySpec]) -> Recommendation | None:
        evaluator = Evaluator(opened.spec, workers)
        listener.begin(opened.spec, len(opened.trials))
        first = resume_candidates(opened.spec, [trial.params for trial in opened.trials], standalone, more)
        if not search(opened.spec, opened.study, evaluator, listener.batch, deadline, first):
            return None
        listener.validate()
        evaluator.on_steps = listener.validated
        recommendation = recommend(opened.spec, opened.study, evaluator, alternatives if standalone else ())
        keys.write_recommendation(opened.study, recommendation)
        listener.finish()
        return recommendation

    return run_stored(TUNE, spec, url, listener, lambda opened: check_search(opened, opened.spec), body)


def check_search(opened: OpenStudy[Any], spec: StudySpec) -> None:
    """Raise InputError if a stored trial is not a finished one of a search, or if the state of its race is damaged."""
    check_trials(opened.study.study_name, make_distributions(widest_spec(spec)), 1, opened.trials)
    check_race(spec, opened.study)
