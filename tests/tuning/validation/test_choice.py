"""The choice of the recommended parameters: nomination, race, rounding and ranges."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ravenlab.common.interval import ERROR_RATE
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.surface import fit_surface, tied_range
from ravenlab.tuning.validation.candidates import (
    COPIES,
    SPREAD,
    Candidate,
    CompleteTrials,
    from_point,
    make_copies,
    round_values,
    to_point,
)
from ravenlab.tuning.validation.choice import (
    Finalists,
    Nomination,
    Race,
    choose,
    find_ranges,
    make_design,
    nominate,
    nominate_lowest,
)
from ravenlab.tuning.validation.held_out import ChosenParameters, Screening, Selection
from ravenlab.tuning.validation.worlds import WorldData, make_looks, most_worlds
from ravenlab.tuning.workers.problem import Evaluator
from tests.binomial import band

SPEC = StudySpec(scenario="stationary", horizon=1000, arms=10, selection=1000)
DEFAULTS = SPEC.resolve_params({})
IMPORTANCE = {"alpha0": 0.7, "beta0": 0.2, "epsilon": 0.1}
NOMINATION_WORLDS = 100

Relative = Callable[[Values], float]


class FakeWorlds:
    """Regret 100 × relative(values) with noise that depends on the parameters, as in real worlds."""

    def __init__(self, relative: Relative, noise: float = 30.0, seed: int = 0) -> None:
        self.relative, self.noise, self.seed = relative, noise, seed
        self.calls: list[tuple[int, int, int]] = []

    def __call__(self, candidates: Sequence[Values], first: int, count: int) -> Floats:
        self.calls.append((len(candidates), first, count))
        rows = []
        for values in candidates:
            key = [self.seed, first, *(int(1e6 * float(values[name])) for name in SPEC.space)]
            rows.append(100.0 * self.relative(values) + self.noise * np.random.default_rng(key).normal(size=count))
        return np.stack(rows)

    @property
    def plays(self) -> int:
        return sum(candidates * count for candidates, _, count in self.calls)


class FakeData(WorldData[None]):
    """Held-out data of such worlds."""

    def __init__(self, spec: StudySpec, worlds: FakeWorlds, first: int) -> None:
        super().__init__(spec, Evaluator(spec))
        self.worlds = worlds
        self.screened = first

    def play(self, candidates: Sequence[Values], first: int, count: int) -> Floats:
        return self.worlds(candidates, first, count)

    def screen(self, candidates: Sequence[Values], design: Sequence[Values]) -> Screening:
        raise NotImplementedError

    def report(self, selection: Selection) -> None:
        raise NotImplementedError


def squared_distance(values: Values, name: str, best: float) -> float:
    return math.log(float(values[name]) / best) ** 2


def nominate_on(worlds: FakeWorlds) -> Nomination:
    """Search 200 random candidates and nominate, as `recommend` does."""
    rng = np.random.default_rng(worlds.seed)
    points = rng.uniform([-2, -3, -6], [2, 2, -1], (200, 3))
    trials = [SPEC.resolve_params(dict(zip(SPEC.space, row, strict=True))) for row in np.exp(points).round(6).tolist()]
    values = worlds(trials, 10**6, 100).mean(axis=1)
    candidates = [*(trials[i] for i in np.argsort(values)[:16]), DEFAULTS]
    finalists = Finalists(SPEC, candidates, DEFAULTS, IMPORTANCE)
    design = make_design(finalists)
    objective = worlds([*candidates, *design], 0, NOMINATION_WORLDS).mean(axis=1)
    searched = CompleteTrials([Candidate(trial, {}) for trial in trials], values)
    return nominate(finalists, design, objective, searched)


def choose_on(worlds: FakeWorlds) -> ChosenParameters:
    nomination = nominate_on(worlds)
    worlds.calls.clear()
    race = start_race(worlds, nomination.references, first=NOMINATION_WORLDS)
    return choose(race, DEFAULTS, nomination.proposals, most_worlds(SPEC))


def start_race(worlds: FakeWorlds, references: Sequence[Values], spec: StudySpec = SPEC, first: int = 0) -> Race:
    return Race(FakeData(spec, worlds, first), references)


def test_the_defaults_are_kept_where_nothing_matters() -> None:
    choice = choose_on(FakeWorlds(lambda values: 1.0))
    assert choice.values == DEFAULTS
    assert choice.excess_of_defaults is not None
    assert choice.excess_of_defaults.tied


def test_only_the_parameter_that_matters_is_set() -> None:
    choice = choose_on(FakeWorlds(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6)))
    assert choice.excess_of_defaults is not None
    assert choice.excess_of_defaults.worse
    assert {name for name in SPEC.space if choice.values[name] != DEFAULTS[name]} == {"alpha0"}
    assert float(choice.values["alpha0"]) == pytest.approx(2.6, rel=0.16)
    assert len(f"{float(choice.values['alpha0']):g}") <= 3


def test_all_parameters_are_set_where_all_matter() -> None:
    def relative(values: Values) -> float:
        best = {"alpha0": 0.4, "beta0": 0.2, "epsilon": 0.01}
        return 1.0 + sum(squared_distance(values, name, best[name]) for name in best)

    choice = choose_on(FakeWorlds(relative))
    assert {name for name in SPEC.space if choice.values[name] != DEFAULTS[name]} == set(SPEC.space)
    assert relative(choice.values) < 1.05


def test_too_much_noise_leaves_the_defaults_undecided() -> None:
    spec = SPEC.model_copy(update={"horizon": 20_000})
    worlds = FakeWorlds(lambda values: 1.0 + 0.02 * squared_distance(values, "alpha0", math.e), noise=1500.0)
    excess = start_race(worlds, [{**DEFAULTS, "alpha0": math.e}], spec).compare(DEFAULTS, most_worlds(spec))
    assert (excess.tied, excess.worse, excess.worlds) == (False, False, 8000)


def test_a_clear_race_stops_at_the_first_look() -> None:
    worlds = FakeWorlds(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6))
    best = {**DEFAULTS, "alpha0": 2.6}
    excess = start_race(worlds, [best]).compare(DEFAULTS, 64_000)
    assert (excess.worse, excess.worlds) == (True, 50)
    assert worlds.calls == [(2 * COPIES, 0, 50)]


def test_nomination_and_race_use_separate_worlds_that_are_played_once() -> None:
    worlds = FakeWorlds(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6))
    choose_on(worlds)
    assert min(first for _, first, _ in worlds.calls) == NOMINATION_WORLDS
    race = start_race(worlds, [DEFAULTS])
    worlds.calls.clear()
    race.compare({**DEFAULTS, "alpha0": 2.6}, 400)
    played = sorted((first, first + count) for _, first, count in worlds.calls)
    assert all(end == first for (_, end), (first, _) in itertools.pairwise(played))


@pytest.mark.parametrize(("share", "wrong"), [(0.02, "tied"), (0.0199, "worse")])
def test_repeated_looks_keep_the_error_rate(share: float, wrong: str) -> None:
    """A candidate whose excess equals the margin is declared tied (or worse) in at most 5 % of 60 races."""
    count, spec = 60, SPEC.model_copy(update={"selection": 200})
    errors = 0
    for seed in range(count):
        worlds = FakeWorlds(lambda values: 1.0 + share * (float(values["alpha0"]) > 1.5), noise=20.0, seed=seed)
        excess = start_race(worlds, [DEFAULTS], spec).compare({**DEFAULTS, "alpha0": 2.0}, 800)
        errors += excess.tied if wrong == "tied" else excess.worse
    assert errors / count <= ERROR_RATE + 3.0 * (ERROR_RATE * (1.0 - ERROR_RATE) / count) ** 0.5


def test_the_better_reference_is_kept() -> None:
    worlds = FakeWorlds(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6))
    race = start_race(worlds, [{**DEFAULTS, "alpha0": 2.0}, {**DEFAULTS, "alpha0": 2.6}])
    race.compare(DEFAULTS, 1000)
    assert race.settle(1000)["alpha0"] == 2.6


def test_a_weak_study_adds_no_worlds() -> None:
    worlds = FakeWorlds(lambda values: 1.0, noise=100.0)
    race = start_race(worlds, [{**DEFAULTS, "alpha0": 2.0}])
    excess = choose(race, DEFAULTS, [], most_worlds(SPEC, conclusive=False)).excess_of_defaults
    assert excess is not None
    assert excess.worlds == 200


@pytest.mark.parametrize(("share", "undecided"), [(0.01, True), (0.2, False)])
def test_an_undecided_proposal_is_preferred_to_the_best(share: float, undecided: bool) -> None:
    best, simple = {**DEFAULTS, "alpha0": 2.6, "beta0": 0.2}, {**DEFAULTS, "alpha0": 2.6}

    def relative(values: Values) -> float:
        return 2.0 if float(values["alpha0"]) < 1.5 else 1.0 + share * (float(values["beta0"]) > 0.5)

    race = start_race(FakeWorlds(relative, noise=120.0), [best])
    choice = choose(race, DEFAULTS, [simple], 1000)
    assert choice.values == (simple if undecided else best)
    assert (choice.excess is not None) == undecided
    if choice.excess is not None:
        assert (choice.excess.tied, choice.excess.worse, choice.excess.worlds) == (False, False, 1000)


def test_without_a_surface_the_lowest_candidate_is_rounded() -> None:
    """An objective of any sign, as on logs. Parameters with their default values are not changed."""
    candidates = [{**DEFAULTS, "alpha0": 2.345, "beta0": 0.0678}, DEFAULTS]
    nomination = nominate_lowest(Finalists(SPEC, candidates, DEFAULTS, IMPORTANCE), np.array([-0.5, -0.4]))
    assert nomination.references == [{**DEFAULTS, "alpha0": 2.3, "beta0": 0.068}]
    assert nomination.proposals == [{**DEFAULTS, "alpha0": 2.3}, {**DEFAULTS, "alpha0": 2.3, "beta0": 0.068}]


def test_looks_of_small_selections() -> None:
    assert make_looks(200, 200) == [(50, False), (200, True)]
    assert make_looks(500, 500) == [(50, False), (200, True), (250, True), (500, True)]
    assert make_looks(2000, 250) == [(50, False), (250, True)]


def test_copies_differ_by_the_spread() -> None:
    spec = StudySpec(scenario="stationary", policy="d-raven")
    values = spec.resolve_params({"gamma": 0.99, "alpha0": 2.0})
    alphas = [float(copy["alpha0"]) for copy in make_copies(spec, values)]
    gammas = [float(copy["gamma"]) for copy in make_copies(spec, values)]
    assert max(alphas) == pytest.approx(2.0 * (1 + SPREAD))
    assert min(gammas) == pytest.approx(1.0 - 0.01 * (1 + SPREAD))
    for count in (2, 4, COPIES):
        assert np.mean(alphas[:count]) == pytest.approx(2.0)


def test_values_are_rounded_on_their_scale() -> None:
    spec: StudySpec = StudySpec(scenario="stationary", policy="d-raven")
    values = spec.resolve_params({"gamma": 0.99876, "alpha0": 2.763})
    assert round_values(spec, values, ["alpha0", "gamma"], 1) == {"alpha0": 3.0, "gamma": 0.999}
    assert round_values(spec, values, ["alpha0", "gamma"], 2) == {"alpha0": 2.8, "gamma": 0.9988}
    assert from_point(spec, to_point(spec, values)) == pytest.approx({name: values[name] for name in spec.space})


def test_proposals_begin_with_the_simplest() -> None:
    nomination = nominate_on(FakeWorlds(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6), noise=1.0))
    changed = [[name for name in SPEC.space if values[name] != DEFAULTS[name]] for values in nomination.proposals]
    assert changed[0] == ["alpha0"]
    assert [len(names) for names in changed] == sorted(len(names) for names in changed)


def test_ranges_contain_tied_values() -> None:
    """With β₀ and ε without effect, their ranges are wide; α₀ may differ by the root of the margin."""
    nomination = nominate_on(FakeWorlds(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6), noise=1.0))
    assert nomination.surface is not None
    ranges = find_ranges(SPEC, nomination.surface, {**DEFAULTS, "alpha0": 2.6})
    low, high = ranges["alpha0"]
    assert 2.6 * math.exp(-(0.02**0.5)) * 0.97 < low < 2.6 < high < 2.6 * math.exp(0.02**0.5) * 1.03
    assert ranges["beta0"][1] / ranges["beta0"][0] > 10.0


def test_bounds_of_ranges_have_their_level() -> None:
    """The upper bound of the excess at the end of a range is too low in about 5 % of 400 surfaces."""
    count, margin, curvature = 400, 0.02, 0.5
    covered = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1, 1, (80, 2))
        values = np.exp(curvature * points[:, 0] ** 2) * rng.lognormal(0, 0.05, 80)
        _, end = tied_range(fit_surface(points, values), np.zeros(2), 0, -1.0, 1.0, margin)
        covered += math.exp(curvature * end**2) - 1.0 <= margin
    assert covered >= band(count, 0.95)[0]


def test_ranges_of_a_steep_surface_do_not_overflow() -> None:
    """Far from the point, the logarithm of the excess is about 45,000, and its exponential is not finite."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (60, 2))
    surface = fit_surface(points, np.exp(5.0 * np.square(points).sum(axis=1)))
    low, high = tied_range(surface, np.zeros(2), 0, -95.0, 95.0, 0.02)
    assert -1.0 < low <= 0.0 <= high < 1.0
    assert np.abs(surface.lowest(np.full(2, -95.0), np.full(2, 95.0))).max() < 10.0


def test_the_surface_finds_the_optimum_better_than_the_best_candidate() -> None:
    """Mean distance of the optimum over 20 data sets, against that of the lowest of the noisy values."""
    surface, lowest = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1, 1, (40, 3))
        values = np.exp(np.square(points - 0.2).sum(axis=1)) * rng.lognormal(0, 0.1, 40)
        found = fit_surface(points, values).lowest(np.full(3, -1.0), np.full(3, 1.0))
        surface.append(np.linalg.norm(found - 0.2))
        lowest.append(np.linalg.norm(points[np.argmin(values)] - 0.2))
    assert np.mean(surface) < 0.6 * np.mean(lowest)
