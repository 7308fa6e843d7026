"""Running a robust study: tune each scenario, then search over all of them.

The studies of the single scenarios run first, as `tune` runs them. The robust search measures regret relative to the
settings that they recommend. These settings are stored before the first trial, so that a resumed search uses the same
ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ravenlab.studies.results.robust import RobustRecommendation, TunedSetting
from ravenlab.studies.spec.distributions import make_distributions
from ravenlab.studies.spec.robust import RobustSpec, parse_measure
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.lock import run_as_driver
from ravenlab.studies.storage.trials import check_trials
from ravenlab.tuning.robust.evaluation import RelativeEvaluator
from ravenlab.tuning.robust.validation import ScenarioWorlds, tuned_candidate
from ravenlab.tuning.search.loop import Progress, ProgressCallback, search
from ravenlab.tuning.search.samplers import TrialParams, advice_for, inside_search_space
from ravenlab.tuning.search.widening import widest_spec
from ravenlab.tuning.study_run import (
    SILENT,
    FinishedStudy,
    StudyListener,
    StudyRun,
    check_comparable,
    open_study,
    require_loaded,
    run_study,
    update_budget,
)
from ravenlab.tuning.validation.recommend import recommend_on
from ravenlab.tuning.workers.local import SERIAL, Workers, run_concurrently

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


@dataclass(frozen=True)
class RobustRun:
    """Result of a run."""

    study: str
    trials: int
    already_complete: bool
    """Whether an earlier run had finished the study."""
    scenario_runs: list[StudyRun]
    """Runs of the studies of the single scenarios."""
    result: RobustRecommendation | None
    """None if the time limit was reached first."""


def run_robust(
    spec: RobustSpec,
    url: str,
    workers: Workers = SERIAL,
    timeout: float | None = None,
    make_listener: Callable[[], StudyListener] = lambda: SILENT,
) -> RobustRun:
    """Search, select and report; resume a study that an earlier run left unfinished.

    The result does not depend on the workers or on interruptions. `make_listener` is called once per study.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    name = spec.study_name()
    scenario_runs: list[StudyRun] = []
    already_complete = True

    def run(storage: RDBStorage) -> RobustRun:
        nonlocal already_complete
        study = open_study(storage, name, keys.ROBUST, ["minimize"], lambda new: keys.write_robust_spec(new, spec))
        resolved = _resume(spec, study)
        result, count = keys.read_robust(study), len(study.get_trials(deepcopy=False))
        if result is not None and count >= resolved.base.trials:
            return RobustRun(name, count, already_complete, scenario_runs, result)
        already_complete = False
        tuned = keys.read_tuned(study)
        if tuned is None:
            scenario_runs[:] = _run_scenarios(resolved, url, workers, deadline, make_listener)
            finished = [run for run in scenario_runs if isinstance(run, FinishedStudy)]
            if len(finished) < len(resolved.scenarios):
                return RobustRun(name, count, already_complete, scenario_runs, result=None)
            tuned = [
                TunedSetting(scenario=scenario, study=run.study, params=run.recommendation.params)
                for scenario, run in zip(resolved.scenarios, finished, strict=True)
            ]
            keys.write_tuned(study, tuned)
        base, listener = resolved.base, make_listener()
        first = first_robust_candidates(resolved, tuned)
        listener.begin(base.model_copy(update={"name": name}), count)
        evaluator = _relative(resolved, tuned, workers)
        callback = _multiply_steps(listener.batch, len(resolved.scenarios))
        if not search(base, study, evaluator, callback, deadline, first):
            return RobustRun(name, len(study.get_trials(deepcopy=False)), already_complete, scenario_runs, result=None)
        listener.validate()
        for scenario_evaluator in evaluator.evaluators:
            scenario_evaluator.on_steps = lambda steps: listener.validated(steps / len(resolved.scenarios))
        result = recommend_on(ScenarioWorlds(resolved, evaluator, tuned), study)
        keys.write_robust(study, result)
        listener.finish()
        return RobustRun(name, result.trials, already_complete, scenario_runs, result)

    return run_as_driver(url, name, run)


def first_robust_candidates(spec: RobustSpec, tuned: Sequence[TunedSetting]) -> list[TrialParams]:
    """Return the first trials: the defaults, the paper's advice for each scenario and each tuned setting."""
    advice = [advice_for(spec.base, name) or {} for name in spec.scenarios]
    return inside_search_space(spec.base, [{}, *advice, *(setting.params for setting in tuned)])


def _run_scenarios(
    spec: RobustSpec,
    url: str,
    workers: Workers,
    deadline: float | None,
    make_listener: Callable[[], StudyListener],
) -> list[StudyRun]:
    """Run the study of each scenario; those not started before the deadline are left out."""

    def run(scenario: StudySpec) -> StudyRun | None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left < 0.0:
            return None
        return run_study(scenario, url, workers, left, make_listener())

    runs = run_concurrently(workers, [partial(run, scenario) for scenario in spec.scenario_specs()])
    return [run for run in runs if run is not None]


def _relative(spec: RobustSpec, tuned: Sequence[TunedSetting], workers: Workers) -> RelativeEvaluator:
    values = [tuned_candidate(spec.base, setting).values for setting in tuned]
    return RelativeEvaluator(spec, parse_measure(spec.measure), values, workers)


def _multiply_steps(callback: ProgressCallback, scenarios: int) -> ProgressCallback:
    """Count the steps in all scenarios; the search counts those in one."""
    return lambda progress: callback(Progress(progress.trials, progress.best, scenarios * progress.steps))


def _resume(spec: RobustSpec, study: optuna.Study) -> RobustSpec:
    """Return the specification to run, after checking that its trials are comparable with the stored ones."""
    label = f"study {study.study_name!r}"
    stored = require_loaded(keys.read_robust_spec(study), label)
    trials = study.get_trials(deepcopy=False)
    count = len(trials)
    check_comparable(label, "trials", spec.differences(stored))
    resolved = spec
    check_trials(study.study_name, make_distributions(widest_spec(resolved.base)), len(study.directions), trials)
    base = resolved.base.model_copy(update={"trials": max(resolved.base.trials, count)})
    resolved = resolved.model_copy(update={"base": base})
    update_budget(
        base,
        stored.base,
        count,
        drop_result=lambda: keys.write_robust(study, None),
        write_spec=lambda: keys.write_robust_spec(study, resolved),
    )
    return resolved
