"""Run a search over several worlds from where it stands to its end.

First each scenario's own study, as `tune` runs it; then, against the settings that those recommend, the search over
all scenarios. The settings are kept with the study before its first trial, so a rerun goes on against the same ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from studies.results.robust import Front, RobustRecommendation, TunedSetting
from studies.spec.robust import ResolvedRobustSpec, RobustSpec, parse_measure
from studies.spec.study import ResolvedStudy
from studies.storage import keys
from studies.storage.lock import run_as_driver
from tuning.robust.evaluation import RelativeEvaluator, ScenariosEvaluator
from tuning.robust.validation import find_front, recommend_robust, tuned_candidate
from tuning.search.loop import Progress, Tick, search
from tuning.search.samplers import First, advice_for, inside_the_box
from tuning.study_run import (
    Direction,
    StudyListener,
    StudyRun,
    check_comparable,
    open_study,
    require_loaded,
    run_study,
    update_budget,
)
from tuning.workers.local import SERIAL, Workers, run_concurrently

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


@dataclass(frozen=True)
class RobustRun:
    """What came of it: `own` are the scenarios' own studies that were run, `found` is None when time was up first."""

    study: str
    trials: int
    fresh: bool
    own: list[StudyRun]
    found: RobustRecommendation | Front | None


def run_robust(
    spec: RobustSpec,
    url: str,
    workers: Workers = SERIAL,
    timeout: float | None = None,
    listener: Callable[[], StudyListener] | None = None,
) -> RobustRun:
    """Search, choose and measure; go on where an earlier run stopped, do nothing where it is complete.

    The same for any number of workers, in one go or in pieces. A listener is made for each study.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    name = spec.study_name()
    own: list[StudyRun] = []
    worked = False

    def go_on(storage: RDBStorage) -> RobustRun:
        nonlocal worked
        study = open_study(storage, name, keys.ROBUST, _directions(spec), lambda new: keys.write_robust_spec(new, spec))
        agreed = _agreed(spec, study)
        done, landed = keys.read_robust(study), len(study.get_trials(deepcopy=False))
        if done is not None and landed >= agreed.base.trials:
            return RobustRun(name, landed, fresh=worked, own=own, found=done)
        worked = True
        tuned = keys.read_tuned(study)
        if tuned is None:
            own[:], tuned = _run_each(agreed, url, workers, deadline, listener)
            if tuned is None:
                return RobustRun(name, landed, fresh=True, own=own, found=None)
            keys.write_tuned(study, tuned)
        base = agreed.base
        worlds = ScenariosEvaluator(agreed, workers) if agreed.pareto else _relative(agreed, tuned, workers)
        here = listener() if listener else None
        if here is not None:
            here.begin(base.model_copy(update={"name": name}), landed)
        tick = None if here is None else _counting_all(here.batch, 1 if agreed.pareto else len(agreed.scenarios))
        if not search(base, study, worlds, tick, deadline, first_robust_candidates(agreed, tuned)):
            return RobustRun(name, len(study.get_trials(deepcopy=False)), fresh=True, own=own, found=None)
        if here is not None:
            here.validate()
        found: RobustRecommendation | Front
        if isinstance(worlds, RelativeEvaluator):
            found = recommend_robust(agreed, study, worlds, tuned)
        else:
            found = find_front(agreed, study, worlds, tuned)
        keys.write_robust(study, found)
        return RobustRun(name, found.trials, fresh=True, own=own, found=found)

    return run_as_driver(url, name, go_on)


def first_robust_candidates(spec: ResolvedRobustSpec, tuned: Sequence[TunedSetting]) -> list[First]:
    """What is tried first: the defaults, the paper's advice for each scenario, and each scenario's tuned setting."""
    base = spec.base
    advised = [advice_for(base, name) or {} for name in spec.scenarios]
    return inside_the_box(base, [{}, *advised, *(each.params for each in tuned)])


def _run_each(
    spec: ResolvedRobustSpec,
    url: str,
    workers: Workers,
    deadline: float | None,
    listener: Callable[[], StudyListener] | None,
) -> tuple[list[StudyRun], list[TunedSetting] | None]:
    """Every scenario's own study; None for what they recommend where time was up first."""

    def one(each: ResolvedStudy) -> StudyRun | None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left < 0.0:
            return None
        return run_study(each, url, workers, left, listener() if listener else None)

    ran = run_concurrently(workers, [partial(one, each) for each in spec.scenario_specs()])
    tuned = [
        TunedSetting(scenario=scenario, study=each.study, params=each.recommendation.params)
        for scenario, each in zip(spec.scenarios, ran, strict=True)
        if each is not None and each.recommendation is not None
    ]
    return [each for each in ran if each is not None], tuned if len(tuned) == len(ran) else None


def _relative(spec: ResolvedRobustSpec, tuned: Sequence[TunedSetting], workers: Workers) -> RelativeEvaluator:
    values = [tuned_candidate(spec.base, each).values for each in tuned]
    return RelativeEvaluator(spec, parse_measure(spec.measure), values, workers)


def _counting_all(tick: Tick, times: int) -> Tick:
    """A search of one value counts the steps of one scenario; all of them were played."""
    return lambda progress: tick(Progress(progress.trials, progress.best, times * progress.steps))


def _directions(spec: RobustSpec) -> list[Direction]:
    """One value a trial, or one a scenario."""
    return ["minimize"] * (len(spec.scenarios) if spec.pareto else 1)


def _agreed(spec: RobustSpec, study: optuna.Study) -> ResolvedRobustSpec:
    """The specification to go on with: refuses what would mix trials that can't be compared."""
    what = f"study {study.study_name!r}"
    stored = require_loaded(keys.read_robust_spec(study), what)
    landed = len(study.get_trials(deepcopy=False))
    check_comparable(what, "trials", spec.differences(stored))
    here = spec.resolved()
    base = here.base.model_copy(update={"trials": max(here.base.trials, landed)})
    agreed = here.model_copy(update={"base": base})
    update_budget(
        base,
        stored.base,
        landed,
        forget=lambda: keys.write_robust(study, None),
        write=lambda: keys.write_robust_spec(study, agreed),
    )
    return agreed
