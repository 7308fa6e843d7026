"""Recommendations: selection and report use separate held-out worlds."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from ravenlab.environments import InputError
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.distributions import from_trial_params, make_distributions, to_trial_params
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.failures import include_unseen, include_unseen_in_mean
from ravenlab.studies.statistics.intervals import mean_interval, paired_interval
from ravenlab.tuning.validation.recommend import recommend
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import EvaluatedCandidates, Evaluator, count_failures
from tests.binomial import band
from tests.messages import raises_naming
from tools.evidence.recommendation_coverage import coverage


@pytest.fixture(autouse=True)
def _quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def small(**fields: Any) -> StudySpec:
    usual: dict[str, Any] = {
        "scenario": "stationary", "horizon": 100, "arms": 4, "replications": 20, "selection": 150, "report": 150,
    }  # fmt: skip
    return StudySpec(**{**usual, **fields})


def study_of(
    spec: StudySpec, params: Sequence[Mapping[str, Value]], values: Sequence[float] | None = None, **words: Any
) -> optuna.Study:
    """A study with these trials; by default their values are those on the search worlds."""
    evaluator = Evaluator(spec)
    towards = optuna.study.StudyDirection
    direction = towards.MAXIMIZE if evaluator.objective.maximize else towards.MINIMIZE
    study = optuna.create_study(study_name="test", direction=direction, **words)
    held = [to_trial_params(spec, one) for one in params]
    if values is None:
        played = evaluator.play(
            [spec.resolve_params(from_trial_params(spec, one)) for one in held if one is not None],
            Stream.SEARCH,
            0,
            spec.replications,
        )
        values = evaluator.objective.value(evaluator.sample(played)).tolist()
    for one, value in zip(held, values, strict=True):
        assert one is not None
        study.add_trial(optuna.create_trial(params=one, distributions=make_distributions(spec), value=value))
    return study


def drawn(spec: StudySpec, count: int, seed: int = 0) -> list[dict[str, float]]:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    return [from_trial_params(spec, study.ask(make_distributions(spec)).params) for _ in range(count)]


class Planted(Evaluator):
    """Regret is a function of the parameters and the stream, plus noise that candidates partly share."""

    def __init__(self, spec: StudySpec, regret: Any) -> None:
        super().__init__(spec)
        self.regret, self.calls = regret, []  # type: ignore[var-annotated]

    def play(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
    ) -> EvaluatedCandidates:
        self.calls.append((Stream(stream), [dict(one) for one in candidates], first, count))
        noise = np.random.default_rng(int(stream)).normal(size=count)
        regret = np.zeros((len(candidates), count))
        for c, values in enumerate(candidates):
            independent = np.random.default_rng([int(stream), int(1000 * float(values["alpha0"]))]).normal(size=count)
            regret[c] = self.regret(values, stream) + noise + 0.1 * independent
        return EvaluatedCandidates.join(regret, -regret, regret)

    def play_with_failures(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
    ) -> EvaluatedCandidates:
        played = self.play(candidates, stream, first, count)
        none = np.zeros(played.regret.shape)
        return EvaluatedCandidates.join(played.regret, played.reward, played.counted_regret, none, none)


def distance(values: Mapping[str, Value], stream: int) -> float:
    """Least at α₀ = 2."""
    return 10.0 + abs(float(values["alpha0"]) - 2.0)


def three(*alphas: float) -> list[dict[str, float]]:
    return [{"alpha0": alpha, "beta0": 1.0, "epsilon": 0.1} for alpha in alphas]


def test_selection_finds_the_best_although_the_search_ranked_it_last() -> None:
    spec = small()
    study = study_of(spec, three(5.0, 4.0, 2.0, 3.0), [1.0, 2.0, 9.0, 3.0])
    result = recommend(spec, study, Planted(spec, distance))
    assert result.params == {"alpha0": 2.0, "beta0": 1.0, "epsilon": 0.1}
    assert result.search_estimate == 9.0
    assert result.indistinguishable == [result.params]
    assert result.box == {"alpha0": (2.0, 2.0), "beta0": (1.0, 1.0), "epsilon": (0.1, 0.1)}


def test_rewards_are_maximized() -> None:
    spec = small(objective="reward", candidates=2)
    study = study_of(spec, three(9.0, 2.0, 3.0), [-30.0, -10.0, -11.0])
    evaluator = Planted(spec, distance)
    assert recommend(spec, study, evaluator).params["alpha0"] == 2.0
    assert [one["alpha0"] for one in evaluator.calls[0][1][:3]] == [2.0, 3.0, 1.0]


def test_shortlist_has_the_best_distinct_complete_trials() -> None:
    spec = small(candidates=3)
    study = study_of(spec, three(5.0, 4.0, 5.0, 3.0, 6.0), [1.0, 2.0, 1.0, 2.0, 2.0])
    study.add_trial(
        optuna.create_trial(
            params=three(2.0)[0],
            distributions=make_distributions(spec),
            value=0.0,
            state=optuna.trial.TrialState.PRUNED,
        )
    )
    evaluator = Planted(spec, distance)
    result = recommend(spec, study, evaluator)
    stream, played, *worlds = evaluator.calls[0]
    assert (stream, *worlds) == (Stream.SELECTION, 0, spec.selection)
    assert [one["alpha0"] for one in played] == [5.0, 4.0, 3.0, 1.0]
    assert result.trials == 6


class Failing(Planted):
    """One world in 400 fails, with the regret of uniform choice."""

    def play_with_failures(
        self, candidates: Sequence[Mapping[str, Value]], stream: int, first: int, count: int
    ) -> EvaluatedCandidates:
        played = super().play_with_failures(candidates, stream, first, count)
        failed = np.broadcast_to(np.arange(first, first + count) % 400 == 399, played.regret.shape)
        regret = played.regret + 2000.0 * failed
        uniform = np.full(regret.shape, 200.0)
        return EvaluatedCandidates.join(regret, played.reward, played.counted_regret, failed, uniform)


def test_report_sample_grows_until_failures_are_represented() -> None:
    spec = small(report=1000)
    result = recommend(spec, study_of(spec, three(2.0, 3.0), [1.0, 2.0]), Failing(spec, distance))
    assert result.regret.replications == 4000
    assert result.failures is not None
    assert (result.failures.count, result.failures.rate, result.failures.reliable) == (10, 0.0025, True)
    assert {baseline.failure_rate for baseline in result.versus} == {0.0025}


def test_small_report_budget_is_kept_and_marked_unreliable() -> None:
    spec = small(report=500)
    result = recommend(spec, study_of(spec, three(2.0, 3.0), [1.0, 2.0]), Failing(spec, distance))
    assert result.regret.replications == 500
    assert result.failures is not None
    assert (result.failures.count, result.failures.reliable) == (1, False)
    assert result.failures.unseen > 0.05 * result.regret.mean


def test_study_without_complete_trial_is_refused() -> None:
    spec = small()
    study = optuna.create_study(study_name="empty")
    with raises_naming(InputError, "'empty'") as caught:
        recommend(spec, study, Evaluator(spec))
    assert "\n" not in str(caught.value)


def test_report_stream_does_not_affect_the_selection() -> None:
    """With the order reversed on the report stream, the selection stays and its poor regret is reported."""

    def turned(values: Mapping[str, Value], stream: int) -> float:
        near = distance(values, stream)
        return near if stream != Stream.REPORT else 100.0 - near

    spec = small()
    evaluator = Planted(spec, turned)
    result = recommend(spec, study_of(spec, three(2.0, 3.0), [2.0, 1.0]), evaluator)
    assert result.params["alpha0"] == 2.0
    assert result.regret.mean == pytest.approx(90.0, abs=0.5)
    assert result.versus[0].difference < 0
    *selections, report, sensitivity = evaluator.calls
    assert sensitivity[0] == Stream.GRID
    assert {call[0] for call in selections} == {Stream.SELECTION}
    assert report[0] == Stream.REPORT
    assert len(report[1]) == 1 + len(result.versus)


def test_the_three_streams_are_different_worlds() -> None:
    spec = small()
    streams, worlds = (Stream.SEARCH, Stream.SELECTION, Stream.REPORT), 400
    regrets = [Evaluator(spec).play([spec.resolve_params({})], stream, 0, worlds).regret[0] for stream in streams]
    for one, other in combinations(regrets, 2):
        assert not np.isin(one, other).any()
        assert abs(np.corrcoef(one, other)[0, 1]) < 4 / worlds**0.5


def test_reported_numbers_match_the_report_stream() -> None:
    spec = small(scenario="variance-drift", horizon=1000)
    result = recommend(spec, study_of(spec, drawn(spec, 6)), Evaluator(spec))
    played = Evaluator(spec).play_with_failures(
        [spec.resolve_params(result.params), *(spec.resolve_params(baseline.params) for baseline in result.versus)],
        Stream.REPORT, 0, spec.report,
    )  # fmt: skip
    regret, failures = played.regret, count_failures(played)
    expected = include_unseen_in_mean(mean_interval(regret[0], spec.seed), failures[0])
    assert [*result.regret] == [*expected]
    for baseline, theirs, failed in zip(result.versus, regret[1:], failures[1:], strict=True):
        assert baseline.regret == theirs.mean()
        interval = include_unseen(paired_interval(theirs, regret[0], spec.seed), failed, failures[0])
        assert baseline.interval == interval
    assert [baseline.name for baseline in result.versus] == ["paper", "defaults"]
    assert result.regret.low < result.regret.mean < result.regret.high


def test_defaults_outside_the_search_space_may_win() -> None:
    spec = small(scenario="periodic", space={"alpha0": Range(low=3.0, high=9.0)})
    evaluator = Planted(spec, distance)
    result = recommend(spec, study_of(spec, three(8.0, 9.0), [1.0, 2.0]), evaluator)
    assert result.params["alpha0"] == 1.0
    assert evaluator.calls[-1][0] == Stream.SEARCH
    assert evaluator.calls[-1][3] == spec.replications
    assert result.search_estimate == pytest.approx(11.0, abs=0.8)
    assert result.versus[-1].params == result.params
    assert result.versus[-1].difference == 0.0
    assert [edge.param for edge in result.edge] == ["alpha0"]
    assert result.edge[0].low == pytest.approx(1.0 / 3.0)


def test_baseline_equal_to_the_recommendation_has_zero_difference() -> None:
    spec = small(scenario="periodic")
    result = recommend(spec, study_of(spec, [{}], [1.0]), Evaluator(spec))
    baseline = result.versus[-1]
    assert baseline.params == result.params
    assert baseline.interval.is_zero


def test_baselines_respect_fixed_parameters() -> None:
    spec = small(scenario="variance-drift", horizon=1000, fixed={"epsilon": 0.3})
    result = recommend(spec, study_of(spec, [{"alpha0": 0.5, "beta0": 0.5}]), Evaluator(spec))
    assert len(result.versus) == 2
    for params in (result.params, *(baseline.params for baseline in result.versus)):
        assert params["epsilon"] == 0.3
        assert set(params) == {"alpha0", "beta0", "epsilon"}
    assert set(result.box) == {"alpha0", "beta0"}


def test_importance_needs_twenty_trials() -> None:
    spec = small(policy="d-raven")
    params = drawn(spec, 20)
    values = [abs(np.log(one["alpha0"])) for one in params]
    assert recommend(spec, study_of(spec, params[:19], values[:19]), Evaluator(spec)).importance is None
    importance = recommend(spec, study_of(spec, params, values), Evaluator(spec)).importance
    assert importance is not None
    assert list(importance) == ["alpha0", "beta0", "epsilon", "gamma"]
    assert sum(importance.values()) == pytest.approx(1.0)
    assert max(importance, key=lambda name: importance[name]) == "alpha0"
    assert recommend(spec, study_of(spec, params, [1.0] * 20), Evaluator(spec)).importance is None


@pytest.mark.parametrize("objective", ["mean", "quantile:0.8", "cvar:0.8", "after:20%", "reward"])
def test_recommendation_does_not_depend_on_workers_or_storage(objective: str, tmp_path: Path) -> None:
    spec = small(objective=objective, selection=200, report=60)
    params = drawn(spec, 21)
    one = recommend(spec, study_of(spec, params), Evaluator(spec, LocalWorkers(1)))
    two = recommend(spec, study_of(spec, params), Evaluator(spec, LocalWorkers(2)))
    stored = study_of(spec, params, storage=f"sqlite:///{tmp_path}/s.sqlite3")
    assert one.model_dump_json() == two.model_dump_json()
    assert one.model_dump_json() == recommend(spec, stored, Evaluator(spec)).model_dump_json()
    assert Recommendation.model_validate(one.as_object()) == one
    assert list(one.params) == list(spec.space)


def test_search_estimate_is_biased_and_the_report_is_not() -> None:
    """Small studies compared with many more worlds; `tools.evidence.recommendation_coverage` has the full size."""
    measured = coverage(studies=20, replications=3_000)
    least, most = band(20)
    assert least <= measured.reported <= most
    assert measured.searched < least
    assert measured.bias_searched.mean < -measured.bias_searched.error
    assert abs(measured.bias_reported.mean) < 4 * measured.bias_reported.error
