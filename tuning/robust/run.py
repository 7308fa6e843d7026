"""Running a robust study: tune each scenario, then search over all of them.

The studies of the single scenarios run first, as `tune` runs them. The robust search measures regret relative to the
settings that they recommend. These settings are stored before the first trial, so that a resumed search uses the same
ones.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ravenlab.common.errors import InputError
from ravenlab.studies.kinds import ROBUST
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation, TunedSetting
from ravenlab.studies.spec.robust import RobustSpec, parse_measure
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.tuning.listener import SILENT, Listener
from ravenlab.tuning.robust.validation import RelativeEvaluator, ScenarioWorlds, tuned_candidate
from ravenlab.tuning.search.loop import Progress, search
from ravenlab.tuning.search.samplers import TrialParams, advice_for, inside_search_space
from ravenlab.tuning.study_run import OpenStudy, StudyRun, check_search, run_stored, run_study
from ravenlab.tuning.validation.recommend import recommend_on
from ravenlab.tuning.workers.local import SERIAL, Workers, run_concurrently


def run_robust(
    spec: RobustSpec,
    url: str,
    workers: Workers = SERIAL,
    timeout: float | None = None,
    listener: Listener = SILENT,
) -> StudyRun[RobustRecommendation | None]:
    """Search, select and report; resume a study that an earlier run left unfinished.

    The result does not depend on the workers or on interruptions.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    first: list[StudyRun[Any]] = []

    def check(opened: OpenStudy[RobustSpec]) -> None:
        check_search(opened, opened.spec.base)
        _read_tuned(opened)

    def body(opened: OpenStudy[RobustSpec]) -> RobustRecommendation | None:
        study = opened.study
        resolved = opened.spec
        tuned = _read_tuned(opened)
        if tuned is None:
            first[:] = _run_scenarios(resolved, url, workers, deadline, listener)
            results = [run.result for run in first if run.result is not None]
            if len(results) < len(resolved.scenarios):
                return None
            tuned = [
                TunedSetting(scenario=scenario, study=result.study, params=result.params)
                for scenario, result in zip(resolved.scenarios, results, strict=True)
            ]
            keys.write_tuned(study, tuned)
        base = resolved.base
        candidates = first_robust_candidates(resolved, tuned)
        listener.begin(resolved, len(opened.trials))
        values = [tuned_candidate(base, setting).values for setting in tuned]
        evaluator = RelativeEvaluator(resolved, parse_measure(resolved.measure), values, workers)

        def count_all(progress: Progress) -> None:
            """Report the steps in all scenarios; the search counts those in one."""
            listener.batch(replace(progress, steps=len(resolved.scenarios) * progress.steps))

        if not search(base, study, evaluator, count_all, deadline, candidates):
            return None
        listener.validate()
        for scenario_evaluator in evaluator.evaluators:
            scenario_evaluator.on_steps = lambda steps: listener.validated(steps / len(resolved.scenarios))
        result = recommend_on(ScenarioWorlds(resolved, evaluator, tuned), study)
        keys.write_robust(study, result)
        listener.finish()
        return result

    run = run_stored(ROBUST, spec, url, listener, check, body)
    return replace(run, first=tuple(first))


def _read_tuned(opened: OpenStudy[RobustSpec]) -> list[TunedSetting] | None:
    """Return the stored setting of each scenario; None before they are known. Raises InputError if one is damaged."""
    tuned = keys.read_tuned(opened.study)
    if tuned is not None:
        if [setting.scenario for setting in tuned] != list(opened.spec.scenarios):
            raise InputError(
                f"study {opened.study.study_name!r} has a list of tuned settings that does not fit its scenarios; "
                "delete the study or choose another name.",
                field="name",
            )
        for setting in tuned:
            tuned_candidate(opened.spec.base, setting)
    return tuned


def first_robust_candidates(spec: RobustSpec, tuned: Sequence[TunedSetting]) -> list[TrialParams]:
    """Return the first trials: the defaults, the paper's advice for each scenario and each tuned setting."""
    advice = [advice_for(spec.base, name) or {} for name in spec.scenarios]
    return inside_search_space(spec.base, [{}, *advice, *(setting.params for setting in tuned)])


def _run_scenarios(
    spec: RobustSpec, url: str, workers: Workers, deadline: float | None, listener: Listener
) -> list[StudyRun[Recommendation | None]]:
    """Run the study of each scenario; those not started before the deadline are left out."""

    def run(scenario: StudySpec) -> StudyRun[Recommendation | None] | None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left < 0.0:
            return None
        return run_study(scenario, url, workers, left, listener.child(scenario))

    runs = run_concurrently(workers, [partial(run, scenario) for scenario in spec.scenario_specs()])
    return [run for run in runs if run is not None]
