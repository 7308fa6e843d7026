"""The search loop: trials do not depend on workers or interruptions, for any sampler and pruner."""

from typing import Any, Literal

import numpy as np
import optuna
import pytest

from ravenlab.environments.streams import Stream
from ravenlab.studies.registry import PRUNERS, SAMPLERS
from ravenlab.studies.spec.distributions import from_trial_params
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage import keys
from ravenlab.tuning.search.loop import Progress, search
from ravenlab.tuning.search.samplers import law_for
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import Evaluator

SMALL: dict[str, Any] = {"scenario": "stationary", "horizon": 200, "arms": 4, "replications": 20, "batch": 6}


def small_spec(**fields: Any) -> StudySpec:
    return StudySpec(**{**SMALL, **fields})


def new_study(direction: Literal["minimize", "maximize"] = "minimize") -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(study_name="some/study", direction=direction)


def trials_of(study: optuna.Study) -> list[tuple[Any, ...]]:
    """Return the contents of the trials except their seconds."""
    return [
        (
            trial.number,
            trial.state.name,
            trial.value,
            trial.params,
            trial.intermediate_values,
            trial.user_attrs[keys.STDERR],
            trial.user_attrs[keys.REPLICATIONS],
        )
        for trial in study.get_trials(deepcopy=False)
    ]


def search_in_pieces(pieces: list[int], jobs: int = 1, **fields: Any) -> list[tuple[Any, ...]]:
    """Return the trials of a search that is extended to each number of trials in turn."""
    study = new_study("maximize" if fields.get("objective") == "reward" else "minimize")
    for count in pieces:
        spec = small_spec(trials=count, **fields)
        assert search(spec, study, Evaluator(spec, LocalWorkers(jobs)))
    return trials_of(study)


@pytest.mark.parametrize("sampler", [name for name, sampler in SAMPLERS.items() if not sampler.extra])
def test_samplers_do_not_depend_on_interruptions_or_workers(sampler: str) -> None:
    whole = search_in_pieces([32], sampler=sampler)
    assert [row[0] for row in whole] == list(range(32))
    assert search_in_pieces([3, 12, 20, 32], sampler=sampler) == whole
    assert search_in_pieces([32], jobs=2, sampler=sampler) == whole


@pytest.mark.parametrize("pruner", [name for name in PRUNERS if name != "none"])
def test_pruners_do_not_depend_on_interruptions_or_workers(pruner: str) -> None:
    whole = search_in_pieces([32], pruner=pruner)
    assert any(row[1] == "PRUNED" for row in whole)
    assert search_in_pieces([3, 12, 20, 32], pruner=pruner) == whole
    assert search_in_pieces([32], jobs=2, pruner=pruner) == whole


@pytest.mark.parametrize("objective", ["quantile:0.8", "cvar:0.8", "after:25%", "reward"])
def test_trial_values_match_the_objective(objective: str) -> None:
    spec = small_spec(trials=7, objective=objective)
    study = new_study("maximize" if objective == "reward" else "minimize")
    evaluator = Evaluator(spec)
    search(spec, study, evaluator)
    trial = study.get_trials()[5]
    played = evaluator.play([spec.resolve_params(from_trial_params(spec, trial.params))], Stream.SEARCH, 0, 20)
    regret, reward, counted = played.regret[0], played.reward[0], played.counted_regret[0]
    expected = {
        "quantile:0.8": np.quantile(regret, 0.8),
        "cvar:0.8": np.sort(regret)[-4:].mean(),
        "after:25%": counted.mean(),
        "reward": reward.mean(),
    }
    assert trial.value == expected[objective]
    assert (counted <= regret + 1e-12).all()
    assert (objective == "after:25%") == bool((counted < regret - 1e-9).any())


def test_the_first_candidates_are_the_defaults_the_papers_advice_and_the_law() -> None:
    spec = small_spec(scenario="variance-drift", trials=4, horizon=1000)
    study = new_study()
    search(spec, study, Evaluator(spec))
    first, second, third, fourth = (trial.params for trial in study.get_trials())
    assert first == {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}
    assert second == {"alpha0": 0.5, "beta0": 0.5, "epsilon": 0.1}
    assert third == law_for(spec)
    assert fourth not in (first, second, third)


def test_fixed_parameters_are_not_searched() -> None:
    spec = small_spec(trials=6, fixed={"epsilon": 0.2}, space={"alpha0": {"low": 0.5, "high": 2.0}})
    study = new_study()
    search(spec, study, Evaluator(spec))
    for trial in study.get_trials():
        assert set(trial.params) == {"alpha0", "beta0"}
        assert 0.5 <= trial.params["alpha0"] <= 2.0


@pytest.mark.parametrize("policy", ["ucb1", "d-raven", "sw-ucb", "epsilon-greedy", "thompson"])
def test_any_policy_is_tuned_over_its_own_space(policy: str) -> None:
    spec = small_spec(trials=13, policy=policy)
    study = new_study()
    search(spec, study, Evaluator(spec))
    assert len(study.get_trials()) == 13
    assert study.best_value <= study.get_trials()[0].value  # type: ignore[operator]


def test_trial_attributes() -> None:
    spec = small_spec(trials=2)
    study = new_study()
    search(spec, study, Evaluator(spec))
    trial = study.get_trials()[0]
    played = Evaluator(spec).play([spec.resolve_params({})], Stream.SEARCH, 0, 20).regret[0]
    assert trial.value == played.mean()
    assert trial.user_attrs[keys.STDERR] == pytest.approx(played.std(ddof=1) / np.sqrt(20))
    assert trial.user_attrs[keys.REPLICATIONS] == 20
    assert trial.user_attrs[keys.SECONDS] > 0


def test_pruned_trials_have_one_value_per_block() -> None:
    study = new_study()
    spec = small_spec(trials=24, pruner="race", replications=40)
    search(spec, study, Evaluator(spec))
    pruned = [trial for trial in study.get_trials() if trial.state.name == "PRUNED"]
    assert pruned
    for trial in pruned:
        blocks = sorted(trial.intermediate_values)
        assert blocks == list(range(1, len(blocks) + 1))
        assert trial.value == trial.intermediate_values[blocks[-1]]
        assert trial.user_attrs[keys.REPLICATIONS] == 4 * len(blocks) < 40
    race = keys.read_race(study)
    assert race is not None
    assert race.batches == 4
    assert race.blocks > 10
    assert study.get_trials()[race.elite].state.name == "COMPLETE"


def test_race_interrupted_before_its_state_was_stored() -> None:
    study = new_study()
    spec = small_spec(trials=18, pruner="race")
    search(spec, study, Evaluator(spec))
    race = keys.read_race(study)
    assert race is not None
    before = new_study()
    earlier = small_spec(trials=12, pruner="race")
    search(earlier, before, Evaluator(earlier))
    study.set_user_attr(keys.RACE, before.user_attrs[keys.RACE])
    search(spec, study, Evaluator(spec))
    assert keys.read_race(study) == race
    assert len(study.get_trials()) == 18


def test_pruning_plays_less() -> None:
    played = {}
    for pruner in PRUNERS:
        study = new_study()
        spec = small_spec(trials=48, pruner=pruner, replications=40)
        search(spec, study, Evaluator(spec))
        played[pruner] = sum(trial.user_attrs[keys.REPLICATIONS] for trial in study.get_trials())
    assert played["none"] == 48 * 40
    assert played["hyperband"] < 0.8 * played["none"]
    assert played["race"] < 0.9 * played["none"]


def test_callback_after_every_batch() -> None:
    reports: list[Progress] = []
    spec = small_spec(trials=13)
    search(spec, new_study(), Evaluator(spec), reports.append)
    assert [progress.trials for progress in reports] == [6, 12, 13]
    assert reports[0].steps == 6 * 20 * 200
    assert reports[-1].best is not None


def test_deadline_stops_between_batches() -> None:
    study = new_study()
    spec = small_spec(trials=13)
    assert not search(spec, study, Evaluator(spec), deadline=0.0)
    assert study.get_trials() == []
    assert search(spec, study, Evaluator(spec))


def test_search_beats_random_candidates() -> None:
    """Sixty trials are at least as good as sixty random candidates on average, on the same worlds."""
    spec = small_spec(scenario="localized-jump", horizon=1000, trials=60, batch=12)
    study = new_study()
    evaluator = Evaluator(spec)
    search(spec, study, evaluator)
    rng = np.random.default_rng(0)
    drawn = np.exp(rng.uniform(np.log([0.01, 0.01, 0.001]), np.log([10, 10, 0.5]), (1200, 3)))
    names = ("alpha0", "beta0", "epsilon")
    candidates = [spec.resolve_params(dict(zip(names, map(float, row), strict=True))) for row in drawn]
    values = evaluator.play(candidates, Stream.SEARCH, 0, 20).regret.mean(axis=1)
    assert study.best_value < values.reshape(20, 60).min(axis=1).mean()
    assert study.best_value < study.get_trials()[0].value  # type: ignore[operator]
