"""A best value on the edge of the box says that the box may be too small: which one, and what range would settle it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Literal

from environments import Scenario
from environments.blocks import reward_scale
from environments.errors import InputError
from environments.recorded.log_world import LogScenario
from environments.recorded.trace_world import TraceScenario
from environments.streams import Stream
from environments.world import Floats
from policies import find_policy
from policies.engine.base import Param, Value, Values
from policies.engine.play import REGRET
from studies.results.recommendation import (
    Baseline,
    Edge,
    Estimate,
    LogFacts,
    Parameters,
    Recommendation,
    RewardScale,
    TraceFacts,
)
from studies.spec.distributions import from_trial_params, make_distributions, trial_param_name
from studies.spec.source import LogSource, ScenarioSource, TraceSource
from studies.spec.space import Range
from studies.spec.study import ResolvedStudy, StudySpec
from studies.statistics.intervals import indistinguishable, mean_interval, order_best_first, paired_interval
from studies.storage.keys import project_version
from tuning.search.samplers import advice_for
from tuning.validation.recorded import Reported
from tuning.workers.problem import Evaluator

if TYPE_CHECKING:
    import optuna


NEAR = 0.01
"""An end is near within this share of the range, on the scale that was searched."""

BEYOND = 3.0
"""How many times further a log range goes; a linear one goes on by its own width."""


def boundary_hits(spec: StudySpec, values: Mapping[str, Value]) -> list[Edge]:
    """The searched parameters whose value lies at an end of its range, or beyond it.

    `low` and `high` are what a study file would say: of 1 − x where 1 − x is searched. An end that can't be moved,
    because the parameter allows no more or because it is the horizon itself, is not an edge.

    >>> spec = StudySpec(scenario="blips", horizon=1000)
    >>> [(edge.param, edge.low, edge.high) for edge in edges(spec, {"alpha0": 9.9, "beta0": 1.0, "epsilon": 0.1})]
    [('alpha0', 0.01, 30.0)]
    """
    space = spec.resolved().space
    out = []
    for param in find_policy(spec.policy).parameters:
        if param.name in space:
            value = float(values[param.name])
            low, high = _settled(param, space[param.name], value)
            if (low, high) != (space[param.name].low, space[param.name].high):
                out.append(Edge(param=param.name, value=value, low=low, high=high))
    return out


def _settled(param: Param, range_: Range, value: float) -> tuple[float, float]:
    """The range, moved outwards where the value is near an end."""
    x = 1.0 - value if range_.scale == "one-minus" else value
    least, most = param.least, param.most
    if range_.scale == "one-minus":
        least, most = max(0.0, 1.0 - param.most), min(1.0, 1.0 - param.least)
    low, high = range_.low, range_.high
    if range_.scale == "linear":
        place = (x - low) / (high - low)
        lower, upper = min(low, x) - (high - low), max(high, x) + (high - low)
    else:
        place = (log(x) - log(low)) / (log(high) - log(low)) if x > 0.0 else 0.0
        lower, upper = min(low, x if x > 0.0 else low) / BEYOND, max(high, x) * BEYOND
    if param.integer:
        lower, upper = float(max(1, round(lower))), float(round(upper))
    if place <= NEAR and not callable(param.low):
        low = min(low, max(lower, least))
    if place >= 1.0 - NEAR and not callable(param.high):
        high = max(high, min(upper, most))
    return low, high


ENOUGH_FOR_IMPORTANCE = 20

RivalName = Literal["paper", "defaults"]


@dataclass(frozen=True)
class Candidate:
    """Parameters that may be recommended: all of them, those to show, and what the search thought of them."""

    values: Values
    shown: Parameters
    estimate: float | None = None


def recommend(spec: StudySpec, study: optuna.Study, evaluator: Evaluator) -> Recommendation:
    """Choose among the best trials, the paper's advice and the defaults, and measure the chosen one anew.

    The same for any number of workers.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
    >>> spec = StudySpec(scenario="stationary", horizon=50, arms=3, selection=20, report=20, replications=5)
    >>> study = optuna.create_study(study_name="small")
    >>> params = {"alpha0": 0.1, "beta0": 0.2, "epsilon": 0.01}
    >>> study.add_trial(optuna.create_trial(params=params, distributions=distributions(spec), value=3.0))
    >>> recommend(spec, study, Evaluator(spec)).regret.replications
    20
    """
    spec = spec.resolved()
    rivals = _rivals(spec)
    entered = best_and_rivals(spec, study, evaluator.objective.maximize, rivals.values())

    facts: TraceFacts | LogFacts | None = None
    match spec.source, evaluator.problem.scenario:
        case TraceSource(path=path), TraceScenario() as trace:
            from tuning.validation import recorded

            values = [candidate.values for candidate in entered]
            chosen, equals = recorded.choose_on_trace(trace, evaluator, values, spec.selection, spec.seed)
            contenders = [entered[chosen].values, *(rival.values for rival in rivals.values())]
            reported = recorded.report_on_trace(spec, path, trace, evaluator, contenders)
            regret, scale, facts = reported.regret, reported.scale, reported.facts
            versus = _reported_rivals(rivals, reported)
        case LogSource(path=path), LogScenario() as log:
            from tuning.validation import recorded

            values = [candidate.values for candidate in entered]
            chosen, equals = recorded.choose_on_log(evaluator, values, spec.selection)
            contenders = [entered[chosen].values, *(rival.values for rival in rivals.values())]
            reported = recorded.report_on_log(spec, path, log, evaluator, contenders)
            regret, scale, facts = reported.regret, reported.scale, reported.facts
            versus = _reported_rivals(rivals, reported)
        case ScenarioSource(), Scenario() as scenario:
            selection = _play(evaluator, entered, Stream.SELECTION, spec.selection)
            chosen, equals = _choose(spec, evaluator, selection)
            report = _play(evaluator, [entered[chosen], *rivals.values()], Stream.REPORT, spec.report)[..., REGRET]
            mean, low, high = mean_interval(report[0], spec.seed)
            regret = Estimate(mean=mean, low=low, high=high, replications=spec.report)
            versus = [
                _against(name, rival, report[0], theirs, spec.seed)
                for (name, rival), theirs in zip(rivals.items(), report[1:], strict=True)
            ]
            scale = scale_of(scenario, spec.horizon, spec.arms, spec.seed)
        case source, other:
            raise TypeError(f"the evaluator plays {other.name!r}, not the {source.kind} of the study")
    best = entered[chosen]
    return Recommendation(
        study=study.study_name,
        policy=spec.policy,
        scenario=spec.scenario,
        settings=dict(spec.settings),
        horizon=spec.horizon,
        arms=spec.arms,
        params=best.shown,
        objective=spec.objective,
        regret=regret,
        search_estimate=search_estimate(spec, evaluator, best),
        indistinguishable=[entered[i].shown for i in equals],
        box=box_around(spec, [entered[i] for i in equals]),
        versus=versus,
        importance=importance(spec, study),
        edge=boundary_hits(spec, best.values),
        scale=scale,
        trials=len(study.get_trials(deepcopy=False)),
        seed=spec.seed,
        version=project_version(),
        trace=facts if isinstance(facts, TraceFacts) else None,
        log=facts if isinstance(facts, LogFacts) else None,
    )


def scale_of(scenario: Scenario, horizon: int, arms: int, seed: int) -> RewardScale:
    """How large the rewards of a scenario are."""
    mean, spread = reward_scale(scenario, horizon, arms, seed)
    return RewardScale(mean=mean, spread=spread)


def _reported_rivals(rivals: Mapping[RivalName, Candidate], reported: Reported) -> list[Baseline]:
    """The rivals on the held-out part of a trace or log."""
    return [
        Baseline(
            name=name,
            params=rival.shown,
            regret=more.regret,
            difference=more.mean,
            low=more.low,
            high=more.high,
            decidable=more.enough,
        )
        for (name, rival), more in zip(rivals.items(), reported.rivals, strict=True)
    ]


def importance(spec: StudySpec, study: optuna.Study) -> dict[str, float] | None:
    """How much each searched parameter matters (PED-ANOVA); None where too few trials could tell."""
    import optuna

    values = [trial.value for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))]
    if len(values) < ENOUGH_FOR_IMPORTANCE or len(set(values)) == 1:
        return None
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(
        target_quantile=0.1, region_quantile=1.0, evaluate_on_local=True
    )
    try:
        found = optuna.importance.get_param_importances(
            study, evaluator=evaluator, params=list(make_distributions(spec)), target=None, normalize=True
        )
    except (ValueError, RuntimeError):
        return None
    out = {name: float(found[trial_param_name(name, range_)]) for name, range_ in spec.resolved().space.items()}
    return out if all(math.isfinite(share) for share in out.values()) else None


def _rivals(spec: ResolvedStudy) -> dict[RivalName, Candidate]:
    """What one would use without a search; parameters that the study fixes stay fixed."""
    advice = advice_for(spec, spec.scenario)
    out: dict[RivalName, Candidate] = {}
    if advice is not None:
        out["paper"] = candidate_of(spec, {name: x for name, x in advice.items() if name not in spec.fixed})
    out["defaults"] = candidate_of(spec, {})
    return out


def candidate_of(spec: StudySpec, params: dict[str, float], estimate: float | None = None) -> Candidate:
    """Parameters as a candidate; those that are left out have their defaults."""
    values = spec.values(params)
    shown = {name: value for name, value in values.items() if name in {*spec.space, *spec.fixed, *params}}
    return Candidate(values, shown, estimate)


def best_and_rivals(
    spec: StudySpec, study: optuna.Study, maximize: bool, rivals: Iterable[Candidate]
) -> list[Candidate]:
    """The best distinct complete trials, then the rivals; nobody twice."""
    import optuna

    complete = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.COMPLETE,))
    ranked = [(-trial.value if maximize else trial.value, trial) for trial in complete if trial.value is not None]
    ranked.sort(key=lambda pair: (pair[0], pair[1].number))
    out: list[Candidate] = []
    for _, trial in ranked:
        if len(out) == spec.candidates:
            break
        candidate = candidate_of(spec, from_trial_params(spec, trial.params), trial.value)
        if all(candidate.values != other.values for other in out):
            out.append(candidate)
    if not out:
        raise InputError(f"study {study.study_name!r} has no complete trial to recommend; give it more trials.")
    for rival in rivals:
        if all(rival.values != other.values for other in out):
            out.append(rival)
    return out


def _play(evaluator: Evaluator, candidates: list[Candidate], stream: Stream, count: int) -> Floats:
    return evaluator.play([candidate.values for candidate in candidates], stream, 0, count)


def _choose(spec: StudySpec, evaluator: Evaluator, played: Floats) -> tuple[int, list[int]]:
    """The best by the objective, and all that can't be told from it, best first."""
    objective, sample = evaluator.objective, evaluator.sample(played)
    if objective.maximize:
        sample = -sample
    found = objective.value(sample)
    return order_best_first(found, indistinguishable(sample, spec.seed, objective.value if objective.by_rank else None))


def search_estimate(spec: StudySpec, evaluator: Evaluator, best: Candidate) -> float:
    """The objective as the search saw it; parameters that were no trial are played as a trial would have been."""
    if best.estimate is not None:
        return best.estimate
    played = evaluator.play([best.values], Stream.SEARCH, 0, spec.replications)
    return float(evaluator.objective.value(evaluator.sample(played))[0])


def _against(name: Literal["paper", "defaults"], rival: Candidate, best: Floats, regret: Floats, seed: int) -> Baseline:
    difference, low, high = paired_interval(regret, best, seed)
    return Baseline(
        name=name, params=rival.shown, regret=float(regret.mean()), difference=difference, low=low, high=high
    )


def box_around(spec: StudySpec, candidates: list[Candidate]) -> dict[str, tuple[float, float]]:
    """The smallest box around the searched parameters of some candidates."""

    def ends(name: str) -> tuple[float, float]:
        values: list[Value] = [candidate.values[name] for candidate in candidates]
        return min(map(float, values)), max(map(float, values))

    return {name: ends(name) for name in spec.space}
