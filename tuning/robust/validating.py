"""From a search over several worlds to one setting, measured on fresh worlds of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from environments import find_scenario
from environments.streams import Stream
from environments.world import Floats
from studies.keys import project_version
from studies.measure import Measure, parse_measure
from studies.robust import ResolvedRobustSpec
from studies.robust_recommendation import Contender, RobustRecommendation, Tuned
from studies.spec import ResolvedStudy
from tuning.edges import edges
from tuning.robust.evaluating import ManyWorlds, RelativeWorlds, positive
from tuning.robust.measuring import overall_price, worlds_of
from tuning.statistics import best_first, indistinguishable
from tuning.validation import (
    Candidate,
    best_and_rivals,
    box_around,
    candidate_of,
    importance,
    scale_of,
    search_estimate,
)

if TYPE_CHECKING:
    import optuna

RECOMMENDED, DEFAULTS = "recommended", "defaults"


def tuned_for(scenario: str) -> str:
    """What a scenario's own setting is called among those that are held against the chosen one."""
    return f"tuned for {scenario}"


def tuned_candidate(base: ResolvedStudy, tuned: Tuned) -> Candidate:
    """The setting of a scenario's own study as a candidate."""
    return candidate_of(base, {name: x for name, x in tuned.params.items() if name not in base.fixed})  # type: ignore[misc]


def rivals_of(base: ResolvedStudy, tuned: Sequence[Tuned]) -> dict[str, Candidate]:
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
    spec: ResolvedRobustSpec, study: optuna.Study, worlds: RelativeWorlds, tuned: Sequence[Tuned]
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
        edge=edges(base, best.values),
        scales=[scale_of(scenario, base.horizon, base.arms, base.seed) for scenario in scenarios],
    )


def described(spec: ResolvedRobustSpec, study: optuna.Study, tuned: Sequence[Tuned]) -> dict[str, Any]:
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
    worlds: ManyWorlds,
    measure: Measure,
    named: dict[str, Candidate],
    tuned: Sequence[Tuned],
) -> list[Contender]:
    """Settings by name, the tuned ones among them, on the report worlds, which choose nothing."""
    base = spec.base
    once, places = distinct(list(named.values()))
    played = worlds.play([each.values for each in once], Stream.REPORT, 0, base.report)
    at = dict(zip(named, places, strict=True))
    least = np.stack([played[at[tuned_for(name)], :, s] for s, name in enumerate(spec.scenarios)], axis=-1)
    positive(spec.scenarios, least.mean(axis=0))
    scenario_of = {tuned_for(each.scenario): each.scenario for each in tuned}
    return [
        Contender(
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
    return best_first(found, indistinguishable(played, spec.base.seed, value))
