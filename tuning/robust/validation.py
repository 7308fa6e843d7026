"""Selection and report of a robust study: excess regret over each scenario's tuned setting, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.common.interval import CONFIDENCE_LEVEL
from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.results.recommendation import Estimate
from ravenlab.studies.results.robust import (
    EvaluatedSetting,
    Price,
    RobustRecommendation,
    ScenarioOutcome,
    TunedSetting,
)
from ravenlab.studies.spec.robust import Measure, ResolvedRobustSpec, parse_measure
from ravenlab.studies.spec.study import ResolvedStudy
from ravenlab.studies.statistics.intervals import (
    indistinguishable,
    mean_interval,
    order_best_first,
    relative_interval,
    relative_shares,
)
from ravenlab.studies.storage.keys import project_version
from ravenlab.tuning.robust.evaluation import RelativeEvaluator, check_positive
from ravenlab.tuning.search.widening import widened_spec
from ravenlab.tuning.validation.choice import ChosenParameters, decide, make_design
from ravenlab.tuning.validation.race import WorldMeasurements
from ravenlab.tuning.validation.recommend import (
    Candidate,
    CompleteTrials,
    boundary_hits,
    bounding_box,
    complete_trials,
    count_nomination_worlds,
    importance,
    is_raced,
    make_candidate,
    measure_scale,
    nominate_and_race,
    search_estimate,
    shortlist,
)

if TYPE_CHECKING:
    import optuna


def compare_with_tuned(regret: Floats, tuned: Floats, scenarios: Sequence[str], seed: int) -> list[ScenarioOutcome]:
    """Return the regret [R, S] of a setting by scenario, with its excess over the tuned settings' regret [R, S]."""
    outcomes = []
    for s, name in enumerate(scenarios):
        estimate = Estimate(*mean_interval(regret[:, s], seed), replications=len(regret))
        price = Price(*relative_interval(regret[:, s], tuned[:, s], seed))
        outcomes.append(ScenarioOutcome(scenario=name, regret=estimate, price=price))
    return outcomes


def overall_price(regret: Floats, tuned: Floats, measure: Measure, seed: int) -> Price:
    """Return the excess regret [R, S] over all scenarios by the measure, with its interval.

    A measure of only the worst scenarios depends on which these are, which is itself uncertain. So all scenarios get
    simultaneous intervals (Bonferroni). The measure is monotone in each price, so its interval runs from its value at
    all lower ends to its value at all upper ends. The mean needs no correction: it is one number per replication.
    """
    count = regret.shape[1]
    pairs = [(regret[:, s], tuned[:, s]) for s in range(count)]
    if measure.worst_count(count) == count:
        sample = np.mean([relative_shares(*pair) for pair in pairs], axis=0)
        return Price(*mean_interval(sample, seed))
    prices = np.array([regrets.mean() / least.mean() - 1.0 for regrets, least in pairs])
    intervals = [relative_interval(*pair, seed, level=1.0 - (1.0 - CONFIDENCE_LEVEL) / count) for pair in pairs]
    low = float(measure.value(np.array([interval.low for interval in intervals])))
    high = float(measure.value(np.array([interval.high for interval in intervals])))
    return Price(mean=float(measure.value(prices)), low=low, high=high)


RECOMMENDED, DEFAULTS = "recommended", "defaults"


def tuned_name(scenario: str) -> str:
    """Return the name of a scenario's tuned setting among the evaluated settings."""
    return f"tuned for {scenario}"


def tuned_candidate(base: ResolvedStudy, tuned: TunedSetting) -> Candidate:
    """Return a scenario's tuned setting as a candidate."""
    return make_candidate(base, {name: x for name, x in tuned.params.items() if name not in base.fixed})  # type: ignore[misc]


def list_baselines(base: ResolvedStudy, tuned: Sequence[TunedSetting]) -> dict[str, Candidate]:
    """Return each scenario's tuned setting and the defaults, by name."""
    baselines = {tuned_name(setting.scenario): tuned_candidate(base, setting) for setting in tuned}
    return {**baselines, DEFAULTS: make_candidate(base, {})}


def deduplicate(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[int]]:
    """Return the distinct candidates, and the index of each given candidate among them."""
    distinct: list[Candidate] = []
    indices = []
    for candidate in candidates:
        index = next((i for i, other in enumerate(distinct) if other.values == candidate.values), len(distinct))
        if index == len(distinct):
            distinct.append(candidate)
        indices.append(index)
    return distinct, indices


def recommend_robust(
    spec: ResolvedRobustSpec, study: optuna.Study, evaluator: RelativeEvaluator, tuned: Sequence[TunedSetting]
) -> RobustRecommendation:
    """Select a setting on the selection worlds of all scenarios and evaluate it on their report worlds."""
    planned = spec.base
    base = widened_spec(planned, study.get_trials(deepcopy=False), maximize=False)
    spec = spec.model_copy(update={"base": base})
    scenarios = [find_scenario(name, dict(base.settings)) for name in spec.scenarios]
    measure = parse_measure(spec.measure)
    baselines = list_baselines(base, tuned)
    complete = complete_trials(base, study)
    candidates = shortlist(base, complete, False, baselines.values())
    shares = importance(base, study)
    choice, equals, ranges = _select(spec, complete, evaluator, measure, candidates, baselines, shares)
    proposed = make_candidate(base, {name: float(choice.values[name]) for name in base.space})
    best = next((candidate for candidate in candidates if candidate.values == choice.values), proposed)
    contenders = evaluate_settings(spec, evaluator, measure, {RECOMMENDED: best, **baselines}, tuned)
    better = contenders[0].price.mean < contenders[-1].price.mean
    return RobustRecommendation(
        study=study.study_name,
        policy=base.policy,
        scenario=",".join(spec.scenarios),
        scenarios=list(spec.scenarios),
        settings=dict(base.settings),
        horizon=base.horizon,
        arms=base.arms,
        tuned=list(tuned),
        trials=len(study.get_trials(deepcopy=False)),
        seed=base.seed,
        version=project_version(),
        verdict=decide(base, choice, baselines[DEFAULTS].values, len(complete.candidates), better),
        params=best.shown,
        measure=spec.measure,
        price=contenders[0].price,
        search_estimate=search_estimate(base, evaluator, best),
        indistinguishable=[candidates[i].shown for i in equals],
        box=bounding_box(base, [*(candidates[i] for i in equals), best]) if ranges is None else ranges,
        contenders=contenders,
        importance=shares,
        edge=boundary_hits(base, best.values),
        widened={name: range_.bounds() for name, range_ in base.space.items() if range_ != planned.space[name]},
        unit=base.reward_factor(),
        scales=[measure_scale(scenario, base.horizon, base.arms, base.seed) for scenario in scenarios],
    )


def evaluate_settings(
    spec: ResolvedRobustSpec,
    evaluator: RelativeEvaluator,
    measure: Measure,
    named: dict[str, Candidate],
    tuned: Sequence[TunedSetting],
) -> list[EvaluatedSetting]:
    """Evaluate named settings, which include the tuned ones, on the report worlds."""
    base = spec.base
    distinct, indices = deduplicate(list(named.values()))
    played = evaluator.play_scenarios([candidate.values for candidate in distinct], Stream.REPORT, 0, base.report)
    regret = {name: played[index] for name, index in zip(named, indices, strict=True)}
    tuned_regret = np.stack([regret[tuned_name(name)][:, s] for s, name in enumerate(spec.scenarios)], axis=-1)
    check_positive(spec.scenarios, tuned_regret.mean(axis=0))
    tuned_for = {tuned_name(setting.scenario): setting.scenario for setting in tuned}
    return [
        EvaluatedSetting(
            name=name,
            tuned_for=tuned_for.get(name),
            params=candidate.shown,
            worlds=compare_with_tuned(regret[name], tuned_regret, spec.scenarios, base.seed),
            price=overall_price(regret[name], tuned_regret, measure, base.seed),
        )
        for name, candidate in named.items()
    ]


def _index(candidates: Sequence[Candidate], wanted: Candidate) -> int:
    return next(i for i, candidate in enumerate(candidates) if candidate.values == wanted.values)


def _select(
    spec: ResolvedRobustSpec,
    complete: CompleteTrials,
    evaluator: RelativeEvaluator,
    measure: Measure,
    candidates: Sequence[Candidate],
    baselines: dict[str, Candidate],
    importance: dict[str, float] | None,
) -> tuple[ChosenParameters, list[int], dict[str, tuple[float, float]] | None]:
    """Return the chosen parameters, the indistinguishable candidates, and the tied ranges.

    Relative regret is divided by that of the tuned settings on the same worlds.
    """
    base, values, defaults = spec.base, [candidate.values for candidate in candidates], baselines[DEFAULTS].values
    raced = is_raced(base)
    design = make_design(base, values[: base.candidates], defaults, importance) if raced else []
    worlds = count_nomination_worlds(base) if raced else base.selection
    played = evaluator.play_scenarios([*values, *design], Stream.SELECTION, 0, worlds)
    experts = [_index(candidates, baselines[tuned_name(name)]) for name in spec.scenarios]
    equals = _find_indistinguishable(spec, measure, played[: len(values)], experts)
    if not raced:
        return ChosenParameters(values[equals[0]]), equals, None
    means = [
        float(single.play([values[index]], Stream.SELECTION, 0, base.selection).regret[0].mean())
        for single, index in zip(evaluator.evaluators, experts, strict=True)
    ]
    tuned = check_positive(spec.scenarios, np.array(means))

    def play_selection(values: Sequence[Values], first: int, count: int) -> Floats:
        return evaluator.play_scenarios(values, Stream.SELECTION, first, count) / tuned

    choice, ranges = nominate_and_race(
        base,
        complete,
        values,
        design,
        measure.value(played.mean(axis=1) / tuned),
        defaults,
        importance,
        WorldMeasurements(base, play_selection, worlds, combine=measure.sample),
        scenarios=len(spec.scenarios),
    )
    return choice, equals, ranges


def _find_indistinguishable(
    spec: ResolvedRobustSpec, measure: Measure, played: Floats, experts: Sequence[int]
) -> list[int]:
    """Return the candidates that are indistinguishable from the best by the measure, best first.

    Replications of the regret [C, R, S] are resampled for all candidates and scenarios together. `experts` are the
    indices of the tuned settings.
    """

    def value(regret: Floats) -> Floats:
        means = regret.mean(axis=-2)
        tuned = np.stack([means[index, ..., s] for s, index in enumerate(experts)], axis=-1)
        return measure.value(means / tuned)

    check_positive(spec.scenarios, np.array([played[index, :, s].mean() for s, index in enumerate(experts)]))
    return order_best_first(value(played), indistinguishable(played, spec.base.seed, value))[1]
