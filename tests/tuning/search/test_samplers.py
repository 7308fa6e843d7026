import sys
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import ravenlab
from ravenlab.environments import InputError
from ravenlab.studies.registry import SAMPLERS
from ravenlab.studies.spec.distributions import from_trial_params
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.search.loop import search
from ravenlab.tuning.search.samplers import (
    ask_batch,
    check_sampler,
    first_candidates,
    grid_points,
    law_for,
    sobol_points,
)
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.workers.problem import Evaluator
from tests.messages import raises_naming

SMALL: dict[str, Any] = {
    "scenario": "stationary",
    "horizon": 100,
    "arms": 3,
    "replications": 4,
    "batch": 6,
    "trials": 24,
}


def mirror() -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(study_name="mirror")


def test_first_candidates_are_inside_the_search_space() -> None:
    assert first_candidates(StudySpec(**SMALL)) == [{"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}]
    advised = StudySpec(scenario="blips", horizon=10_000)
    assert first_candidates(advised)[1] == {"alpha0": 5.0, "beta0": 1.0, "epsilon": 0.1}
    narrow = StudySpec(scenario="blips", horizon=10_000, space={"alpha0": Range(low=0.1, high=0.5)})
    assert first_candidates(narrow) == []


@pytest.mark.parametrize("policy", ["raven-ucb", "sw-raven", "d-raven", "ucb1"])
def test_searches_start_from_the_law(policy: str) -> None:
    spec = StudySpec(scenario="localized-jump", horizon=3000, policy=policy)
    without, first = first_candidates(spec, law=False), first_candidates(spec)
    assert without == first[:1]
    if policy == "ucb1":
        assert first == without
        return
    law = ravenlab.recommend("localized-jump", 3000, policy=policy).params
    assert from_trial_params(spec, first[1]) == pytest.approx(law, rel=1e-12)


def test_no_first_candidate_is_extrapolated_or_of_another_problem(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("\n".join(["a,b", *["1,0", "0,1"] * 300]))
    for fields in (
        {"scenario": "stationary", "horizon": 200},
        {"scenario": "stationary", "horizon": 1000, "settings": {"noise": "laplace"}},
        {"scenario": "periodic+blips"},
        {"trace": str(trace)},
    ):
        assert law_for(StudySpec.model_validate(fields)) is None


def test_a_study_that_began_without_the_law_continues_without_it(tmp_path: Path) -> None:
    """A study of an earlier version, stored in the middle of a batch, is extended as that version would have done."""
    url = f"sqlite:///{tmp_path}/studies.sqlite3"
    fields = {**SMALL, "horizon": 400, "selection": 4, "report": 4, "name": "mine"}
    spec = StudySpec(**{**fields, "trials": 14})
    whole = mirror()
    search(spec, whole, Evaluator(spec), first=first_candidates(spec, law=False))
    run_study(StudySpec(**{**fields, "trials": 8}), url, standalone=False)
    run_study(spec, url)
    stored = optuna.load_study(storage=url, study_name="mine").get_trials()
    assert [trial.params for trial in stored] == [trial.params for trial in whole.get_trials()]
    assert law_for(spec) not in [trial.params for trial in stored]


@pytest.mark.parametrize("sampler", [name for name, sampler in SAMPLERS.items() if not sampler.extra])
def test_batch_is_inside_the_search_space_and_depends_on_the_seed(sampler: str) -> None:
    batches = {}
    for seed in (1, 2):
        spec = StudySpec(**{**SMALL, "sampler": sampler, "seed": seed})
        batches[seed] = [trial.params for trial in ask_batch(spec, mirror(), 0)]
        assert len(batches[seed]) == 6
        for params in batches[seed]:
            for name, range_ in spec.space.items():
                assert range_.low <= params[name] <= range_.high
    assert (batches[1] == batches[2]) == (sampler == "grid")


def test_cma_es_converges() -> None:
    """On a bowl around the middle of the search space the last generation is better than the first."""
    spec = StudySpec(**{**SMALL, "sampler": "cmaes", "batch": 10})
    study = mirror()
    values = []
    for batch in range(8):
        trials = ask_batch(spec, study, batch)
        losses = [sum(np.log10(value * 3) ** 2 for value in trial.params.values()) for trial in trials]
        for trial, value in zip(trials, losses, strict=True):
            study.tell(trial, value)
        values.append(np.mean(losses))
    assert values[-1] < 0.3 * values[0]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"sampler": "cmaes", "batch": 3}, ["batch", "4"]),
        ({"sampler": "cmaes", "fixed": {"alpha0": 1.0, "beta0": 1.0}}, ["cmaes", "2"]),
    ],
)
def test_cma_es_requirements(fields: dict[str, Any], names: list[str]) -> None:
    with raises_naming(InputError, *names):
        check_sampler(StudySpec(**{**SMALL, **fields}))


def test_sobol_points_by_number() -> None:
    whole = sobol_points(3, 0, 40, seed=5)
    assert whole.shape == (40, 3)
    np.testing.assert_array_equal(sobol_points(3, 17, 9, seed=5), whole[17:26])
    assert ((whole >= 0) & (whole < 1)).all()


def test_grid_points_refine() -> None:
    whole = grid_points(2, 0, 25)
    assert len({tuple(point) for point in whole}) == 25
    assert {tuple(point) for point in whole[:9]} == {(a, b) for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0)}
    np.testing.assert_array_equal(grid_points(2, 7, 5), whole[7:12])


@pytest.mark.stress
def test_gp_does_not_depend_on_interruptions() -> None:
    rows = []
    for pieces in ([24], [7, 24]):
        study = mirror()
        for trials in pieces:
            spec = StudySpec(**{**SMALL, "sampler": "gp", "trials": trials})
            search(spec, study, Evaluator(spec))
        rows.append([(trial.params, trial.value) for trial in study.get_trials()])
    assert rows[0] == rows[1]


def test_gp_names_the_missing_dependency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"ravenlab\[gp\]"):
        check_sampler(StudySpec(**SMALL, sampler="gp"))


def test_a_missing_dependency_leaves_no_empty_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with raises_naming(InputError, "gp", "torch"):
        run_study(StudySpec(**SMALL, sampler="gp"), f"sqlite:///{tmp_path}/studies.sqlite3")
    assert list(tmp_path.iterdir()) == []
