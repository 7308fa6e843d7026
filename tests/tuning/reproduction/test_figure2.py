"""Figure 2: candidates are those of TPE, the shortcut for UCB1 is exact, and numbers agree with an independent run."""

import json
from pathlib import Path

import numpy as np
import optuna
import pytest

from ravenlab.common.interval import Interval
from ravenlab.environments.streams import Stream
from ravenlab.policies.engine.simulation import simulate
from ravenlab.studies.paper.claims import ClaimVerdict
from ravenlab.studies.paper.criteria import judge_about
from ravenlab.studies.statistics.intervals import relative_shares
from ravenlab.studies.tables import select_row
from ravenlab.tuning.reproduction import figure2 as runs
from ravenlab.tuning.reproduction.context import RunContext
from ravenlab.tuning.reproduction.figure2 import EXPERIMENT, judge_samples
from tests.tuning.reproduction.synthetic import make_figure2_pieces, small_context

SEARCHED: dict[str, optuna.distributions.BaseDistribution] = {
    "alpha0": optuna.distributions.FloatDistribution(0.01, 10.0, log=True),
    "beta0": optuna.distributions.FloatDistribution(0.01, 10.0, log=True),
    "epsilon": optuna.distributions.FloatDistribution(0.001, 0.5),
}


@pytest.fixture
def context(tmp_path: Path) -> RunContext:
    return small_context(url=f"sqlite:///{tmp_path}/studies.sqlite3")


def suggest(sampler: optuna.samplers.BaseSampler, trials: int) -> list[dict[str, float]]:
    """The suggestions of a sampler that maximizes α₀."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(trials):
        trial = study.ask(SEARCHED)
        study.tell(trial, trial.params["alpha0"])
    return [trial.params for trial in study.trials]


def test_first_ten_trials_of_tpe_are_random() -> None:
    tpe, random = (
        suggest(sampler(seed=3), 12) for sampler in (optuna.samplers.TPESampler, optuna.samplers.RandomSampler)
    )
    assert tpe[:10] == random[:10]
    assert tpe[10:] != random[10:]


def test_candidates_are_log_uniform() -> None:
    assert len(runs.draw_candidates(0, 3, 1000)) == 10
    assert runs.draw_candidates(0, 3, 1000) != runs.draw_candidates(0, 4, 1000)
    drawn = [candidate for repeat in range(40) for candidate in runs.draw_candidates(0, repeat, 1000)]
    for name in ("alpha0", "beta0"):
        u = (np.log10([float(candidate[name]) for candidate in drawn]) + 2.0) / 3.0
        assert u.min() >= 0.0
        assert u.max() <= 1.0
        assert abs(u.mean() - 0.5) < 4.0 / (12 * len(u)) ** 0.5
    assert {candidate["epsilon"] for candidate in drawn} == {1e-6}
    assert {(candidate["variance"], candidate["logarithm"]) for candidate in drawn} == {("printed", "t")}


def test_one_long_simulation_of_ucb1_gives_all_horizons(context: RunContext) -> None:
    by_horizon = runs.run_defined_baseline(context, [100, 700, 2000])["regrets"]
    for horizon, regrets in zip([100, 700, 2000], by_horizon, strict=True):
        plain = simulate(
            "published-ucb1", "bernoulli", horizon=horizon, arms=10, replications=len(regrets), stream=Stream.REPORT
        )
        assert plain.regret.tolist() == regrets


@pytest.mark.parametrize(("horizon", "expected"), [(100, 19.0), (1000, 65.0), (5000, 80.0)])
def test_as_defined_agrees_with_an_independent_run(tmp_path: Path, horizon: int, expected: float) -> None:
    """Within 3·√2 standard errors, and half a point for rounding; T = 15,000 is marked `stress`."""
    _check_defined(tmp_path, horizon, expected)


@pytest.mark.stress
def test_as_defined_at_the_longest_printed_horizon(tmp_path: Path) -> None:
    _check_defined(tmp_path, 15_000, 86.0)


def _check_defined(tmp_path: Path, horizon: int, expected: float) -> None:
    context = small_context(("defined",), replications=10, url=f"sqlite:///{tmp_path}/studies.sqlite3")
    usual = small_context(("defined",), replications=50, url=context.url)
    spec = runs.make_spec(usual, horizon)
    winner = usual.search("figure2/check", spec)
    count = runs.count_held_out(context, horizon)
    values = spec.resolve_params({name: float(value) for name, value in winner.params.items()})
    played = runs._make_evaluator(context, runs.RAVEN, horizon).play([values], Stream.REPORT, 0, count)
    baseline = np.array(runs.run_defined_baseline(context, [horizon])["regrets"][0])
    sample = -100.0 * relative_shares(played.regret[0], baseline)
    assert abs(sample.mean() - expected) < 3.0 * 2**0.5 * sample.std(ddof=1) / count**0.5 + 0.5


def test_published_winner_has_the_lowest_mean_of_its_ten_candidates(context: RunContext) -> None:
    published = runs.run_published(context, 100)
    evaluator = runs._make_evaluator(context, runs.RAVEN, 100)
    for repeat, (winner, lowest) in enumerate(zip(published["winners"], published["selection"], strict=True)):
        tried = runs.draw_candidates(context.seed, repeat, 100)
        means = evaluator.play(tried, Stream.SIMULATE, repeat * 50, 50).regret.mean(axis=1)
        assert lowest == means.min()
        assert winner["alpha0"] == tried[int(means.argmin())]["alpha0"]


def test_results_do_not_depend_on_the_number_of_jobs(context: RunContext) -> None:
    two = small_context(jobs=2, url=context.url)
    assert runs.run_published(context, 250) == runs.run_published(two, 250)
    assert runs.run_published_baseline(context) == runs.run_published_baseline(two)


def test_pieces_are_those_of_the_protocols(context: RunContext) -> None:
    keys = [piece.key for piece in EXPERIMENT.pieces(context)]
    assert len(keys) == len(set(keys)) == 1 + 23 + 2 + 27
    published = [piece.key for piece in EXPERIMENT.pieces(small_context(("published",)))]
    assert [key for key in keys if key.startswith("figure2/published")] == published


def test_assembled_tables_and_verdicts_follow_from_the_numbers() -> None:
    context = small_context(replications=10)
    result = EXPERIMENT.assemble(context, json.loads(json.dumps(make_figure2_pieces(context))))
    point = select_row(result.tables["reduction"], line="defined", horizon=200_000)
    assert abs(point["reduction"] - 90.0) < 4.0 * 10.0 / 80**0.5
    assert result.tables["against_tuned"]["difference"].tolist() == pytest.approx([5.0] * 27)
    assert result.tables["selection_bias"]["difference"].tolist() == pytest.approx([2.0] * 23)
    verdicts = {(verdict.claim.key, verdict.protocol): verdict.verdict for verdict in result.verdicts}
    assert len(verdicts) == len(result.verdicts) == 10
    assert verdicts["figure2-above-80", "published"] == verdicts["figure2-above-80", "defined"] == ClaimVerdict.REFUTED
    assert verdicts["figure2-growth", "published"] == verdicts["figure2-growth", "defined"] == ClaimVerdict.CONFIRMED
    assert verdicts["figure2-limit-84", "defined"] == verdicts["figure2-average-84", "defined"] == ClaimVerdict.REFUTED


def test_other_numbers_give_the_opposite_verdicts() -> None:
    rng = np.random.default_rng(2)
    printed, beyond = [100, 5000, 15_000], 200_000
    high = {horizon: 84.0 + place + rng.normal(size=400) for place, horizon in enumerate(printed)}
    verdicts = {verdict.claim.key: verdict.verdict for verdict in judge_samples("published", high, printed, 0)}
    assert verdicts["figure2-above-80"] == verdicts["figure2-growth"] == ClaimVerdict.CONFIRMED
    falling = high | {beyond: 84.0 + rng.normal(size=200)}
    verdicts = {verdict.claim.key: verdict.verdict for verdict in judge_samples("defined", falling, printed, 0)}
    assert verdicts["figure2-above-80"] == verdicts["figure2-limit-84"] == ClaimVerdict.CONFIRMED
    assert verdicts["figure2-growth"] == ClaimVerdict.REFUTED


def test_about_has_a_tolerance_and_allows_for_noise() -> None:
    assert judge_about(84.0, Interval(86.0, 83.9, 88.0), 1.0, None) == ClaimVerdict.CONFIRMED
    assert judge_about(84.0, Interval(95.0, 94.0, 96.0), 0.5, 3.0) == ClaimVerdict.REFUTED
    assert judge_about(84.0, Interval(86.0, 85.5, 86.5), 0.2, None) == ClaimVerdict.REFUTED
