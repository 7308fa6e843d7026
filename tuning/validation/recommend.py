"""The recommendation of a study: shortlist, selection, evaluation and search-space boundary hits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_interval
from ravenlab.common.threads import run_in_threads
from ravenlab.environments import Scenario
from ravenlab.environments.blocks import reward_scale
from ravenlab.environments.recorded.log_world import LogScenario
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.studies.results.recommendation import (
    Baseline,
    BaselineName,
    Edge,
    Estimate,
    Failures,
    FixedArm,
    LogFacts,
    Parameters,
    Recommendation,
    RewardStatistics,
    TraceFacts,
)
from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.distributions import from_trial_params, make_distributions, trial_param_name
from ravenlab.studies.spec.source import LogSource, ScenarioSource, TraceSource
from ravenlab.studies.spec.study import ResolvedStudy, StudySpec
from ravenlab.studies.statistics.failures import include_unseen, include_unseen_in_mean
from ravenlab.studies.statistics.intervals import indistinguishable, mean_interval, order_best_first, paired_interval
from ravenlab.studies.storage.keys import project_version
from ravenlab.tuning.search.loop import convert_trial
from ravenlab.tuning.search.samplers import advice_for
from ravenlab.tuning.search.widening import extend_range, widened_spec
from ravenlab.tuning.validation.choice import (
    NOMINATION_SHARE,
    ChosenParameters,
    choose,
    decide,
    find_ranges,
    least_trials,
    make_design,
    nominate,
    nominate_lowest,
)
from ravenlab.tuning.validation.race import MIN_WORLDS, Measurements, Race, WorldMeasurements, most_worlds
from ravenlab.tuning.validation.recorded import (
    BaselineDifference,
    SegmentMeasurements,
    Validation,
    validate_on_log,
    validate_on_trace,
)
from ravenlab.tuning.workers.problem import Evaluator, count_failures

if TYPE_CHECKING:
    import optuna


NEAR_BOUNDARY = 0.01
"""Share of a range, on its search scale, within which a value counts as being at the boundary."""

LOG_EXTENSION = 3.0  # factor by which a log range is extended; a linear one is extended by its width
MIN_TRIALS_FOR_IMPORTANCE = 20
SHARE_DECIMALS = 9  # of importances


@dataclass(frozen=True)
class Candidate:
    """Parameters that may be recommended."""

    values: Values
    """All parameters of the policy."""
    shown: Parameters
    """Those that were searched, fixed or set."""
    estimate: float | None = None
    """The objective in the search, if it was a trial."""


def recommend(spec: StudySpec, study: optuna.Study, evaluator: Evaluator) -> Recommendation:
    """Select among the best trials, the paper's advice and the defaults, and evaluate the selected parameters.

    The selection and the evaluation use separate held-out worlds. The result does not depend on the workers.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> spec = StudySpec(scenario="stationary", horizon=50, arms=3, selection=20, report=20, replications=5)
    >>> study = optuna.create_study(study_name="small")
    >>> params = {"alpha0": 0.1, "beta0": 0.2, "epsilon": 0.01}
    >>> study.add_trial(optuna.create_trial(params=params, distributions=make_distributions(spec), value=3.0))
    >>> recommend(spec, study, Evaluator(spec)).regret.replications
    20
    """
    planned = spec.resolved()
    trials = study.get_trials(deepcopy=False)
    spec = widened_spec(planned, trials, evaluator.objective.maximize)
    baselines = _list_baselines(spec)
    complete = complete_trials(spec, study)
    # The class as constructed depends on the unit of the rewards, so it is no candidate in simulated worlds, where the
    # recommendation must not depend on it.
    simulated = isinstance(spec.source, ScenarioSource)
    rivals = [candidate for name, candidate in baselines.items() if name != "as constructed" or not simulated]
    candidates = shortlist(spec, complete, evaluator.objective.maximize, rivals)
    values = [candidate.values for candidate in candidates]
    baseline_values = [baseline.values for baseline in baselines.values()]
    shares = importance(spec, study)
    choose_on_segment = partial(_choose_on_segment, spec, complete, values, baseline_values[-1], shares)
    match spec.source, evaluator.problem.scenario:
        case ScenarioSource(), Scenario() as scenario:
            validation = _validate_on_worlds(spec, scenario, evaluator, complete, values, baseline_values, shares)
        case TraceSource(path=path), TraceScenario() as trace:
            validation = validate_on_trace(spec, path, trace, evaluator, values, baseline_values, choose_on_segment)
        case LogSource(path=path), LogScenario() as log:
            validation = validate_on_log(spec, path, log, evaluator, values, baseline_values, choose_on_segment)
        case source, other:
            raise TypeError(f"the evaluator plays {other.name!r}, not the {source.kind} of the study")
    chosen = validation.choice.values
    proposed = make_candidate(spec, {name: float(chosen[name]) for name in spec.space})
    best = next((candidate for candidate in candidates if candidate.values == chosen), proposed)
    equals = [candidates[i] for i in validation.indistinguishable]
    return Recommendation(
        study=study.study_name,
        policy=spec.policy,
        scenario=spec.scenario,
        settings=dict(spec.settings),
        horizon=spec.horizon,
        arms=spec.arms,
        verdict=make_verdict(
            spec,
            validation,
            baselines["defaults"].values,
            validation.differences[-1],
            len(complete.candidates),
        ),
        params=best.shown,
        objective=spec.objective,
        regret=validation.regret,
        attainable=validation.attainable,
        search_estimate=search_estimate(spec, evaluator, best),
        indistinguishable=[candidate.shown for candidate in equals],
        box=bounding_box(spec, [*equals, best]) if validation.ranges is None else validation.ranges,
        versus=[
            Baseline(
                name=name,
                params=baseline.shown,
                regret=difference.regret,
                **difference.difference.as_object("difference"),
                decidable=difference.conclusive,
                failure_rate=difference.failure_rate,
            )
            for (name, baseline), difference in zip(baselines.items(), validation.differences, strict=True)
        ],
        importance=shares,
        edge=boundary_hits(spec, best.values),
        widened={name: range_.bounds() for name, range_ in spec.space.items() if range_ != planned.space[name]},
        scale=validation.scale,
        unit=spec.reward_factor(),
        trials=len(trials),
        seed=spec.seed,
        version=project_version(),
        trace=validation.facts if isinstance(validation.facts, TraceFacts) else None,
        log=validation.facts if isinstance(validation.facts, LogFacts) else None,
        failures=validation.failures,
    )


def _list_baselines(spec: ResolvedStudy) -> dict[BaselineName, Candidate]:
    """Return the paper's advice, if any, the class as constructed if it differs from the defaults, and the defaults.

    The advice and the defaults are scaled to the rewards. Parameters that the study fixes stay fixed.
    """
    advice = advice_for(spec, spec.scenario)
    baselines: dict[BaselineName, Candidate] = {}
    if advice is not None:
        baselines["paper"] = make_candidate(spec, {name: x for name, x in advice.items() if name not in spec.fixed})
    defaults = make_candidate(spec, {})
    policy = find_policy(spec.policy)
    kept = {name: value for name, value in spec.fixed.items() if name not in ("unit", "low", "high")}
    constructed = policy.resolve(kept, spec.arms + spec.source.extra_arms, spec.horizon)
    if constructed != defaults.values:
        shown = {name: constructed[name] for name in defaults.shown}
        baselines["as constructed"] = Candidate(constructed, shown)
    baselines["defaults"] = defaults
    return baselines


def make_candidate(spec: StudySpec, params: dict[str, float], estimate: float | None = None) -> Candidate:
    """Return parameters as a candidate; missing ones have their defaults."""
    values = spec.resolve_params(params)
    shown = {name: value for name, value in values.items() if name in {*spec.space, *spec.fixed, *params}}
    return Candidate(values, shown, estimate)


def shortlist(
    spec: StudySpec, complete: CompleteTrials, maximize: bool, baselines: Iterable[Candidate]
) -> list[Candidate]:
    """Return the best distinct complete trials and the baselines, without duplicates."""
    trials, values = complete.candidates, complete.values
    candidates: list[Candidate] = []
    for i in np.argsort(-values if maximize else values, kind="stable"):
        if len(candidates) == spec.candidates:
            break
        if all(trials[i].values != other.values for other in candidates):
            candidates.append(trials[i])
    if not candidates:
        raise InputError(f"study {complete.study!r} has no complete trial to recommend; increase trials.")
    for baseline in baselines:
        if all(baseline.values != other.values for other in candidates):
            candidates.append(baseline)
    return candidates


@dataclass(frozen=True)
class CompleteTrials:
    """The complete trials of a study in their order, and their objective."""

    study: str
    candidates: list[Candidate]
    values: Floats


def complete_trials(spec: StudySpec, study: optuna.Study) -> CompleteTrials:
    """Read the complete trials of a study."""
    import optuna

    complete = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
    complete.sort(key=lambda trial: trial.number)
    candidates = [make_candidate(spec, from_trial_params(spec, trial.params), trial.value) for trial in complete]
    return CompleteTrials(study.study_name, candidates, np.array([trial.value for trial in complete], dtype=np.float64))


def is_raced(spec: ResolvedStudy) -> bool:
    """Whether there are enough selection worlds for a race."""
    return isinstance(spec.source, ScenarioSource) and spec.selection >= MIN_WORLDS and bool(spec.space)


def count_nomination_worlds(spec: ResolvedStudy) -> int:
    """Return the number of selection worlds that candidates play before a race."""
    return max(MIN_WORLDS // 2, spec.selection // NOMINATION_SHARE)


def nominate_and_race(
    spec: ResolvedStudy,
    complete: CompleteTrials,
    candidates: Sequence[Values],
    design: Sequence[Values],
    objective: Floats,
    defaults: Values,
    importance: Mapping[str, float] | None,
    data: Measurements,
    scenarios: int = 1,
    maximize: bool = False,
) -> tuple[ChosenParameters, dict[str, tuple[float, float]] | None]:
    """Return the chosen parameters, and the ranges that are tied with them, if there is a surface.

    Args:
        spec: The study.
        complete: Its complete trials.
        candidates: The best trials and the baselines.
        design: Further candidates.
        objective: The objective [C] of candidates and design on the selection data; lower is better.
        defaults: The policy's defaults.
        importance: Importance of the searched parameters.
        data: Measures candidates in the race.
        scenarios: Number of scenarios whose worlds are played.
        maximize: Whether the search maximized, so that its values are not comparable with the objective.
    """
    trials = complete.candidates
    if isinstance(spec.source, LogSource):
        nomination = nominate_lowest(spec, candidates, objective, defaults, importance)
    else:
        searched = [] if maximize else [trial.values for trial in trials]
        nomination = nominate(spec, candidates, design, objective, searched, complete.values, defaults, importance)
    most = most_worlds(spec, len(trials) >= least_trials(spec), scenarios)
    choice = choose(spec, Race(data, nomination.references), defaults, nomination.proposals, most)
    ranges = None if nomination.surface is None else find_ranges(spec, nomination.surface, choice.values)
    return choice, ranges


def _choose_on_segment(
    spec: ResolvedStudy,
    complete: CompleteTrials,
    candidates: Sequence[Values],
    defaults: Values,
    importance: Mapping[str, float] | None,
    data: SegmentMeasurements,
) -> ChosenParameters:
    """Choose among candidates that have played a segment of a trace or log."""
    objective = np.array([data.objective(values, spec.selection) for values in candidates])
    if not spec.space:
        return ChosenParameters(candidates[int(np.argmin(objective))])
    return nominate_and_race(spec, complete, candidates, [], objective, defaults, importance, data)[0]


def _validate_on_worlds(
    spec: ResolvedStudy,
    scenario: Scenario,
    evaluator: Evaluator,
    complete: CompleteTrials,
    candidates: Sequence[Values],
    baselines: Sequence[Values],
    importance: Mapping[str, float] | None,
) -> Validation:
    """Select on the selection worlds by the objective, and estimate regret on the report worlds."""
    objective = evaluator.objective
    raced = is_raced(spec)
    design = make_design(spec, candidates[: spec.candidates], baselines[-1], importance) if raced else []
    worlds = count_nomination_worlds(spec) if raced else spec.selection
    played = evaluator.play([*candidates, *design], Stream.SELECTION, 0, worlds)
    sample = evaluator.sample(played)[: len(candidates)]
    if objective.maximize:
        sample = -sample
    by_rank = objective.value if objective.by_rank else None
    _, equals = order_best_first(objective.value(sample), indistinguishable(sample, spec.seed, by_rank))
    ranges = None
    if raced:

        def play_selection(values: Sequence[Values], first: int, count: int) -> Floats:
            return evaluator.play(values, Stream.SELECTION, first, count).counted_regret

        choice, ranges = nominate_and_race(
            spec,
            complete,
            candidates,
            design,
            objective.value(played.counted_regret),
            baselines[-1],
            importance,
            WorldMeasurements(spec, play_selection, worlds, by_rank),
            maximize=objective.maximize,
        )
    else:
        choice = ChosenParameters(candidates[equals[0]])
    reported = evaluator.play_until_reliable([choice.values, *baselines], Stream.REPORT, spec.report)
    regret, *others = reported.regret
    failures, *other_failures = count_failures(reported)
    # The bootstrap and the scale of rewards take a fifth of a second in one thread.
    scale, interval, *intervals = run_in_threads(
        lambda task, *arguments: task(*arguments),
        [
            (measure_scale, scenario, spec.horizon, spec.arms, spec.seed),
            (mean_interval, regret, spec.seed),
            *((paired_interval, other, regret, spec.seed) for other in others),
        ],
        evaluator.workers.threads,
    )
    return Validation(
        choice,
        equals,
        regret=Estimate(*include_unseen_in_mean(interval, failures), replications=regret.size),
        differences=[
            BaselineDifference(
                float(other.mean()),
                include_unseen(difference, failed, failures),
                failure_rate=failed.rate,
            )
            for other, difference, failed in zip(others, intervals, other_failures, strict=True)
        ],
        scale=scale,
        failures=Failures(
            rate=failures.rate,
            count=failures.failures,
            highest_rate=failures.highest_rate,
            unseen=failures.unseen,
            reliable=failures.reliable,
        ),
        attainable=float((reported.regret[0] + reported.reward[0]).mean()),
        ranges=ranges,
    )


def make_verdict(
    spec: ResolvedStudy, validation: Validation, defaults: Values, versus_defaults: BaselineDifference, trials: int
) -> Verdict:
    """Decide between the defaults and the chosen parameters and, on recorded data, what was done without them."""
    match validation.facts:
        case TraceFacts(enough=False):
            shortage: str | None = "the report segment has too few independent rows"
        case LogFacts(inconclusive=why):
            shortage = why
        case _:
            shortage = None
    recorded = validation.facts is not None
    verdict = decide(
        spec,
        validation.choice,
        defaults,
        trials,
        better=versus_defaults.difference.low > 0.0,
        recorded=recorded,
        shortage=shortage,
        beaten=versus_defaults.difference.high < 0.0 and versus_defaults.conclusive is not False,
    )
    match validation.facts:
        case TraceFacts(fixed_arm=FixedArm(wins=True, name=name)):
            return verdict.model_copy(update={"decision": "use one arm", "arm": name, "reason": None})
        case LogFacts(enough=True):
            return _compare_with_logging(verdict, validation.regret)
    return verdict


def _compare_with_logging(verdict: Verdict, loss: Estimate) -> Verdict:
    """Return the verdict after a comparison with the logging policy, whose mean reward minus the score is the loss."""
    if loss.low > 0.0:
        return verdict.model_copy(update={"decision": "keep the logging policy", "reason": None})
    if loss.high < 0.0 or verdict.decision == "inconclusive":
        return verdict
    reason = f"the gain over the logging policy is not significant: {format_interval(-loss)} per step"
    return verdict.model_copy(update={"decision": "inconclusive", "reason": reason})


def measure_scale(scenario: Scenario, horizon: int, arms: int, seed: int) -> RewardStatistics:
    """Return the scale of a scenario's rewards."""
    mean, spread = reward_scale(scenario, horizon, arms, seed)
    return RewardStatistics(mean=mean, spread=spread)


def search_estimate(spec: StudySpec, evaluator: Evaluator, best: Candidate) -> float:
    """Return the objective in the search; parameters that were no trial are played on the search worlds."""
    if best.estimate is not None:
        return best.estimate
    sample = evaluator.play_sample([best.values], Stream.SEARCH, 0, spec.replications)
    return float(evaluator.objective.value(sample)[0])


def bounding_box(spec: StudySpec, candidates: list[Candidate]) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value of each searched parameter."""
    values = {name: [float(candidate.values[name]) for candidate in candidates] for name in spec.space}
    return {name: (min(column), max(column)) for name, column in values.items()}


def importance(spec: StudySpec, study: optuna.Study) -> dict[str, float] | None:
    """Return the importance of each searched parameter (PED-ANOVA), or None with too few trials."""
    import optuna

    trials = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
    values = [trial.value for trial in trials]
    if len(values) < MIN_TRIALS_FOR_IMPORTANCE or len(set(values)) == 1:
        return None
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(
        target_quantile=0.1, region_quantile=1.0, evaluate_on_local=True
    )
    distributions = make_distributions(spec)
    if any(trial.distributions != distributions for trial in trials):  # a range was widened
        study = optuna.create_study(directions=study.directions)
        study.add_trials(convert_trial(trial, trial.params, distributions) for trial in trials)
    try:
        importances = evaluator.evaluate(study, params=list(distributions))
    except (ValueError, RuntimeError):
        return None
    weights = [float(importances[trial_param_name(name, range_)]) for name, range_ in spec.resolved().space.items()]
    # Optuna adds with sum() and a BLAS library, whose last digit depends on Python's version and the processor.
    total = math.fsum(weights)
    if not math.isfinite(total):
        return None
    shares = [round(weight / total, SHARE_DECIMALS) if total > 0.0 else 1.0 / len(weights) for weight in weights]
    return dict(zip(spec.resolved().space, shares, strict=True))


def boundary_hits(spec: StudySpec, values: Mapping[str, Value]) -> list[Edge]:
    """Return the searched parameters whose value is at or beyond a boundary of the search space.

    `low` and `high` are the extended range, as a study file states it (of 1 − x where 1 − x is searched). A boundary
    that cannot move, because the parameter's limit or the horizon sets it, does not count.

    >>> spec = StudySpec(scenario="blips", horizon=1000)
    >>> hits = boundary_hits(spec, {"alpha0": 9.9, "beta0": 1.0, "epsilon": 0.1})
    >>> [(hit.param, hit.low, hit.high) for hit in hits]
    [('alpha0', 0.01, 30.0)]
    """
    space = spec.resolved().space
    hits = []
    for param in find_policy(spec.policy).parameters:
        if param.name in space:
            value = float(values[param.name])
            wider = extend_range(param, space[param.name], value, zone=NEAR_BOUNDARY, factor=LOG_EXTENSION)
            if wider != space[param.name]:
                hits.append(Edge(param=param.name, value=value, low=wider.low, high=wider.high))
    return hits
