"""Run one study from where it stands to its recommendation, and tell the storage nothing that is not final."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from environments.errors import InputError
from studies import keys
from studies.driver import driving
from studies.recommendation import Recommendation
from studies.spec import BUDGET, StudySpec
from studies.storage import holds
from tuning.crew import ALONE, Crew
from tuning.fanout import Evaluator
from tuning.search import Progress, search

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage

VALIDATED = ("candidates", "selection", "report")
"""Budgets that a recommendation hangs on."""


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
    """Who wants to know: the start (with trials landed before), every batch, the validation."""

    begin: Callable[[StudySpec, int], None]
    batch: Callable[[Progress], None]
    validate: Callable[[], None]


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
        study = _open(spec, storage, name)
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
        return Ran(name, agreed.trials, finished=True, fresh=True, recommendation=recommendation)

    return driving(url, name, go_on)


def _open(spec: StudySpec, storage: RDBStorage, name: str) -> optuna.Study:
    """The study in the storage, made if it is not there."""
    import optuna

    from studies.objective import parse_objective

    direction = "maximize" if parse_objective(spec.objective).maximise else "minimize"
    if not holds(storage, name):
        study = optuna.create_study(storage=storage, study_name=name, direction=direction)  # type: ignore[arg-type]
        keys.write_spec(study, spec)
        return study
    return optuna.load_study(storage=storage, study_name=name)


def _agreed(spec: StudySpec, study: optuna.Study) -> StudySpec:
    """The specification to go on with: refuses what would mix trials that can't be compared."""
    stored = keys.read_spec(study)
    landed = len(study.get_trials(deepcopy=False))
    if stored is None:
        if keys.read_grid_spec(study) is not None:
            raise InputError(f"study {study.study_name!r} is a grid; give another --name.")
        if keys.ROBUST in study.user_attrs:
            raise InputError(f"study {study.study_name!r} is a search over several scenarios; give another --name.")
        if landed:
            raise InputError(f"study {study.study_name!r} was not made by ravenlab; give another --name.")
        keys.write_spec(study, spec)
        return spec.resolved()
    differences = spec.differences(stored)
    if differences:
        raise InputError(
            f"study {study.study_name!r} is there already and its trials would not be comparable: "
            f"{'; '.join(differences)}. Give another --name, or delete it."
        )
    agreed = spec.resolved().model_copy(update={"trials": max(spec.trials, landed)})
    if any(getattr(agreed, field) != getattr(stored, field) for field in BUDGET):
        changed = any(getattr(agreed, field) != getattr(stored, field) for field in VALIDATED)
        if changed or agreed.trials > landed:
            keys.write_recommendation(study, None)
        keys.write_spec(study, agreed)
    return agreed
