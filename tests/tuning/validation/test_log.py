"""Studies on a log: independence of workers, warnings, required sample sizes, and invalid files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ravenlab
from ravenlab.common.errors import InputError
from ravenlab.common.interval import Difference
from ravenlab.common.text import format_interval
from ravenlab.dashboards.pages.report.scenarios import share_by_arm
from ravenlab.environments.recorded.examples import example_log, log_to_csv
from ravenlab.environments.recorded.log_file import Log
from ravenlab.studies.results.describe_recommendation import describe_recommendation
from ravenlab.studies.results.describe_recorded import format_segment
from ravenlab.studies.results.recommendation import (
    LOGGING_POLICY,
    Alternative,
    Estimate,
    LogFacts,
    RewardStatistics,
)
from ravenlab.studies.results.verdict import Excess
from ravenlab.studies.spec.files import load_study_file
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.validation.held_out import ChosenParameters
from ravenlab.tuning.validation.report import BaselineDifference, Report, judge
from tests.command import printed, refused
from tests.environments.recordings import draw_log
from tests.messages import assert_names, raises_naming

SMALL: dict[str, Any] = {"trials": 6, "replications": 8, "selection": 128, "report": 192, "batch": 3}
ARGS = [f"--{key}={value}" for key, value in SMALL.items()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my log.csv"
    path.write_text(log_to_csv(draw_log(events=3000, propensities=True)))
    return path


def test_log_recommendation_export_and_report(file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    recommendation = ravenlab.tune(log=str(file), storage=url, **SMALL)
    assert recommendation.study == "raven-ucb/log:my-log/T1500/K3"
    facts = recommendation.log
    assert facts is not None
    assert facts.segments == {"search": (1, 1500), "selection": (1501, 2100), "report": (2101, 3000)}
    assert facts.enough
    assert facts.inconclusive is None
    assert 100 < facts.effective < 900
    assert 0 < facts.matched < 900
    assert facts.score.low < facts.score.mean < facts.score.high
    assert facts.logged.low < facts.logged.mean < facts.logged.high
    assert recommendation.regret.mean == pytest.approx(facts.logged.mean - facts.score.mean)
    again = ravenlab.tune(log=str(file), storage=f"sqlite:///{tmp_path}/t.sqlite3", jobs=2, **SMALL)
    assert again == recommendation
    for form in ("json", "csv", "python", "markdown"):
        assert "log:my" in ravenlab.export(form=form, storage=url)
    assert f",{facts.matched},{facts.effective}," in ravenlab.export(form="csv", storage=url)
    description = "\n".join(describe_recommendation(recommendation))
    assert_names(description, "900 steps", f"{facts.effective:.0f} effective events", facts.estimator)
    page = ravenlab.report(output=tmp_path / "report.html", storage=url).read_text(encoding="utf-8")
    assert "Log: mean reward in" in page
    assert "Events by arm" in page
    for estimate in (facts.score, facts.logged):
        assert format_interval(estimate) in page
    for segment in facts.segments:
        assert format_segment(facts, segment) in page
    for name, count, share in share_by_arm(facts.arms, facts.events):
        assert f'<th scope="row">{name}</th><td class="number">{count}</td><td class="number">{share}</td>' in page
    for estimate in (facts.score, facts.logged):
        assert format_interval(estimate) in page
    for segment in facts.segments:
        assert format_segment(facts, segment) in page
    for name, count, share in share_by_arm(facts.arms, facts.events):
        assert f'<th scope="row">{name}</th><td class="number">{count}</td><td class="number">{share}</td>' in page


def test_simulator_on_request(file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    recommendation = ravenlab.tune(log=str(file), estimator="simulator", storage=url, **SMALL)
    assert recommendation.study == "raven-ucb/log:my-log/T1500/K3/estimator=simulator"
    facts = recommendation.log
    assert facts is not None
    assert facts.estimator.startswith("simulator")
    assert facts.inconclusive is None
    assert facts.score.low < facts.score.mean < facts.score.high
    again = ravenlab.tune(
        log=str(file), estimator="simulator", storage=f"sqlite:///{tmp_path}/t.sqlite3", jobs=2, **SMALL
    )
    assert again == recommendation
    assert_names(refused("tune", "blips", "--estimator", "simulator", "--dry-run"), "estimator", "log")
    assert_names(refused("tune", "--log", str(file), "--estimator", "other", "--dry-run"), "estimator", "'other'")


def test_warning_about_few_effective_events(tmp_path: Path) -> None:
    file = tmp_path / "short.csv"
    file.write_text(log_to_csv(draw_log(events=400)))
    recommendation = ravenlab.tune(log=str(file), storage=f"sqlite:///{tmp_path}/s.sqlite3", **SMALL)
    assert recommendation.log is not None
    assert not recommendation.log.enough
    assert not any(baseline.decidable for baseline in recommendation.versus)
    assert recommendation.log.inconclusive is not None
    assert_names("\n".join(describe_recommendation(recommendation)), recommendation.log.inconclusive)
    needed = recommendation.log.versus_logged
    assert needed is not None
    assert needed.effective is not None
    assert needed.effective >= 100
    page = ravenlab.report(output=tmp_path / "report.html", storage=f"sqlite:///{tmp_path}/s.sqlite3")
    assert "Inconclusive" in page.read_text(encoding="utf-8")


def test_the_command_line(file: Path, tmp_path: Path) -> None:
    command = ["tune", "--log", str(file), "--storage", f"sqlite:///{tmp_path}/s.sqlite3", "--quiet", *ARGS]
    first = json.loads(printed(*command, "--json"))["recommendations"][0]
    assert first["log"]["file"] == "my log.csv"
    file.write_text(log_to_csv(draw_log(events=3000, seed=2)))
    assert_names(refused(*command), "my log.csv")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["blips"], ["--log", "SCENARIO"]),
        (["--horizon", "9"], ["--log", "--horizon"]),
        (["--trace", "x.csv"], ["--trace", "--log"]),
        (["--window", "9"], ["--window", "--trace"]),
        (["--arms", "9"], ["arms", "3"]),
        (["--objective", "reward"], ["objective", "mean"]),
        (["--noise", "laplace"], ["'noise'"]),
        (["--report", "9"], ["report", "128", "9"]),
        (["--policy", "published-thompson"], ["published-thompson"]),
    ],
)
def test_options_incompatible_with_a_log(options: list[str], names: list[str], file: Path) -> None:
    assert_names(refused("tune", "--log", str(file), "--dry-run", *options), *names)


def test_study_file_with_relative_log_path(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path.parent)
    study = tmp_path / "study.toml"
    study.write_text('[[study]]\npolicy = "ucb1"\nscenario = { log = "my log.csv", minimize = true }\n')
    (spec,) = load_study_file(study)
    assert spec.study_name() == "ucb1/log:my-log/T1500/K3"
    assert spec.minimize
    study.write_text('[[study]]\nhorizon = 5\nscenario = { log = "my log.csv" }\n')
    with raises_naming(InputError, "horizon"):
        load_study_file(study)
    study.write_text('[[study]]\nscenario = { log = "my log.csv", window = 4 }\n')
    with raises_naming(InputError, "'window'"):
        load_study_file(study)


def test_example_log(here: Path) -> None:
    assert run(["init", "--log"]) == 0
    assert Path("log.csv").read_text() == log_to_csv(example_log())


def write_log(path: Path, arm: np.ndarray[Any, np.dtype[np.int64]], rates: list[float], seed: int = 1) -> str:
    """Write a log of clicks on these arms."""
    clicks = np.random.default_rng([seed, 1]).random(arm.size) < np.array(rates)[arm]
    path.write_text(log_to_csv(Log.from_columns([f"a{k}" for k in arm], clicks.astype(np.float64))))
    return str(path)


@pytest.mark.parametrize("at", [slice(0, 18), slice(None, None, 333)])
def test_rare_arm_causes_no_warnings(at: slice, tmp_path: Path) -> None:
    """One arm has 0.3 % of the events, none in some segments. Warnings are errors in tests."""
    arm = np.random.default_rng(1).integers(3, size=6000)
    arm[at] = 3
    path = write_log(tmp_path / "rare.csv", arm, [0.1, 0.2, 0.3, 0.4])
    fields = {**SMALL, "trials": 2, "batch": 2, "candidates": 2}
    assert ravenlab.tune(log=path, estimator="simulator", storage=f"sqlite:///{tmp_path}/s.sqlite3", **fields).log


def test_epsilon_greedy_log_needs_a_gain_over_the_logging_policy(tmp_path: Path) -> None:
    """The logging policy uses the best arm in 85 % of the events, so that there is hardly anything to gain."""
    rng = np.random.default_rng(1)
    arm = np.where(rng.random(4000) < 0.15, rng.integers(2, size=4000), 1)
    path = write_log(tmp_path / "greedy.csv", arm, [0.05, 0.06])
    found = ravenlab.tune(
        log=path, policy="ucb1", storage=f"sqlite:///{tmp_path}/s.sqlite3", **{**SMALL, "trials": 10, "batch": 10}
    )
    assert found.log is not None
    assert found.log.enough
    assert found.regret.high > 0.0
    assert found.verdict.decision in ("inconclusive", "keep the logging policy")


@pytest.mark.parametrize("params", [{"alpha0": 0.1}, {"alpha0": 0.1, "epsilon": 0.01}])
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.001, 0.004, "keep the logging policy"), (-0.003, 0.004, "inconclusive"), (-0.004, -0.001, None)],
)
def test_verdict_on_a_log(low: float, high: float, expected: str | None, params: dict[str, float]) -> None:
    """The parameters are significantly better than the defaults; `low` to `high` is the loss to the logging policy."""
    spec = StudySpec(scenario="blips", horizon=1000)
    defaults = spec.resolve_params({})
    behind = BaselineDifference(0.02, Difference(0.01, 0.005, 0.015), conclusive=True)
    report = Report(
        Estimate(mean=(low + high) / 2, low=low, high=high, replications=128),
        [behind],
        RewardStatistics(mean=0.05, spread=0.2),
        log=LogFacts.model_construct(enough=True, inconclusive=None),
        alternatives=[
            Alternative(name=LOGGING_POLICY, difference=-(low + high) / 2, low=-high, high=-low, decidable=True)
        ],
    )
    excess = Excess(mean=0.5, low=0.2, high=0.8, worlds=200, tied=False, worse=True)
    verdict = judge(spec, ChosenParameters(spec.resolve_params(params), excess), defaults, trials=100, report=report)
    assert verdict.decision == (expected or ("set one parameter" if len(params) == 1 else "use these values"))
    assert (verdict.reason is not None) == (expected == "inconclusive")
    if verdict.reason is not None:
        assert_names(verdict.reason, "logging policy")
