"""Run one study from where it stands to its recommendation, and tell the storage nothing that is not final."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studies import keys
from studies.driver import driving
from studies.recommendation import Recommendation
from studies.spec import ResolvedStudy, StudySpec
from tuning.agreeing import Direction, at_hand, open_study, refuse_differences, take_budget
from tuning.crew import ALONE, Crew
from tuning.fanout import Evaluator
from tuning.search import Progress, search

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


@dataclass(frozen=True)
class Ran:
    """What came of running a study: `finished` is False when time was up first, `fresh` when nothing was to do."""

    study: str
    trials: int
    finished: bool
    fresh: bool
    recommendation: Recommendation | None


@dataclass(frozen=True)
class Listener:
    """Who wants to know: the start (with trials landed before), every batch, the validation, its end."""

    begin: Callable[[StudySpec, int], None]
    batch: Callable[[Progress], None]
    validate: Callable[[], None]
    found: Callable[[], None] = lambda: None


def run_study(
    spec: StudySpec,
    url: str,
    crew: Crew = ALONE,
    timeout: float | None = None,
    listener: Listener | None = None,
) -> Ran:
    """Search, validate and recommend; go on where an earlier run stopped, do nothing where it is complete."""
    deadline = None if timeout is None else time.monotonic() + timeout
    name = spec.study_name()
    worked = False

    def go_on(storage: RDBStorage) -> Ran:
        nonlocal worked
        study = open_study(storage, name, keys.SPEC, [_direction(spec)], lambda new: keys.write_spec(new, spec))
        agreed = _agreed(spec, study)
        landed = len(study.get_trials(deepcopy=False))
        stored = keys.read_recommendation(study)
        if stored is not None and landed >= agreed.trials:
            return Ran(name, landed, finished=True, fresh=worked, recommendation=stored)
        worked = True
        evaluator = Evaluator(agreed, crew)
        if listener is not None:
            listener.begin(agreed, landed)
        if not search(agreed, study, evaluator, listener.batch if listener else None, deadline):
            return Ran(name, len(study.get_trials(deepcopy=False)), finished=False, fresh=True, recommendation=None)
        from tuning.validation import recommend

        if listener is not None:
            listener.validate()
        recommendation = recommend(agreed, study, evaluator)
        keys.write_recommendation(study, recommendation)
        if listener is not None:
            listener.found()
        return Ran(name, agreed.trials, finished=True, fresh=True, recommendation=recommendation)

    return driving(url, name, go_on)


def _direction(spec: StudySpec) -> Direction:
    from studies.objective import parse_objective

    return "maximize" if parse_objective(spec.objective).maximise else "minimize"


def _agreed(spec: StudySpec, study: optuna.Study) -> ResolvedStudy:
    """The specification to go on with: refuses what would mix trials that can't be compared."""
    what = f"study {study.study_name!r}"
    stored = at_hand(keys.read_spec(study), what)
    landed = len(study.get_trials(deepcopy=False))
    refuse_differences(what, "trials", spec.differences(stored))
    agreed = spec.resolved().model_copy(update={"trials": max(spec.trials, landed)})
    take_budget(
        agreed,
        stored,
        landed,
        forget=lambda: keys.write_recommendation(study, None),
        write=lambda: keys.write_spec(study, agreed),
    )
    return agreed
