"""Measurement of one setting: search, selection and report of a policy in a bounded number of steps.

Search, selection and report use separate worlds, as in every study. The number of worlds follows from the horizon, so
that a setting costs about the same at every horizon. A Gaussian process of the trials replaces the race of a study: it
shortlists candidates, and it is the surface that the laws are fitted to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.interval import TIE_MARGIN
from ravenlab.environments import find_scenario
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.laws.axes import RATES, axes_of, settings_at
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.intervals import mean_interval
from ravenlab.tuning.search.loop import search
from ravenlab.tuning.search.samplers import inside_search_space
from ravenlab.tuning.workers.problem import Evaluator
from tools.laws.gaussian_process import GaussianProcess, fit_gaussian_process

if TYPE_CHECKING:
    import optuna

SPACE: dict[str, Range] = {
    "alpha0": Range(low=0.02, high=100.0),
    "beta0": Range(low=0.01, high=10.0),
    "epsilon": Range(low=0.001, high=0.5),
}
"""Search ranges; the default range of α₀ ends at 10, below the best values at long horizons."""

LINE = 201  # points of a line through the best point
REPORT = 50  # report worlds of a study whose regret is measured elsewhere


@dataclass(frozen=True)
class Setting:
    """A scenario with its settings, horizon, arms and the seed of its worlds."""

    scenario: str
    index: int
    horizon: int
    arms: int
    settings: dict[str, Any]
    seed: int

    @property
    def key(self) -> str:
        """Identifies the setting in a file."""
        return f"{self.scenario}/{self.index}"


@dataclass(frozen=True)
class Budget:
    """Trials and steps of a search, finalists, and numbers of held-out worlds."""

    trials: int
    search_steps: float
    finalists: int
    selection_steps: float
    report_steps: float
    least_search: int = 12
    most_search: int = 200
    least_selection: int = 12
    most_selection: int = 1000
    least_report: int = 200
    most_report: int = 1000

    def search_worlds(self, horizon: int) -> int:
        """Return the worlds per trial."""
        return int(np.clip(self.search_steps / self.trials / horizon, self.least_search, self.most_search))

    def selection_worlds(self, horizon: int) -> int:
        """Return the selection worlds."""
        steps = self.selection_steps / self.finalists
        return int(np.clip(steps / horizon, self.least_selection, self.most_selection))

    def report_worlds(self, horizon: int) -> int:
        """Return the report worlds."""
        return int(np.clip(self.report_steps / horizon, self.least_report, self.most_report))


def make_settings(per_scenario: int, seed: int, first_seed: int) -> Iterator[Setting]:
    """Yield the settings of a Sobol design, one of each scenario in turn; `first_seed` numbers their worlds.

    >>> [setting.key for setting in make_settings(1, seed=1, first_seed=0)][:2]
    ['stationary/0', 'incremental-drift/0']
    """
    from scipy.stats import qmc

    designs = {}
    for place, scenario in enumerate(RATES):
        sobol = qmc.Sobol(len(axes_of(scenario)), scramble=True, rng=np.random.default_rng([seed, place]))
        designs[scenario] = sobol.random_base2(max(1, (per_scenario - 1).bit_length()))
    for index in range(per_scenario):
        for place, (scenario, points) in enumerate(designs.items()):
            coordinates = {
                axis.name: axis.value(2.0 * float(x) - 1.0)
                for axis, x in zip(axes_of(scenario), points[index], strict=True)
            }
            horizon = round(coordinates["horizon"])
            arms = round(coordinates["arms"])
            settings = settings_at(scenario, {**coordinates, "horizon": horizon, "arms": arms})
            find_scenario(scenario, settings).check(horizon, arms)
            yield Setting(scenario, index, horizon, arms, settings, first_seed + index * len(RATES) + place)


def make_spec(setting: Setting, policy: str, budget: Budget) -> StudySpec:
    """Return the study of a policy in a setting."""
    return StudySpec(
        policy=policy,
        scenario=setting.scenario,
        settings=setting.settings,
        horizon=setting.horizon,
        arms=setting.arms,
        space=SPACE,
        trials=budget.trials,
        replications=budget.search_worlds(setting.horizon),
        seed=setting.seed,
    )


def search_policy(
    spec: StudySpec, evaluator: Evaluator, first: Sequence[Mapping[str, float]]
) -> tuple[list[dict[str, Value]], Floats]:
    """Run the search of a study in memory; return the parameters and the mean regret of its trials.

    The first candidates are the defaults and `first`, so that a measurement depends on a law only if it is given one.
    """
    from ravenlab.tuning.validation.candidates import complete_trials

    complete = complete_trials(spec, _search(spec, evaluator, first).get_trials(deepcopy=False))
    return [candidate.values for candidate in complete.candidates], complete.values


def _search(spec: StudySpec, evaluator: Evaluator, first: Sequence[Mapping[str, float]]) -> optuna.Study:
    """Run the search of a study in memory; its first candidates are the defaults and `first`."""
    study = _new_study()
    search(spec, study, evaluator, first=inside_search_space(spec, [{}, *first]))
    return study


def _new_study() -> optuna.Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(study_name="law")


@dataclass(frozen=True)
class TrialSurface:
    """The regret of a policy as a Gaussian process of its searched parameters."""

    space: dict[str, Range]
    process: GaussianProcess

    @staticmethod
    def fit(space: dict[str, Range], trials: Sequence[Mapping[str, Value]], regrets: Floats) -> TrialSurface:
        """Fit the process to trials; regrets above ten times the lowest count as that, since they do not matter."""
        unit = np.array([unit_point(space, trial) for trial in trials])
        return TrialSurface(space, fit_gaussian_process(unit, np.minimum(regrets, 10.0 * regrets.min())))

    def predict(self, points: Floats) -> Floats:
        """Predict the logarithm of the mean regret at points of the unit cube."""
        return self.process.predict(points)[0]

    def ranges(self, best: Floats) -> dict[str, tuple[float, float]]:
        """Return how far each parameter may move from a point until the predicted excess is above the margin."""
        out = {}
        for i, (name, range_) in enumerate(self.space.items()):
            line = np.tile(best, (LINE, 1))
            line[:, i] = np.linspace(0.0, 1.0, LINE)
            predicted = self.predict(line)
            good = predicted <= self.predict(best[None])[0] + np.log1p(TIE_MARGIN)
            start = round(float(best[i]) * (LINE - 1))
            good[start] = True
            low = high = start
            while low > 0 and good[low - 1]:
                low -= 1
            while high < LINE - 1 and good[high + 1]:
                high += 1
            ends = [range_.from_unit(float(line[j, i])) for j in (low, high)]
            out[name] = (min(ends), max(ends))
        return out


def unit_point(space: Mapping[str, Range], params: Mapping[str, Value]) -> list[float]:
    """Return parameters as a point of the unit cube, on their search scale."""
    return [range_.to_unit(float(params[name])) for name, range_ in space.items()]


def choose_finalists(
    surface: TrialSurface, trials: Sequence[dict[str, Value]], regrets: Floats, count: int
) -> list[int]:
    """Return the trials with the lowest predicted regret, and the two with the lowest regret."""
    predicted = surface.predict(np.array([unit_point(surface.space, trial) for trial in trials]))
    order = [*np.argsort(regrets, kind="stable")[:2].tolist(), *np.argsort(predicted, kind="stable").tolist()]
    return list(dict.fromkeys(order))[:count]


@dataclass(frozen=True)
class SearchedPolicy:
    """The trials of a search, their surface, and the finalist with the lowest regret on the selection worlds."""

    evaluator: Evaluator
    surface: TrialSurface
    trials: list[dict[str, Value]]
    regrets: Floats
    chosen: dict[str, Value]
    worlds: tuple[int, int]
    """Worlds per trial, and selection worlds."""


def search_and_select(
    setting: Setting, policy: str, budget: Budget, first: Sequence[Mapping[str, float]]
) -> SearchedPolicy:
    """Search a policy in a setting and select the best finalist."""
    spec = make_spec(setting, policy, budget)
    evaluator = Evaluator(spec)
    trials, regrets = search_policy(spec, evaluator, first)
    surface = TrialSurface.fit(spec.space, trials, regrets)
    finalists = choose_finalists(surface, trials, regrets, budget.finalists)
    selection = budget.selection_worlds(setting.horizon)
    played = evaluator.play([trials[i] for i in finalists], Stream.SELECTION, 0, selection).regret
    chosen = trials[finalists[int(np.argmin(played.mean(axis=1)))]]
    return SearchedPolicy(evaluator, surface, trials, regrets, chosen, (spec.replications, selection))


def search_best(
    setting: Setting, policy: str, budget: Budget, first: Sequence[Mapping[str, float]]
) -> tuple[dict[str, float], tuple[int, int]]:
    """Return the parameters that a search selects, and its numbers of worlds."""
    searched = search_and_select(setting, policy, budget, first)
    return {name: float(searched.chosen[name]) for name in searched.surface.space}, searched.worlds


def recommend_prefixes(
    setting: Setting, policy: str, budget: Budget, first: Sequence[Mapping[str, float]], counts: Sequence[int]
) -> dict[int, dict[str, float]]:
    """Return the parameters that studies of several numbers of trials recommend.

    A shorter study has the first trials of a longer one, so that one search is enough.
    """
    from ravenlab.tuning.validation.recommend import recommend

    spec = make_spec(setting, policy, replace(budget, trials=max(counts))).model_copy(update={"report": REPORT})
    evaluator = Evaluator(spec)
    study = _search(spec, evaluator, first)
    chosen = {}
    for count in counts:
        prefix = _new_study()
        prefix.add_trials(study.get_trials(deepcopy=False)[:count])
        params = recommend(spec.model_copy(update={"trials": count}), prefix, evaluator).params
        chosen[count] = {name: float(params[name]) for name in spec.space}
    return chosen


def measure_policy(
    setting: Setting, policy: str, budget: Budget, first: Sequence[Mapping[str, float]]
) -> dict[str, Any]:
    """Search a policy in a setting, and estimate the regret of the selected parameters on the report worlds."""
    searched = search_and_select(setting, policy, budget, first)
    space = searched.surface.space
    chosen = searched.chosen
    worlds = budget.report_worlds(setting.horizon)
    regret = searched.evaluator.play([chosen], Stream.REPORT, 0, worlds).regret[0]
    ranges = searched.surface.ranges(np.array(unit_point(space, chosen)))
    return {
        "params": {name: shorten(chosen[name]) for name in space},
        "ranges": {name: [shorten(end) for end in ends] for name, ends in ranges.items()},
        "regret": [shorten(number, 5) for number in mean_interval(regret, setting.seed)],
        "worlds": [*searched.worlds, worlds],
        "trials": {
            **{name: [shorten(trial[name], 3) for trial in searched.trials] for name in space},
            "regret": [shorten(number) for number in searched.regrets],
        },
    }


def play_report(
    setting: Setting, policy: str, candidates: Sequence[Mapping[str, Value]], worlds: int, grow: bool = False
) -> Floats:
    """Return the regret of candidates on the report worlds [C, worlds].

    With `grow`, worlds are added as for the report of a study, until rare failures of every candidate are represented.
    """
    spec = StudySpec(
        policy=policy,
        scenario=setting.scenario,
        settings=setting.settings,
        horizon=setting.horizon,
        arms=setting.arms,
        seed=setting.seed,
    )
    evaluator = Evaluator(spec)
    values = [spec.resolve_params(params) for params in candidates]
    if grow:
        return evaluator.play_until_reliable(values, Stream.REPORT, worlds).regret
    return evaluator.play(values, Stream.REPORT, 0, worlds).regret


def surround(params: Mapping[str, float], spread: Mapping[str, float], count: int) -> list[dict[str, float]]:
    """Return parameters and a Sobol design of others around them, within factors of e^±spread.

    γ is varied by factors of 1 − γ.

    >>> [len(candidate) for candidate in surround({"alpha0": 2.0, "gamma": 0.99}, {"alpha0": 0.5, "gamma": 1.0}, 3)]
    [2, 2, 2, 2]
    """
    from scipy.stats import qmc

    points = qmc.Sobol(len(params), scramble=True, rng=np.random.default_rng(0)).random_base2(
        max(1, (count - 1).bit_length())
    )
    candidates = [dict(params)]
    for point in points[:count]:
        candidate = {}
        for (name, value), x in zip(params.items(), point, strict=True):
            factor = float(np.exp(spread[name] * (2.0 * x - 1.0)))
            candidate[name] = 1.0 - min(0.5, (1.0 - value) * factor) if name == "gamma" else value * factor
        candidates.append(candidate)
    return candidates


def shorten(value: Value, digits: int = 4) -> float:
    """Round to significant digits; numbers near 1 keep the digits of 1 − x.

    >>> shorten(0.123456), shorten(0.99987654)
    (0.1235, 0.9998765)
    """
    number = float(value)
    if 0.9 < number < 1.0:
        return float(round(1.0 - float(f"{1.0 - number:.{digits}g}"), 12))
    return float(f"{number:.{digits}g}")
