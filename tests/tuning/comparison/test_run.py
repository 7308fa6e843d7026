"""Comparisons: numbers of `simulate` on the same worlds, equal budgets, independence of workers."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import ravenlab
from ravenlab.environments import InputError
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.play import last_mark
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.kinds import COMPARISON, TUNE
from ravenlab.studies.results.ranking import analyze_comparison
from ravenlab.studies.spec.comparison import PAPER_POLICIES, ComparisonSpec
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.parse import STUDY_FIELDS
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.comparison import run
from ravenlab.tuning.comparison.run import parse_policies, parse_scenarios, plan_comparisons, run_comparison
from ravenlab.tuning.listener import Listener
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.workers.local import LocalWorkers
from tests.messages import raises_naming

SMALL: dict[str, Any] = {
    "scenario": "localized-jump", "horizon": 150, "arms": 4, "policies": ("raven-ucb", "ucb1", "epsilon-greedy"),
    "tune": 6, "search_replications": 5, "replications": 12, "seed": 3,
}  # fmt: skip


def small(**fields: Any) -> ComparisonSpec:
    return ComparisonSpec(**{**SMALL, **fields})


def test_entries_match_simulate(url: str) -> None:
    spec = small()
    comparison = run_comparison(spec, url, LocalWorkers(2)).result.comparison
    assert [(entry.policy, entry.setting) for entry in comparison.entries] == spec.entries()
    storage = open_storage(url, create=False)
    for entry in comparison.entries:
        played = simulate(
            entry.policy, spec.scenario, horizon=150, arms=4, replications=12, seed=3, params=entry.params,
            checkpoints=entry.curve.steps, stream=Stream.REPORT,
        )  # fmt: skip
        assert played.curve is not None
        np.testing.assert_array_equal(entry.regret, played.regret)
        np.testing.assert_allclose(entry.curve.mean, played.curve.regret.mean(axis=0), rtol=1e-12)
        assert entry.curve.mean[-1] == pytest.approx(entry.regret.mean())
        assert entry.nanoseconds is not None
        assert 0 < entry.nanoseconds < 1e6
        if entry.setting == "defaults":
            assert entry.params == spec.default_params(entry.policy)
            continue
        search = optuna.load_study(study_name=spec.search_spec(entry.policy).study_name(), storage=storage)
        recommended = keys.read_recommendation(search)
        assert recommended is not None
        assert recommended.params.items() <= entry.params.items()
        assert len(search.trials) == entry.trials == 6
        assert {trial.user_attrs[keys.REPLICATIONS] for trial in search.trials} == {entry.search_replications} == {5}


def test_comparison_does_not_depend_on_interruptions_or_workers(url: str, tmp_path: Path) -> None:
    whole = ravenlab.compare(**SMALL, storage=f"sqlite:///{tmp_path}/other.sqlite3", jobs=2)

    class Cut(Exception):
        pass

    class Cutting(Listener):
        def child(self, spec: Specification) -> Listener:
            return Listener()

        def batch(self, progress: Progress) -> None:
            if progress.trials in (1, 3, 5):
                raise Cut

    for _ in range(3):
        with pytest.raises(Cut):
            run_comparison(small(), url, listener=Cutting())
    again = ravenlab.compare(**SMALL, storage=url)
    assert again.as_json() == whole.as_json()
    assert again.as_csv() == whole.as_csv()
    assert "nanoseconds" not in whole.as_json()


def test_all_policies_get_the_same_budget(url: str) -> None:
    policies = ("thompson", "f-dsw-ts", "ucb1")
    comparison = run_comparison(small(policies=policies, tune=3), url).result.comparison
    budgets = {entry.policy: (entry.trials, entry.search_replications) for entry in comparison.of("tuned")}
    assert budgets == dict.fromkeys(policies, (3, 5))
    stored = open_storage(url, create=False)
    for policy in policies:
        search = optuna.load_study(study_name=small(tune=3).search_spec(policy).study_name(), storage=stored)
        assert len(search.trials) == 3
        assert {trial.user_attrs[keys.REPLICATIONS] for trial in search.trials} == {5}


def test_scaled_defaults_do_not_depend_on_the_scale_of_the_rewards() -> None:
    """With rewards ten times as large, scaled defaults give ten times the regret; original ones do not."""
    larger = {"mean_low": 0.0, "mean_high": 10.0, "variance_low": 1.0, "variance_high": 9.0}
    usual = {"mean_low": 0.0, "mean_high": 1.0, "variance_low": 0.01, "variance_high": 0.09}
    world: dict[str, Any] = {"horizon": 400, "arms": 4, "replications": 20, "seed": 3}
    for policy in ("ucb1", "sw-ucb", "kl-ucb", "m-ucb", "cusum-ucb", "glr-klucb"):
        regret = {}
        for defaults in ("scaled", "original"):
            regret[defaults] = [
                simulate(
                    policy, "stationary", settings=settings, **world,
                    params=small(scenario="stationary", settings=settings, defaults=defaults).default_params(policy),
                ).regret.mean()
                for settings in (usual, larger)
            ]  # fmt: skip
        assert regret["scaled"][1] == pytest.approx(10 * regret["scaled"][0], rel=0.15), policy
        if policy != "glr-klucb":
            assert regret["original"][1] != pytest.approx(10 * regret["original"][0], rel=0.15), policy


def test_further_worlds_continue_the_report_stream(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All entries play the further worlds, which are stored; the result does not depend on the workers."""
    monkeypatch.setattr(run, "MIN_WORLDS", 12)
    monkeypatch.setattr(run, "needs_worlds", lambda entries: entries[0].regret.size < 40)
    spec = small(tune=0)
    comparison = run_comparison(spec, url).result.comparison
    assert comparison.worlds == 48
    for entry in comparison.entries:
        played = simulate(
            entry.policy, spec.scenario, horizon=150, arms=4, replications=48, seed=3, params=entry.params,
            checkpoints=entry.curve.steps, stream=Stream.REPORT,
        )  # fmt: skip
        assert played.curve is not None
        np.testing.assert_array_equal(entry.regret, played.regret)
        np.testing.assert_allclose(entry.curve.mean, played.curve.regret.mean(axis=0), rtol=1e-12)
        last = played.regret - played.curve.regret[:, entry.curve.steps.index(last_mark(150))]
        assert entry.failures is not None
        assert 0 <= entry.failures <= (last > 0.0).sum()
    again = run_comparison(spec, url).result.as_object()
    other = run_comparison(spec, f"sqlite:///{tmp_path}/other.sqlite3", LocalWorkers(2)).result
    assert again == analyze_comparison(comparison).as_object() == other.as_object()


def test_study_names_contain_differences() -> None:
    usual = {"tune": 50, "search_replications": 50, "replications": 1000, "seed": 0, "policies": PAPER_POLICIES}
    assert small(**usual).study_name() == "compare/localized-jump/T150/K4"
    names = {small(**{field: value}).study_name() for field, value in (("seed", 4), ("tune", 7), ("replications", 9))}
    assert len(names) == 3
    assert small(replications=9).search_spec("ucb1") == small().search_spec("ucb1")
    assert small(tune=7).search_spec("ucb1").study_name() != small().search_spec("ucb1").study_name()


def test_unequal_budgets_are_refused(url: str) -> None:
    spec = small(policies=("ucb1",), name="mine")
    run_comparison(spec, url)
    with raises_naming(InputError, "seed", "3", "4"):
        run_comparison(small(policies=("ucb1",), name="mine", seed=4), url)
    with raises_naming(InputError, TUNE.meaning, COMPARISON.meaning):
        run_comparison(small(name=spec.search_spec("ucb1").study_name()), url)
    fields = spec.search_spec("ucb1").model_dump(include=set(STUDY_FIELDS))
    ravenlab.tune(**{**fields, "trials": 8}, storage=url)
    with raises_naming(InputError, "ucb1", "8", "6"):
        run_comparison(small(policies=("ucb1",), name="another"), url)
    study = optuna.load_study(study_name="mine", storage=open_storage(url, create=False))
    study.add_trial(optuna.create_trial(value=1.0))
    with raises_naming(InputError, "'mine'"):
        run_comparison(spec, url)


def test_default_policies_on_own_data_include_those_that_need_no_tuning(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    np.savetxt(path, np.random.default_rng(1).normal(size=(400, 2)), delimiter=",", header="a,b", comments="")
    (recorded,) = plan_comparisons([], [None], None, {"trace": str(path), "tune": 0}).specs
    assert isinstance(recorded, ComparisonSpec)
    assert recorded.policies == (*PAPER_POLICIES, "raven-auto", "d-raven", "sw-raven")
    (simulated,) = plan_comparisons(["blips"], [None], None, {"tune": 0}).specs
    assert isinstance(simulated, ComparisonSpec)
    assert simulated.policies == PAPER_POLICIES


def test_parsing_of_policies_and_scenarios() -> None:
    assert parse_policies("paper") == PAPER_POLICIES
    everyone = parse_policies("all")
    assert set(PAPER_POLICIES) <= set(everyone)
    assert not [name for name in everyone if name.startswith("published-")]
    assert {"stationary", "logistics", "blips"} <= set(parse_scenarios(["all"]))
    assert len(parse_scenarios(["blips", "all"])) == len(parse_scenarios(["all"]))
