"""Robust studies: numbers against plain simulation, independence of workers and interruptions."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import ravenlab
from ravenlab.environments.streams import Stream
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.spec.robust import RobustSpec, parse_measure, parse_robust_spec
from ravenlab.studies.statistics.intervals import mean_interval, relative_interval
from ravenlab.studies.storage import keys
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.faults import LostConnection
from ravenlab.tuning.listener import Listener
from ravenlab.tuning.robust.run import first_robust_candidates, run_robust
from ravenlab.tuning.robust.validation import overall_price
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.study_run import StudyRun
from ravenlab.tuning.workers.local import LocalWorkers
from tests.messages import raises_naming

SCENARIOS = ["stationary", "localized-jump", "periodic"]
SIZE: dict[str, Any] = {"horizon": 120, "arms": 3, "seed": 3}
SMALL: dict[str, Any] = {
    **SIZE, "trials": 12, "batch": 5, "replications": 8, "selection": 40, "report": 40, "candidates": 3
}  # fmt: skip


def small(scenarios: list[str] = SCENARIOS, **fields: Any) -> RobustSpec:
    return parse_robust_spec({"scenarios": scenarios, **SMALL, **fields})


def regrets(params: dict[str, Any], stream: Stream, count: int, scenarios: list[str] = SCENARIOS) -> Floats:
    """Regret [R, S] by plain simulation."""
    played = [
        simulate("raven-ucb", name, replications=count, params=params, stream=stream, **SIZE) for name in scenarios
    ]
    return np.stack([simulation.regret for simulation in played], axis=-1)


Run = StudyRun[RobustRecommendation | None]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, str]:
    url = f"sqlite:///{tmp_path_factory.mktemp('robust')}/studies.sqlite3"
    return run_robust(small(), url), url


def recommended_by(ran: tuple[Run, str]) -> RobustRecommendation:
    result = ran[0].result
    assert isinstance(result, RobustRecommendation)
    return result


def trials_of(url: str, name: str) -> list[optuna.trial.FrozenTrial]:
    return optuna.load_study(study_name=name, storage=open_storage(url, create=False)).get_trials(deepcopy=False)


def plain_relative(result: RobustRecommendation, params: dict[str, Any], stream: Stream, count: int) -> Floats:
    """Relative regret [R, S], with each scenario's tuned setting simulated separately."""
    least = [regrets(setting.params, stream, count)[:, s].mean() for s, setting in enumerate(result.tuned)]
    return np.asarray(regrets(params, stream, count) / np.array(least))


def test_a_trials_value_is_the_worst_relative_regret(ran: tuple[Run, str]) -> None:
    result, trials = recommended_by(ran), trials_of(ran[1], ran[0].study)
    assert len(trials) == 12
    for trial in trials[::5]:
        relative = plain_relative(result, trial.params, Stream.SEARCH, 8)
        means, errors = relative.mean(axis=0), relative.std(axis=0, ddof=1) / 8**0.5
        assert trial.value == pytest.approx(means.max(), rel=1e-9)
        tied = errors[means > means.max() - 1e-9]
        assert min(abs(tied - trial.user_attrs[keys.STDERR])) < 1e-9
        assert trial.user_attrs[keys.REPLICATIONS] == 8


def test_first_trials_are_defaults_advice_and_tuned_settings(ran: tuple[Run, str]) -> None:
    result, trials = recommended_by(ran), trials_of(ran[1], ran[0].study)
    assert trials[0].params == {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}
    tried = [trial.params for trial in trials]
    assert all(setting.params in tried for setting in result.tuned)
    spec = parse_robust_spec({"scenarios": ["periodic", "blips"], "horizon": 1000})
    assert paper_advice("blips", 1000) in first_robust_candidates(spec, [])


def test_scenario_studies_give_the_tuned_settings(ran: tuple[Run, str]) -> None:
    result = recommended_by(ran)
    assert [run.study for run in ran[0].first] == [setting.study for setting in result.tuned]
    assert [run.result.params for run in ran[0].first] == [setting.params for setting in result.tuned]
    alone = ravenlab.tune("periodic", storage=ran[1], **SMALL)
    assert alone.params == result.tuned[2].params


def test_recommendation_is_best_on_the_selection_worlds(ran: tuple[Run, str]) -> None:
    result, trials = recommended_by(ran), trials_of(ran[1], ran[0].study)
    entered = [trial.params for trial in sorted(trials, key=lambda trial: (trial.value, trial.number))]
    entered = [params for n, params in enumerate(entered) if params not in entered[:n]][:3]
    entered += [setting.params for setting in result.tuned] + [trials[0].params]
    values = [plain_relative(result, params, Stream.SELECTION, 40).mean(axis=0).max() for params in entered]
    assert result.params == entered[int(np.argmin(values))]
    assert result.params in result.indistinguishable


def test_evaluated_settings_match_the_report_worlds(ran: tuple[Run, str]) -> None:
    result = recommended_by(ran)
    assert [setting.name for setting in result.contenders] == [
        "recommended", *(f"tuned for {name}" for name in SCENARIOS), "defaults"
    ]  # fmt: skip
    least = np.stack(
        [regrets(setting.params, Stream.REPORT, 40)[:, s] for s, setting in enumerate(result.tuned)], axis=-1
    )
    for setting in result.contenders:
        played = regrets(setting.params, Stream.REPORT, 40)
        for s, world in enumerate(setting.worlds):
            np.testing.assert_allclose([*world.regret], [*mean_interval(played[:, s], 3)], rtol=1e-9)
            price = relative_interval(played[:, s], least[:, s], 3)
            np.testing.assert_allclose([*world.price], [*price], rtol=1e-7, atol=1e-9)
        ratios = played.mean(axis=0) / least.mean(axis=0) - 1.0
        assert setting.price.mean == pytest.approx(ratios.max(), abs=1e-9)
        assert setting.price.high >= max(world.price.high for world in setting.worlds) - 1e-9
    assert result.price == result.contenders[0].price
    for s, setting in enumerate(result.contenders[1:4]):
        assert setting.worlds[s].price.mean == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("measure", ["worst", "mean", "cvar:0.5"])
def test_coverage_of_the_price_interval(measure: str) -> None:
    """Skewed regrets of four scenarios with known ratios: coverage of at least 95 %, minus 3 standard errors."""
    truth = np.array([1.1, 1.2, 1.2, 0.9])
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(150):
        least = rng.gamma(2.0, size=(100, 4))
        regret = truth * (0.5 * least + 0.5 * rng.gamma(2.0, size=(100, 4)))
        price = overall_price(regret, least, parse_measure(measure), seed=1)
        inside += price.low <= float(parse_measure(measure).value(truth)) - 1.0 <= price.high
    assert inside >= 150 * (0.95 - 3 * (0.95 * 0.05 / 150) ** 0.5)


class OneBatch(Listener):
    """Stops a run after its first batch."""

    def batch(self, progress: Progress) -> None:
        raise KeyboardInterrupt


def test_result_does_not_depend_on_workers_or_interruptions(tmp_path: Path) -> None:
    spec = small(SCENARIOS[:2], measure="cvar:0.5", trials=7)
    whole = run_robust(spec, f"sqlite:///{tmp_path}/a.sqlite3", LocalWorkers(2))
    url, cuts = f"sqlite:///{tmp_path}/b.sqlite3", 0
    while True:
        try:
            pieces = run_robust(spec, url, listener=OneBatch())
            break
        except KeyboardInterrupt:
            cuts += 1
    assert cuts == 3 * 2
    assert pieces.result == whole.result
    for name in (spec.study_name(), *(scenario.study_name() for scenario in spec.scenario_specs())):
        ours, theirs = (trials_of(f"sqlite:///{tmp_path}/{file}.sqlite3", name) for file in "ab")
        assert [(trial.params, trial.values) for trial in ours] == [(trial.params, trial.values) for trial in theirs]
    again = run_robust(spec, f"sqlite:///{tmp_path}/a.sqlite3")
    assert again.already_complete
    assert again.result == whole.result


def test_a_search_whose_ranges_widened_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.tuning.search.widening.EDGE_ZONE", 1.0)  # every batch widens all ranges
    whole = run_robust(small(SCENARIOS[:2]), f"sqlite:///{tmp_path}/a.sqlite3")
    url = f"sqlite:///{tmp_path}/b.sqlite3"
    run_robust(small(SCENARIOS[:2], trials=10), url)
    assert run_robust(small(SCENARIOS[:2]), url).result == whole.result
    epsilon = [trial.params["epsilon"] for trial in trials_of(url, small(SCENARIOS[:2]).study_name())]
    assert min(epsilon) < 0.001 or max(epsilon) > 0.5  # outside the default range


def test_result_stored_before_a_lost_connection_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result was stored, but the connection broke before the confirmation; the retry finds it complete."""
    url, spec = f"sqlite:///{tmp_path}/s.sqlite3", small(SCENARIOS[:2], trials=2)
    write = keys.write_robust

    def written_and_lost(study: optuna.Study, result: RobustRecommendation) -> None:
        write(study, result)
        raise LostConnection(url, "the server went away")

    monkeypatch.setattr(keys, "write_robust", written_and_lost)
    run = run_robust(spec, url)
    assert run.result is not None
    assert not run.already_complete
    assert [scenario.study for scenario in run.first] == [scenario.study_name() for scenario in spec.scenario_specs()]
    assert run_robust(spec, url).already_complete


def test_other_kinds_of_study_are_refused(ran: tuple[Run, str]) -> None:
    with raises_naming(ravenlab.InputError, recommended_by(ran).tuned[0].study):
        run_robust(small(name=recommended_by(ran).tuned[0].study), ran[1])
    with raises_naming(ravenlab.InputError, ran[0].study):
        ravenlab.tune("blips", name=ran[0].study, storage=ran[1], **SMALL)
    with raises_naming(ravenlab.InputError, "replications", "8", "9"):
        run_robust(small(replications=9), ran[1])


def test_empty_study_is_resumed(tmp_path: Path) -> None:
    url, spec = f"sqlite:///{tmp_path}/s.sqlite3", small(SCENARIOS[:2], trials=2)
    optuna.create_study(study_name=spec.study_name(), storage=open_storage(url, create=True))
    assert run_robust(spec, url).result is not None


def test_scenario_without_regret_is_refused(tmp_path: Path) -> None:
    with raises_naming(ravenlab.InputError, "robust"):
        run_robust(small(["stationary", "periodic"], arms=1), f"sqlite:///{tmp_path}/s.sqlite3")


def test_a_race_gives_a_verdict_and_rounded_values(tmp_path: Path) -> None:
    spec = small(["stationary", "periodic"], trials=30, batch=10, selection=200)
    result = run_robust(spec, f"sqlite:///{tmp_path}/studies.sqlite3").result
    assert isinstance(result, RobustRecommendation)
    verdict, defaults = result.verdict, spec.base.resolve_params({})
    assert verdict.defaults is not None
    assert verdict.set == [name for name in result.box if result.params[name] != defaults[name]]
    assert {name: float(f"{result.params[name]:.2g}") for name in verdict.set} == {
        name: result.params[name] for name in verdict.set
    }
    assert all(low <= float(result.params[name]) <= high for name, (low, high) in result.box.items())
    assert [outcome.scenario for outcome in result.outcomes] == result.scenarios
