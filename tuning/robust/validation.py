"""What a setting costs in each scenario against the one that was tuned for it, with intervals that can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from environments import find_scenario
from environments.streams import Stream
from environments.world import Floats
from studies.results.recommendation import Estimate
from studies.results.robust import (
    EvaluatedSetting,
    Front,
    FrontMember,
    Price,
    RobustRecommendation,
    ScenarioOutcome,
    TunedSetting,
)
from studies.spec.distributions import from_trial_params
from studies.spec.robust import Measure, ResolvedRobustSpec, parse_measure
from studies.spec.study import ResolvedStudy
from studies.statistics.intervals import (
    indistinguishable,
    mean_interval,
    order_best_first,
    relative_interval,
    relative_shares,
)
from studies.storage.keys import project_version
from tuning.robust.evaluation import RelativeEvaluator, ScenariosEvaluator, positive
from tuning.validation.recommend import (
    Candidate,
    best_and_rivals,
    boundary_hits,
    box_around,
    candidate_of,
    importance,
    scale_of,
    search_estimate,
)

if TYPE_CHECKING:
    import optuna


LEVEL = 0.95


def worlds_of(regret: Floats, least: Floats, scenarios: Sequence[str], seed: int) -> list[ScenarioOutcome]:
    """Regrets [R, S] of a setting, held against those of each scenario's tuned one in the same worlds."""
    out = []
    for s, name in enumerate(scenarios):
        mean, low, high = mean_interval(regret[:, s], seed)
        estimate = Estimate(mean=mean, low=low, high=high, replications=len(regret))
        price = _price(relative_interval(regret[:, s], least[:, s], seed))
        out.append(ScenarioOutcome(scenario=name, regret=estimate, price=price))
    return out


def overall_price(regret: Floats, least: Floats, measure: Measure, seed: int) -> Price:
    """The price over all scenarios, by the measure.

    Where only the worst count, which ones these are is itself a finding. So all scenarios get intervals that hold
    together (Bonferroni), and since the measure can't fall when a price rises, it lies between that of all lower
    ends and that of all upper ends. The mean needs no such care: it is one number a replication.
    """
    kinds = regret.shape[1]
    pairs = [(regret[:, s], least[:, s]) for s in range(kinds)]
    found = np.array([first.mean() / second.mean() - 1.0 for first, second in pairs])
    if measure.counted(kinds) == kinds:
        sample = np.mean([relative_shares(first, second) for first, second in pairs], axis=0)
        return _price(mean_interval(sample, seed))
    ends = [relative_interval(*pair, seed, level=1.0 - (1.0 - LEVEL) / kinds)[1:] for pair in pairs]
    low, high = (float(measure.value(np.array(end))) for end in zip(*ends, strict=True))
    return Price(mean=float(measure.value(found)), low=low, high=high)


def _price(found: tuple[float, float, float]) -> Price:
    mean, low, high = found
    return Price(mean=mean, low=low, high=high)


RECOMMENDED, DEFAULTS = "recommended", "defaults"


def tuned_for(scenario: str) -> str:
    """What a scenario's own setting is called among those that are held against the chosen one."""
    return f"tuned for {scenario}"


def tuned_candidate(base: ResolvedStudy, tuned: TunedSetting) -> Candidate:
    """The setting of a scenario's own study as a candidate."""
    return candidate_of(base, {name: x for name, x in tuned.params.items() if name not in base.fixed})  # type: ignore[misc]


def rivals_of(base: ResolvedStudy, tuned: Sequence[TunedSetting]) -> dict[str, Candidate]:
    """What is held against the chosen one: each scenario's tuned setting, and the defaults."""
    out = {tuned_for(each.scenario): tuned_candidate(base, each) for each in tuned}
    return {**out, DEFAULTS: candidate_of(base, {})}


def distinct(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[int]]:
    """Each setting once, and where each of those given went."""
    once: list[Candidate] = []
    places = []
    for candidate in candidates:
        place = next((i for i, other in enumerate(once) if other.values == candidate.values), len(once))
        if place == len(once):
            once.append(candidate)
        places.append(place)
    return once, places


def recommend_robust(
    spec: ResolvedRobustSpec, study: optuna.Study, worlds: RelativeEvaluator, tuned: Sequence[TunedSetting]
) -> RobustRecommendation:
    """Choose on the selection worlds of all scenarios, measure on their report worlds; the same for any workers."""
    base = spec.base
    scenarios = [find_scenario(name, dict(base.settings)) for name in spec.scenarios]
    measure = parse_measure(spec.measure)
    rivals = rivals_of(base, tuned)
    entered = best_and_rivals(base, study, False, rivals.values())
    experts = [_place(entered, rivals[tuned_for(name)]) for name in spec.scenarios]
    played = worlds.play([each.values for each in entered], Stream.SELECTION, 0, base.selection)
    chosen, equals = _choose(spec, measure, played, experts)
    best = entered[chosen]
    contenders = measure_contenders(spec, worlds, measure, {RECOMMENDED: best, **rivals}, tuned)
    return RobustRecommendation(
        **described(spec, study, tuned),
        params=best.shown,
        measure=spec.measure,
        price=contenders[0].price,
        search_estimate=search_estimate(base, worlds, best),
        indistinguishable=[entered[i].shown for i in equals],
        box=box_around(base, [entered[i] for i in equals]),
        contenders=contenders,
        importance=importance(base, study),
        edge=boundary_hits(base, best.values),
        scales=[scale_of(scenario, base.horizon, base.arms, base.seed) for scenario in scenarios],
    )


def described(spec: ResolvedRobustSpec, study: optuna.Study, tuned: Sequence[TunedSetting]) -> dict[str, Any]:
    """What a recommendation and a front both say of the study."""
    base = spec.base
    return {
        "study": study.study_name,
        "policy": base.policy,
        "scenario": ",".join(spec.scenarios),
        "scenarios": list(spec.scenarios),
        "settings": dict(base.settings),
        "horizon": base.horizon,
        "arms": base.arms,
        "tuned": list(tuned),
        "trials": len(study.get_trials(deepcopy=False)),
        "seed": base.seed,
        "version": project_version(),
    }


def measure_contenders(
    spec: ResolvedRobustSpec,
    worlds: ScenariosEvaluator,
    measure: Measure,
    named: dict[str, Candidate],
    tuned: Sequence[TunedSetting],
) -> list[EvaluatedSetting]:
    """Settings by name, the tuned ones among them, on the report worlds, which choose nothing."""
    base = spec.base
    once, places = distinct(list(named.values()))
    played = worlds.play([each.values for each in once], Stream.REPORT, 0, base.report)
    at = dict(zip(named, places, strict=True))
    least = np.stack([played[at[tuned_for(name)], :, s] for s, name in enumerate(spec.scenarios)], axis=-1)
    positive(spec.scenarios, least.mean(axis=0))
    scenario_of = {tuned_for(each.scenario): each.scenario for each in tuned}
    return [
        EvaluatedSetting(
            name=name,
            tuned_for=scenario_of.get(name),
            params=candidate.shown,
            worlds=worlds_of(played[at[name]], least, spec.scenarios, base.seed),
            price=overall_price(played[at[name]], least, measure, base.seed),
        )
        for name, candidate in named.items()
    ]


def _place(entered: Sequence[Candidate], wanted: Candidate) -> int:
    return next(i for i, each in enumerate(entered) if each.values == wanted.values)


def _choose(
    spec: ResolvedRobustSpec, measure: Measure, played: Floats, experts: Sequence[int]
) -> tuple[int, list[int]]:
    """The best by the measure, and all that can't be told from it, best first.

    Regrets [C, R, S] are resampled whole, so that candidates, scenarios and those who know the world go together.
    """

    def value(regrets: Floats) -> Floats:
        means = regrets.mean(axis=-2)
        least = np.stack([means[place, ..., s] for s, place in enumerate(experts)], axis=-1)
        return measure.value(means / least)

    positive(spec.scenarios, np.array([played[place, :, s].mean() for s, place in enumerate(experts)]))
    found = value(played)
    return order_best_first(found, indistinguishable(played, spec.base.seed, value))


MOST_MEMBERS = 200
"""Of a larger front every so many-th, in the order of the first scenario's regret, is measured anew."""


def pareto_mask(values: Floats) -> NDArray[np.bool_]:
    """Which rows of [C, S] no other row beats: as good everywhere and better somewhere.

    >>> unbeaten(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [3.0, 1.0]]))
    array([ True,  True, False,  True])
    """
    as_good = (values[:, None, :] <= values[None, :, :]).all(axis=-1)
    better = (values[:, None, :] < values[None, :, :]).any(axis=-1)
    return np.asarray(~(as_good & better).any(axis=0))


def find_front(
    spec: ResolvedRobustSpec, study: optuna.Study, worlds: ScenariosEvaluator, tuned: Sequence[TunedSetting]
) -> Front:
    """The search's front, the tuned ones and the defaults: selection worlds say who stays, report worlds measure."""
    base = spec.base
    rivals = rivals_of(base, tuned)
    named: dict[str, Candidate] = dict(rivals)
    numbers: dict[str, int] = {}
    for trial in _members(study):
        candidate = candidate_of(base, from_trial_params(base, trial.params))
        first = next((name for name, other in named.items() if other.values == candidate.values), None)
        numbers[first or f"trial {trial.number}"] = trial.number
        if first is None:
            named[f"trial {trial.number}"] = candidate
    played = worlds.play([each.values for each in named.values()], Stream.SELECTION, 0, base.selection)
    kept = pareto_mask(played.mean(axis=1))
    measured = measure_contenders(spec, worlds, parse_measure("worst"), named, tuned)
    members: list[FrontMember] = []
    for each, stays in zip(measured, kept, strict=True):
        same = next((place for place, member in enumerate(members) if member.params == each.params), None)
        if same is None:
            members.append(FrontMember(**each.model_dump(), trial=numbers.get(each.name), kept=bool(stays)))
        else:
            members[same] = members[same].model_copy(update={"name": f"{members[same].name}, {each.name}"})
    return Front(
        **described(spec, study, tuned),
        members=sorted(members, key=lambda each: (not each.kept, each.worlds[0].regret.mean, each.name)),
    )


def _members(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    mask = pareto_mask(np.array([trial.values for trial in trials], dtype=np.float64))
    front = [trial for trial, stays in zip(trials, mask, strict=True) if stays]
    front.sort(key=lambda trial: (trial.values[0], trial.number))
    return front[:: -(-len(front) // MOST_MEMBERS)]
