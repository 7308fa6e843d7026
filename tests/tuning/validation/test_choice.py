"""The choice among tied candidates: defaults, one parameter, simple values, or no conclusion."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from environments.world import Floats
from policies.engine.base import Values
from studies.spec.study import ResolvedStudy, StudySpec
from studies.statistics.surface import fit_surface
from tuning.validation.choice import (
    COPIES,
    MAX_GROWTH,
    SPREAD,
    Choice,
    SelectionWorlds,
    choose_by_surface,
    from_point,
    make_copies,
    make_design,
    propose,
    round_values,
    to_point,
)

SPEC = StudySpec(scenario="stationary", horizon=1000, arms=10, selection=1000).resolved()
DEFAULTS = SPEC.resolve_params({})
IMPORTANCE = {"alpha0": 0.7, "beta0": 0.2, "epsilon": 0.1}


def make_play(relative: Callable[[Values], float], noise: float) -> Callable[[Sequence[Values], int, int], Floats]:
    """Regret 100 × relative(values) with noise that depends on the parameters, as in real worlds."""

    def play(candidates: Sequence[Values], first: int, count: int) -> Floats:
        rows = []
        for values in candidates:
            key = [first, *(int(1e6 * float(values[name])) for name in ("alpha0", "beta0", "epsilon"))]
            rows.append(100.0 * relative(values) + noise * np.random.default_rng(key).normal(size=count))
        return np.stack(rows)

    return play


def choose(relative: Callable[[Values], float], noise: float = 30.0, seed: int = 0) -> Choice:
    """Choose among random finalists near the optimum, as `recommend` does."""
    rng, play = np.random.default_rng(seed), make_play(relative, noise)
    drawn = [
        {"alpha0": math.exp(a), "beta0": math.exp(b), "epsilon": math.exp(e)}
        for a, b, e in rng.uniform([-2, -3, -6], [2, 2, -1], (300, 3))
    ]
    candidates = sorted((SPEC.resolve_params(params) for params in drawn), key=relative)[:16]
    finalists = [*candidates, DEFAULTS]
    design = make_design(SPEC, candidates, DEFAULTS, IMPORTANCE)
    objective = play([*finalists, *design], 0, SPEC.selection).mean(axis=1)
    equals = [int(i) for i in np.argsort(objective[: len(finalists)])]
    worlds = SelectionWorlds(SPEC, play)
    return choose_by_surface(SPEC, worlds, finalists, equals, design, objective, DEFAULTS, IMPORTANCE)


def squared_distance(values: Values, name: str, best: float) -> float:
    return math.log(float(values[name]) / best) ** 2


def test_the_defaults_are_kept_where_nothing_matters() -> None:
    choice = choose(lambda values: 1.0)
    assert choice.values == DEFAULTS
    assert choice.excess_of_defaults.tied


def test_only_the_parameter_that_matters_is_set() -> None:
    choice = choose(lambda values: 1.0 + squared_distance(values, "alpha0", 2.6))
    assert choice.excess_of_defaults.worse
    assert {name for name in SPEC.space if choice.values[name] != DEFAULTS[name]} == {"alpha0"}
    assert float(choice.values["alpha0"]) == pytest.approx(2.6, rel=0.14)
    assert len(f"{float(choice.values['alpha0']):g}") <= 3


def test_all_parameters_are_set_where_all_matter() -> None:
    def relative(values: Values) -> float:
        best = {"alpha0": 0.4, "beta0": 0.2, "epsilon": 0.01}
        return 1.0 + sum(squared_distance(values, name, best[name]) for name in best)

    choice = choose(relative)
    assert {name for name in SPEC.space if choice.values[name] != DEFAULTS[name]} == set(SPEC.space)
    assert relative(choice.values) < 1.05


def test_too_much_noise_leaves_the_defaults_undecided() -> None:
    choice = choose(lambda values: 1.0 + 0.02 * squared_distance(values, "alpha0", math.e), noise=1500.0)
    excess = choice.excess_of_defaults
    assert not excess.tied
    assert not excess.worse
    assert excess.worlds == MAX_GROWTH * SPEC.selection


@pytest.mark.parametrize(("share", "expected"), [(0.0, "tied"), (0.01, "tied"), (0.04, "worse")])
def test_ties_are_decided_correctly(share: float, expected: str) -> None:
    """Over 40 seeds, at most 3 wrong decisions: the bounds have a level of 95 %, and worlds are added."""
    wrong = 0
    for seed in range(40):
        spec = SPEC.model_copy(update={"seed": seed})

        def relative(values: Values) -> float:
            return 1.0 + share * (float(values["alpha0"]) > 1.5)

        def play(candidates: Sequence[Values], first: int, count: int, seed: int = seed) -> Floats:
            return make_play(relative, 30.0)(candidates, first + 10_000 * seed, count)

        (excess,) = SelectionWorlds(spec, play).compare([{**DEFAULTS, "alpha0": 2.0}], [DEFAULTS], MAX_GROWTH)
        wrong += excess.tied if expected == "worse" else excess.worse
    assert wrong <= 3


def test_worlds_are_played_once() -> None:
    calls: list[tuple[int, int, int]] = []
    play = make_play(lambda values: 1.0, 30.0)

    def count_calls(candidates: Sequence[Values], first: int, count: int) -> Floats:
        calls.append((len(candidates), first, count))
        return play(candidates, first, count)

    worlds = SelectionWorlds(SPEC, count_calls)
    worlds.extend([DEFAULTS], 10)
    sample, other = worlds.extend([DEFAULTS, {**DEFAULTS, "alpha0": 2.0}], 30)
    assert calls == [(COPIES, 0, 10), (COPIES, 0, 30), (COPIES, 10, 20)]
    assert sample.shape == other.shape == (COPIES, 30)


def test_copies_differ_by_the_spread() -> None:
    spec = StudySpec(scenario="stationary", policy="d-raven").resolved()
    values = spec.resolve_params({"gamma": 0.99, "alpha0": 2.0})
    copies = make_copies(spec, values)
    assert copies[0]["alpha0"] == pytest.approx(2.0 * (1 - SPREAD))
    assert copies[-1]["gamma"] == pytest.approx(1.0 - 0.01 * (1 + SPREAD))
    assert np.mean([float(copy["alpha0"]) for copy in copies]) == pytest.approx(2.0)


def test_values_are_rounded_on_their_scale() -> None:
    spec: ResolvedStudy = StudySpec(scenario="stationary", policy="d-raven").resolved()
    values = spec.resolve_params({"gamma": 0.99876, "alpha0": 2.763})
    assert round_values(spec, values, ["alpha0", "gamma"], 1) == {"alpha0": 3.0, "gamma": 0.999}
    assert round_values(spec, values, ["alpha0", "gamma"], 2) == {"alpha0": 2.8, "gamma": 0.9988}
    assert from_point(spec, to_point(spec, values)) == pytest.approx({name: values[name] for name in spec.space})


def test_proposals_begin_with_the_simplest() -> None:
    center = {**DEFAULTS, "alpha0": 2.76, "beta0": 0.123, "epsilon": 0.0123}
    proposals = propose(SPEC, center, DEFAULTS, IMPORTANCE)
    assert proposals[0] == {**DEFAULTS, "alpha0": 3.0}
    assert proposals[1] == {**DEFAULTS, "alpha0": 2.8}
    assert proposals[-1] == {**DEFAULTS, "alpha0": 2.8, "beta0": 0.12, "epsilon": 0.012}


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
