"""Studies on a log: independence of workers, warnings, required sample sizes, and invalid files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ravenlab
from dashboards.pages.report.scenarios import share_by_arm
from environments.errors import InputError
from environments.recorded.examples import example_log, log_to_csv
from studies.results.describe import describe_recommendation, format_estimate, format_segment
from studies.spec.files import load_study_file
from tests.command import refused
from tests.environments.recordings import draw_log
from tests.messages import assert_names, raises_naming
from tuning.cli.app import run

SMALL: dict[str, Any] = {"trials": 6, "replications": 8, "selection": 128, "report": 192, "batch": 3}
ARGS = [f"--{key}={value}" for key, value in SMALL.items()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A log with propensities."""
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
        assert format_estimate(estimate) in page
    for segment in facts.segments:
        assert format_segment(facts, segment) in page
    for name, count, share in share_by_arm(facts.arms, facts.events):
        assert f'<th scope="row">{name}</th><td class="number">{count}</td><td class="number">{share}</td>' in page
    for estimate in (facts.score, facts.logged):
        assert format_estimate(estimate) in page
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
    assert not any(baseline.significant for baseline in recommendation.versus)
    assert recommendation.log.inconclusive is not None
    assert_names("\n".join(describe_recommendation(recommendation)), recommendation.log.inconclusive)
    needed = recommendation.log.versus_logged
    assert needed is not None
    assert needed.effective is not None
    assert needed.effective >= 100
    page = ravenlab.report(output=tmp_path / "report.html", storage=f"sqlite:///{tmp_path}/s.sqlite3")
    assert "Inconclusive" in page.read_text(encoding="utf-8")


def test_the_command_line(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tune", "--log", str(file), "--storage", f"sqlite:///{tmp_path}/s.sqlite3", "--quiet", *ARGS]
    assert run([*command, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["recommendations"][0]
    assert first["log"]["file"] == "my log.csv"
    file.write_text(log_to_csv(draw_log(events=3000, seed=2)))
    assert run(command) == 2
    assert_names(capsys.readouterr().err, "my log.csv")


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


def test_example_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--log"]) == 0
    assert Path("log.csv").read_text() == log_to_csv(example_log())
