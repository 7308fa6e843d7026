"""Studies on a trace: independence of workers and interruptions, changed and invalid files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ravenlab
from ravenlab.common.documents import Table
from ravenlab.common.interval import Difference
from ravenlab.common.text import format_interval
from ravenlab.dashboards.pages.report.scenarios import share_by_arm
from ravenlab.environments.recorded.trace_world import TraceScenario
from ravenlab.environments.streams import Stream
from ravenlab.studies.export import FORMATS
from ravenlab.studies.results.describe_recorded import format_segment
from ravenlab.studies.results.documents import recommendation_document
from ravenlab.studies.results.recommendation import Estimate, RewardStatistics, TraceFacts
from ravenlab.studies.results.verdict import Excess
from ravenlab.studies.spec.files import load_study_file
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.paired import StudentEstimate
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import read_recommendation
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.listener import Listener
from ravenlab.tuning.study_run import run_study
from ravenlab.tuning.validation.held_out import ChosenParameters
from ravenlab.tuning.validation.report import BaselineDifference, Report, Rival, judge, list_alternatives
from ravenlab.tuning.validation.trace import play_fixed_arm, play_on_trace
from ravenlab.tuning.workers.problem import Evaluator
from tests.binomial import band
from tests.command import printed, refused
from tests.environments.recordings import table, write_csv
from tests.messages import assert_names
from tests.studies.examples import finished_trials, make_recommendation, make_trace_facts
from tools.evidence import trace_coverage

SMALL: dict[str, Any] = {"trials": 6, "batch": 4, "replications": 10, "selection": 60, "report": 80, "candidates": 3}
ARGS = [f"--{key}={value}" for key, value in SMALL.items() if key != "candidates"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "my trace.csv", 50 * table(rows=500, missing=0.15))


def test_validation_on_long_windows_is_bounded_and_announced(tmp_path: Path) -> None:
    """Windows of 20,000 rows: 1,000 instead of 2,000 of them, whose steps are a line of the plan."""
    long = write_csv(tmp_path / "long.csv", np.random.default_rng(3).normal(size=(100_000, 2)).round(2))
    spec = parse_study_spec({"trace": str(long), "horizon": 20_000, "report": 2000})
    assert spec.held_out_windows(Stream.REPORT) == 1000
    assert parse_study_spec({"trace": str(long), "horizon": 500}).held_out_windows(Stream.REPORT) == spec.report
    plan = printed("tune", f"--trace={long}", "--window=20000", "--dry-run").splitlines()
    assert plan[1] == f"Validation on held-out data, at most: {spec.validation_steps():,} of these steps"


def test_trace_recommendation(file: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    recommendation = ravenlab.tune(trace=str(file), minimize=True, storage=url, **SMALL)
    assert recommendation.study == "raven-ucb/trace:my-trace/T62/K4"
    facts = recommendation.trace
    assert facts is not None
    assert facts.segments == {"search": (1, 250), "selection": (251, 350), "report": (351, 500)}
    assert sum(facts.arms.values()) > 0
    assert 1 <= facts.effective <= 150
    assert 0 < facts.per_step < recommendation.scale.mean
    assert recommendation.regret.low <= recommendation.regret.mean <= recommendation.regret.high
    assert facts.regret_fixed.mean < recommendation.regret.mean
    again = ravenlab.tune(trace=str(file), minimize=True, storage=f"sqlite:///{tmp_path}/t.sqlite3", jobs=2, **SMALL)
    assert again == recommendation
    for form in FORMATS:
        assert "trace:my" in ravenlab.export(form=form, storage=url)
    output = printed("show", recommendation.study, "--all", "--storage", url)
    assert_names(output, f"{facts.effective:.0f}", format_interval(facts.regret_fixed))
    page = ravenlab.report(output=tmp_path / "r.html", storage=url).read_text(encoding="utf-8")
    assert f"Trace: means over {facts.reach} rows before and after" in page
    assert "Missing cells by arm" in page
    assert "cumulative regret and cost" in page
    assert_names(page, f"blocks of {facts.block}", round(facts.effective), format_interval(facts.regret_fixed))
    for segment in facts.segments:
        assert format_segment(facts, segment) in page
    for name, count, share in share_by_arm(facts.arms, facts.rows):
        assert f'<th scope="row">{name}</th><td class="number">{count}</td><td class="number">{share}</td>' in page
    assert_names(page, f"blocks of {facts.block}", round(facts.effective), format_interval(facts.regret_fixed))
    for segment in facts.segments:
        assert format_segment(facts, segment) in page
    for name, count, share in share_by_arm(facts.arms, facts.rows):
        assert f'<th scope="row">{name}</th><td class="number">{count}</td><td class="number">{share}</td>' in page
    file.unlink()
    assert run(["show", recommendation.study, "--storage", url]) == 0
    report = ravenlab.report(output=tmp_path / "r.html", storage=url).read_text(encoding="utf-8")
    assert len(report) < len(page)
    assert_names(report, file.name)


def test_resumed_study_is_the_same(file: Path, tmp_path: Path) -> None:
    whole, cut = (f"sqlite:///{tmp_path}/{name}.sqlite3" for name in ("whole", "cut"))
    recommendation = ravenlab.tune(trace=str(file), storage=whole, **SMALL)
    ravenlab.tune(trace=str(file), storage=cut, **{**SMALL, "trials": 3})
    ravenlab.tune(trace=str(file), storage=cut, **SMALL)
    stored = open_storage(cut, create=False).get_all_studies()
    assert [read_recommendation(study) for study in stored] == [recommendation]


def test_changed_file_is_refused(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tune", "--trace", str(file), "--storage", f"sqlite:///{tmp_path}/s.sqlite3", "--quiet", *ARGS]
    first = json.loads(printed(*command, "--json"))["recommendations"][0]
    assert first["trace"]["file"] == "my trace.csv"
    assert run(command) == 0
    moved = file.parent / "elsewhere" / file.name
    moved.parent.mkdir()
    moved.write_bytes(file.read_bytes())
    before = finished_trials(f"sqlite:///{tmp_path}/s.sqlite3")
    assert run([str(moved) if part == str(file) else part for part in command]) == 0
    assert finished_trials(f"sqlite:///{tmp_path}/s.sqlite3") == before
    capsys.readouterr()
    write_csv(file, table(rows=500, seed=9))
    assert_names(refused(*command), file.name)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--window", "101"], ["window", "100", "500"]),
        (["--window", "3"], ["window", "arms", "4"]),
        (["--window", "many"], ["--window"]),
        (["--horizon", "50"], ["--horizon", "--window"]),
        (["blips"], ["SCENARIO"]),
        (["--arms", "5"], ["arms", "4"]),
        (["--noise", "laplace"], ["'noise'"]),
        (["--objective", "cvar:0.9"], ["objective", "mean"]),
        (["--policy", "published-thompson"], ["published-thompson"]),
    ],
)
def test_options_incompatible_with_a_trace(options: list[str], names: list[str], file: Path) -> None:
    assert_names(refused("tune", "--trace", str(file), "--dry-run", *options), *names)


def test_warning_about_few_effective_rows(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "short.csv", table(rows=40))
    out = printed("tune", "--trace", str(path), *ARGS, "--storage", f"sqlite:///{tmp_path}/s.sqlite3")
    assert "evaluated on held-out data" in out
    assert "are needed for a reliable interval" in out


def test_invalid_files_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    for text in ("a,b\n1\n", "a,b\n1,x\n", "a,a\n1,2\n"):
        path.write_text(text)
        assert str(path) in refused("tune", "--trace", str(path))
    for text, rows in (("a,b\n1,2\n3,4\n", "2 rows"), ("a;b\n1;2\n", "1 rows")):
        path.write_text(text)
        assert_names(refused("tune", "--trace", str(path)), "trace:bad", rows)
    assert_names(refused("tune", "blips", "--minimize", "--dry-run"), "--minimize", "--trace")


def test_study_file_with_relative_trace_path(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    study = tmp_path / "study.toml"
    study.write_text('[[study]]\npolicy = "f-dsw-ts"\n[study.scenario]\ntrace = "my trace.csv"\nwindow = 40\n')
    (spec,) = load_study_file(study)
    study.write_text('[[study]]\npolicy = "f-dsw-ts"\ntrace = "my trace.csv"\nhorizon = 40\n')
    assert load_study_file(study) == [spec]
    assert (spec.horizon, spec.arms) == (40, 4)
    cells = 50 * table(rows=500, missing=0.15)[:250]
    np.testing.assert_allclose(float(spec.fixed["low"]), np.nanpercentile(cells, 1))
    np.testing.assert_allclose(float(spec.fixed["high"]), np.nanpercentile(cells, 99))
    assert StudySpec.model_validate(spec.model_dump(mode="json")) == spec


def test_search_space_scales_with_the_rewards(tmp_path: Path) -> None:
    small, large = (
        parse_study_spec({"trace": str(write_csv(tmp_path / f"x{size}.csv", size * table(rows=500)))})
        for size in (1, 100)
    )
    for name, power in (("alpha0", 1), ("beta0", 0), ("epsilon", 2)):
        np.testing.assert_allclose(large.space[name].low, 100**power * small.space[name].low, rtol=0.01)
        usual = [float(spec.resolve_params({})[name]) for spec in (small, large)]
        np.testing.assert_allclose(usual[1], 100**power * usual[0], rtol=1e-6)


def test_contributions_of_rows(file: Path) -> None:
    spec = parse_study_spec({"trace": str(file), "horizon": 40})
    evaluator = Evaluator(spec)
    values = [spec.resolve_params({}), spec.resolve_params({"alpha0": 5.0})]
    placed = play_on_trace(evaluator, values, Stream.REPORT, 50)
    fixed = play_fixed_arm(evaluator.problem, Stream.REPORT, 50)
    for sample in (placed[0].regret, placed[1].regret, fixed):
        assert (sample.windows.shape, sample.parts.shape) == ((50,), (500,))
        np.testing.assert_allclose(sample.parts.sum(), 0.0, atol=1e-9)
        assert np.abs(sample.parts).max() > 1e-3
    played = evaluator.play(values, Stream.REPORT, 0, 50)
    np.testing.assert_array_equal(played.regret, [candidate.regret.windows for candidate in placed])


def test_intervals_cover_although_the_report_segment_contains_few_jumps() -> None:
    """300 report rows contain three levels of the means; intervals from these rows alone cover in 79 %."""
    process = next(process for process in trace_coverage.PROCESSES if process.name == "jump every 100 rows, σ 0.1")
    expected, tries, hits = 4.0, 60, 0
    for seed in range(tries):
        rng = np.random.default_rng([seed, 7])
        scenario = process.draw(process.paths(process.rows, rng), rng)
        regret, _ = trace_coverage.estimate_intervals(process, scenario, seed)
        hits += regret.interval.contains(expected)
    assert hits >= band(tries)[0]


def test_arm_that_is_missing_in_a_segment_causes_no_warnings(tmp_path: Path) -> None:
    """Warnings are errors in tests."""
    values = table(rows=500)
    values[:300, 1] = np.nan
    values[250:, 2] = np.nan
    path = str(write_csv(tmp_path / "rare.csv", values))
    assert ravenlab.tune(trace=path, storage=f"sqlite:///{tmp_path}/s.sqlite3", **SMALL).trace
    assert ravenlab.diagnose(path).rows == 500


def write_dominated(path: Path, best_at_the_end: int = 1) -> str:
    """Write a trace of 1,500 rows in which `left` is far better than the other arms, in the last 30 % another arm."""
    values = np.random.default_rng(1).normal(scale=0.1, size=(1500, 6))
    values[:1050, 1] += 5.0
    values[1050:, best_at_the_end] += 5.0
    return str(write_csv(path, values, header="top,left,right,front,back,bottom"))


def test_arm_that_dominates_is_recommended(tmp_path: Path) -> None:
    path = write_dominated(tmp_path / "dominated.csv")
    url = f"sqlite:///{tmp_path}/s.sqlite3"
    found = ravenlab.tune(trace=path, horizon=20, storage=url, **SMALL)
    assert found.trace is not None
    assert found.trace.fixed_arm is not None
    assert found.trace.fixed_arm.difference.high < 0.0
    assert (found.verdict.decision, found.verdict.arm) == ("use one arm", "left")
    assert_names(printed("show", found.study, "--storage", url).splitlines()[0], "left")


def test_fixed_arm_is_chosen_on_the_search_rows(tmp_path: Path) -> None:
    path = write_dominated(tmp_path / "reversed.csv", best_at_the_end=2)
    found = ravenlab.tune(trace=path, horizon=20, storage=f"sqlite:///{tmp_path}/s.sqlite3", **SMALL)
    assert found.trace is not None
    assert found.trace.fixed_arm is not None
    assert found.trace.fixed_arm.name == "left"
    assert found.trace.fixed_arm.difference.mean > 0.0
    assert found.verdict.decision != "use one arm"


@pytest.mark.parametrize("scale", [None, 1.0])
def test_class_as_constructed_is_a_baseline_unless_the_scale_is_1(
    scale: float | None, file: Path, tmp_path: Path
) -> None:
    spec = StudySpec.model_validate({"trace": str(file), "scale": scale, **SMALL})
    found = run_study(spec, f"sqlite:///{tmp_path}/s.sqlite3").result
    assert found is not None
    baselines = {baseline.name: baseline.params for baseline in found.versus}
    if scale == 1.0:
        assert list(baselines) == ["defaults"]
    else:
        assert list(baselines) == ["as constructed", "defaults"]
        assert baselines["as constructed"]["alpha0"] == 1.0
        assert baselines["defaults"]["alpha0"] == spec.reward_factor() != 1.0


@pytest.mark.parametrize("scale", [None, 1.0])
def test_validation_reports_its_planned_steps_several_times(scale: float | None, file: Path, tmp_path: Path) -> None:
    spec = StudySpec.model_validate({"trace": str(file), "scale": scale, **SMALL})
    steps: list[float] = []

    class Recording(Listener):
        def validated(self, more: float) -> None:
            steps.append(more)

    run_study(spec, f"sqlite:///{tmp_path}/s.sqlite3", listener=Recording())
    baselines = 1 if scale == 1.0 else 2
    finalists = SMALL["candidates"] + baselines
    selection = 62 * (60 + 4 * 60)
    report = 62 * (80 + 4 * 80)
    # Candidates that are not trials, such as rounded values, are played in addition.
    assert steps.count(selection) >= finalists
    reported = 1 + baselines + len(spec.alternatives())
    assert steps.count(report) == reported
    assert spec.validation_steps() == finalists * selection + reported * report


def test_alternatives_are_measured_on_the_same_windows(file: Path, tmp_path: Path) -> None:
    """They change no other number, and one without parameters that is better is the answer."""
    spec = StudySpec.model_validate({"trace": str(file), "policy": "ucb1", **SMALL})
    alone = run_study(spec, f"sqlite:///{tmp_path}/alone.sqlite3", standalone=False).result
    found = run_study(spec, f"sqlite:///{tmp_path}/s.sqlite3").result
    assert found is not None
    assert alone is not None
    untouched = {"alternatives", "verdict"}
    assert found.model_dump(exclude=untouched) == alone.model_dump(exclude=untouched)
    assert [each.name for each in alone.alternatives] == ["fixed arm"]
    assert [each.name for each in found.alternatives] == ["fixed arm", "raven-auto", "d-raven", "sw-raven"]
    evaluator = Evaluator(spec.changed(policy="sw-raven", space={}))
    values = spec.changed(policy="sw-raven", space={}).resolve_params({})
    (played,) = play_on_trace(evaluator, [values], Stream.REPORT, spec.report)
    sw_raven = found.alternatives[-1]
    assert sw_raven.params == values
    assert sw_raven.difference == pytest.approx(played.regret.windows.mean() - found.regret.mean)
    single = next(each for each in alone.alternatives if each.name == "fixed arm").interval
    together = found.alternatives[0].interval
    assert together.mean == single.mean
    assert together.half_width >= single.half_width


def test_a_better_policy_is_the_answer() -> None:
    rivals = [
        Rival("raven-auto", StudentEstimate(-9.0, 1.0, 50.0), decidable=True),
        Rival("d-raven", StudentEstimate(-12.0, 1.0, 50.0), decidable=False, params={"gamma": 0.99}),
        Rival("sw-raven", StudentEstimate(-1.9, 1.0, 50.0), decidable=True, params={"tau": 9.0}),
    ]
    alternatives = list_alternatives(rivals)
    assert [each.wins for each in alternatives] == [True, False, False]
    spec = StudySpec(scenario="blips", horizon=1000)
    values = spec.resolve_params({})
    report = Report(
        Estimate(mean=100.0, low=90.0, high=110.0, replications=80),
        [BaselineDifference(100.0, Difference(0.0, 0.0, 0.0), conclusive=True)],
        RewardStatistics(mean=0.5, spread=0.2),
        trace=TraceFacts.model_construct(enough=True, fixed_arm=None),
        alternatives=alternatives,
    )
    verdict = judge(spec, ChosenParameters(values), values, trials=100, report=report)
    assert (verdict.decision, verdict.policy) == ("use another policy", "raven-auto")
    facts = make_trace_facts(["a", "b"])
    found = make_recommendation(verdict=verdict, alternatives=alternatives, trace=facts)
    document = recommendation_document(found)
    assert_names(document.answer, "Use raven-auto, which has nothing to set", "raven-ucb")
    table = document.tables[-1]
    assert isinstance(table, Table)
    assert [row[0].split()[0] for row in table.cells] == ["d-raven", "raven-auto,", "sw-raven"]
    assert_names(" ".join(table.columns), "simultaneous 95 % CI")
    assert found.as_object()["alternatives"][0]["name"] == "raven-auto"


def test_history_is_bounded_and_part_of_the_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Windows of 400 of 2,000 rows have one place in the selection segment, and 1,001 in the rows up to its end."""
    path = write_csv(tmp_path / "long.csv", table(rows=2000, arms=2))
    trace = parse_study_spec({"trace": str(path)}).source.open()
    assert isinstance(trace, TraceScenario)
    for windows, selection, report in ((100, 400, 400), (2000, 1001, 1601)):
        assert trace.count_history(400, windows, Stream.SELECTION) == selection
        assert trace.count_history(400, windows, Stream.REPORT) == report
    plan = ["--window=400", "--trials=4", "--replications=10", "--selection=100", "--report=100", "--dry-run"]
    assert run(["tune", "--trace", str(path), *plan]) == 0
    # Four trials, the class as constructed and the defaults are selected; three of them and three policies reported.
    steps = 400 * (4 * 10 + (4 + 2) * (100 + 400) + (1 + 2 + 3) * (100 + 400))
    assert_names(capsys.readouterr().out, f"{steps:,} simulated steps")


@pytest.mark.parametrize(
    ("low", "high", "words"), [(-0.9, -0.1, "tuning did not help"), (-0.9, 0.1, "not significant")]
)
def test_verdict_if_the_defaults_have_less_regret_on_the_report_segment(low: float, high: float, words: str) -> None:
    spec = StudySpec(scenario="blips", horizon=1000)
    excess = Excess(mean=0.5, low=0.2, high=0.8, worlds=200, tied=False, worse=True)
    behind = BaselineDifference(1.0, Difference((low + high) / 2, low, high), conclusive=True)
    report = Report(
        Estimate(mean=1.5, low=1.0, high=2.0, replications=80),
        [behind],
        RewardStatistics(mean=0.5, spread=0.2),
        trace=TraceFacts.model_construct(enough=True, fixed_arm=None),
    )
    choice = ChosenParameters(spec.resolve_params({"alpha0": 0.1}), excess)
    verdict = judge(spec, choice, spec.resolve_params({}), trials=100, report=report)
    assert verdict.decision == "inconclusive"
    assert_names(str(verdict.reason), words, "defaults")
