"""Held-out worlds of several scenarios: the excess regret of one setting over each scenario's tuned setting."""

from collections.abc import Mapping, Sequence

import numpy as np

from ravenlab.common.errors import InputError
from ravenlab.common.interval import CONFIDENCE_LEVEL
from ravenlab.common.text import format_number
from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.studies.results.recommendation import Estimate
from ravenlab.studies.results.robust import (
    EvaluatedSetting,
    Price,
    RobustRecommendation,
    ScenarioOutcome,
    TunedSetting,
)
from ravenlab.studies.spec.robust import Measure, RobustSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import (
    indistinguishable,
    level_interval,
    mean_interval,
    order_best_first,
    relative_interval,
    relative_shares,
)
from ravenlab.tuning.validation.candidates import DEFAULTS, Candidate, make_baseline, make_candidate
from ravenlab.tuning.validation.held_out import Screening, Selection
from ravenlab.tuning.validation.report import decide
from ravenlab.tuning.validation.worlds import WorldData, measure_scale
from ravenlab.tuning.workers.local import SERIAL, Workers
from ravenlab.tuning.workers.problem import Evaluator


class RelativeEvaluator(Evaluator):
    """Regret [C, R, S] in S scenarios relative to the tuned settings; a measure combines it to samples [C, R].

    >>> from ravenlab.studies.spec.robust import parse_measure, parse_robust_spec
    >>> spec = parse_robust_spec({"scenarios": ["blips", "periodic"], "horizon": 50, "arms": 3})
    >>> defaults = spec.base.resolve_params({})
    >>> evaluator = RelativeEvaluator(spec, parse_measure("mean"), [defaults, defaults])
    >>> evaluator.play_scenarios([defaults], stream=1, first=0, count=5).shape
    (1, 5, 2)
    >>> evaluator.play_sample([defaults], stream=1, first=0, count=5).shape
    (1, 5)
    """

    def __init__(self, spec: RobustSpec, measure: Measure, tuned: Sequence[Values], workers: Workers = SERIAL) -> None:
        super().__init__(spec.base, workers)
        self.evaluators = [Evaluator(scenario, workers) for scenario in spec.scenario_specs()]
        self.measure = measure
        self.scenarios = spec.scenarios
        self.tuned_regret = self.measure_tuned(tuned, Stream.SEARCH, spec.base.replications)

    def measure_tuned(self, tuned: Sequence[Values], stream: int, count: int) -> Floats:
        """Return the mean regret [S] of the tuned setting of each scenario, which relative regret is divided by."""
        played = [
            evaluator.play([values], stream, 0, count).regret[0]
            for evaluator, values in zip(self.evaluators, tuned, strict=True)
        ]
        return check_positive(self.scenarios, np.array([float(regret.mean()) for regret in played]))

    def play_scenarios(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Return the regret [C, count, S] in worlds first … first + count − 1 of a stream of each scenario."""
        played = [evaluator.play(candidates, stream, first, count).regret for evaluator in self.evaluators]
        return np.stack(played, axis=-1)

    def play_sample(self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int) -> Floats:
        """Return the measure [C, count] of the relative regrets in each replication."""
        return self.measure.sample(self.play_scenarios(candidates, stream, first, count) / self.tuned_regret)


def check_positive(scenarios: Sequence[str], means: Floats) -> Floats:
    """Return the mean regrets of the tuned settings, which relative regret is divided by."""
    for name, mean in zip(scenarios, means, strict=True):
        if not mean > 0.0:
            raise InputError(
                f"scenario {name} can't be part of a robust study: its tuned setting has regret "
                f"{format_number(mean)}, and relative regret needs a positive one."
            )
    return means


RECOMMENDED = "recommended"


class ScenarioWorlds(WorldData[RobustRecommendation]):
    """Held-out worlds of several scenarios. Regret is relative to that of the tuned settings on the same worlds."""

    def __init__(self, spec: RobustSpec, evaluator: RelativeEvaluator, tuned: Sequence[TunedSetting]) -> None:
        super().__init__(spec.base, evaluator)
        self.robust = spec
        self.players = evaluator
        self.tuned = list(tuned)
        self.scenarios = len(spec.scenarios)
        self.tuned_regret = np.ones(self.scenarios)
        """Mean regret [S] of the tuned settings on the selection worlds; known after the screening."""

    def list_baselines(self, spec: StudySpec) -> dict[str, Candidate]:
        tuned = {tuned_name(setting.scenario): tuned_candidate(spec, setting) for setting in self.tuned}
        return {**tuned, DEFAULTS: make_candidate(spec, {})}

    def screen(self, candidates: Sequence[Values], design: Sequence[Values]) -> Screening:
        """Play all candidates, and before a race the tuned settings on all selection worlds."""
        measure = self.players.measure
        played = self.players.play_scenarios([*candidates, *design], Stream.SELECTION, 0, self.screened)
        experts = [candidates.index(tuned_candidate(self.spec, setting).values) for setting in self.tuned]
        equals = self._find_indistinguishable(played[: len(candidates)], experts)
        if self.raced:
            tuned = [candidates[index] for index in experts]
            self.tuned_regret = self.players.measure_tuned(tuned, Stream.SELECTION, self.spec.selection)
        return Screening(measure.value(played.mean(axis=1) / self.tuned_regret), equals)

    def _find_indistinguishable(self, played: Floats, experts: Sequence[int]) -> list[int]:
        """Return the candidates that are indistinguishable from the best by the measure, best first.

        Replications of the regret [C, R, S] are resampled for all candidates and scenarios together. `experts` are the
        indices of the tuned settings.
        """

        def value(regret: Floats) -> Floats:
            means = regret.mean(axis=-2)
            tuned = np.stack([means[index, ..., s] for s, index in enumerate(experts)], axis=-1)
            return self.players.measure.value(means / tuned)

        means = np.array([played[index, :, s].mean() for s, index in enumerate(experts)])
        check_positive(self.robust.scenarios, means)
        return order_best_first(value(played), indistinguishable(played, self.spec.seed, value))[1]

    def play(self, candidates: Sequence[Values], first: int, count: int) -> Floats:
        return self.players.play_scenarios(candidates, Stream.SELECTION, first, count) / self.tuned_regret

    def combine(self, sample: Floats) -> Floats:
        return self.players.measure.sample(sample)

    def report(self, selection: Selection) -> RobustRecommendation:
        base = selection.spec
        contenders = self._evaluate_settings({RECOMMENDED: selection.best, **selection.baselines})
        verdict = decide(
            base,
            selection.choice,
            selection.baselines[DEFAULTS].values,
            selection.complete,
            better=contenders[0].price.mean < contenders[-1].price.mean,
        )
        scenarios = [find_scenario(name, dict(base.settings)) for name in self.robust.scenarios]
        return RobustRecommendation(
            **self.shared_fields(selection),
            scenario=",".join(self.robust.scenarios),
            scenarios=list(self.robust.scenarios),
            tuned=self.tuned,
            verdict=verdict,
            measure=self.robust.measure,
            price=contenders[0].price,
            contenders=contenders,
            scales=[measure_scale(scenario, base) for scenario in scenarios],
        )

    def _evaluate_settings(self, named: dict[str, Candidate]) -> list[EvaluatedSetting]:
        """Evaluate named settings, which include the tuned ones, on the report worlds."""
        base = self.robust.base
        distinct: list[Values] = []
        for candidate in named.values():
            if candidate.values not in distinct:
                distinct.append(candidate.values)
        played = self.players.play_scenarios(distinct, Stream.REPORT, 0, base.report)
        regret = {name: played[distinct.index(candidate.values)] for name, candidate in named.items()}
        own = [regret[tuned_name(name)][:, s] for s, name in enumerate(self.robust.scenarios)]
        tuned_regret = np.stack(own, axis=-1)
        check_positive(self.robust.scenarios, tuned_regret.mean(axis=0))
        tuned_for = {tuned_name(setting.scenario): setting.scenario for setting in self.tuned}
        return [
            EvaluatedSetting(
                name=name,
                tuned_for=tuned_for.get(name),
                params=candidate.shown,
                worlds=compare_with_tuned(regret[name], tuned_regret, self.robust.scenarios, base.seed),
                price=overall_price(regret[name], tuned_regret, self.players.measure, base.seed),
            )
            for name, candidate in named.items()
        ]


def tuned_name(scenario: str) -> str:
    """Return the name of a scenario's tuned setting among the evaluated settings."""
    return f"tuned for {scenario}"


def tuned_candidate(base: StudySpec, tuned: TunedSetting) -> Candidate:
    """Return a scenario's tuned setting as a candidate."""
    return make_baseline(base, tuned.params)  # type: ignore[arg-type]


def compare_with_tuned(regret: Floats, tuned: Floats, scenarios: Sequence[str], seed: int) -> list[ScenarioOutcome]:
    """Return the regret [R, S] of a setting by scenario, with its excess over the tuned settings' regret [R, S]."""
    outcomes = []
    for s, name in enumerate(scenarios):
        estimate = Estimate(*level_interval(regret[:, s], seed), replications=len(regret))
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
