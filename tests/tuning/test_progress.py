"""Progress: bars, lines and the time left."""

import sys

import pytest

from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning import progress
from ravenlab.tuning.progress import COMPILING, Pace, Reporter
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.workers.local import LocalWorkers
from ravenlab.tuning.workers.problem import STEPS_PER_PIECE, Evaluator
from tests.messages import assert_names
from tests.tuning.cli.test_terminals import Screen

SMALL = {"scenario": "blips", "arms": 3, "trials": 10, "replications": 20, "selection": 50, "report": 50}
SHORT, LONG = (StudySpec.model_validate({**SMALL, "horizon": horizon}) for horizon in (100, 1000))


@pytest.fixture
def reporter(monkeypatch: pytest.MonkeyPatch) -> Reporter:
    """A reporter of two studies of different horizons."""
    monkeypatch.setattr(progress, "LINE_INTERVAL", -1.0)
    monkeypatch.setattr(progress, "is_cached", lambda policy: True)
    return Reporter(steps={spec.study_name(): float(spec.simulated_steps()) for spec in (SHORT, LONG)})


def test_lines_of_search_and_validation(reporter: Reporter, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter:
        listener = reporter.child(SHORT)
        listener.begin(SHORT, 0)
        listener.batch(Progress(5, 12.5, 5 * 20 * 100.0))
        listener.validate()
        listener.validated(SHORT.validation_steps() / 2)
        listener.finish()
    first, search, validation, half = capsys.readouterr().err.splitlines()
    assert_names(first, SHORT.study_name(), 10, 20)
    assert_names(search, "5 of 10", "12.5", "left", "all studies")
    assert_names(validation, "validating")
    assert_names(half, "50 %", "left")


def test_the_time_left_for_all_studies_counts_steps(reporter: Reporter) -> None:
    """The second study simulates more than ten times as many steps, so that most of the time is left."""
    name = SHORT.study_name()
    with reporter:
        reporter.overall.updated -= 1.0
        reporter.add_steps(name, SHORT.simulated_steps())
        reporter.add_steps(name, 0.0, done=True)
    left = reporter.overall.seconds_left()
    assert left == pytest.approx(LONG.simulated_steps() / SHORT.simulated_steps(), rel=0.1)
    reporter.add_steps(LONG.study_name(), 0.0, done=True)
    assert reporter.overall.seconds_left() == 0.0


def test_the_first_run_is_announced(
    reporter: Reporter, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with reporter:
        reporter.child(SHORT).begin(SHORT, 0)
        assert COMPILING not in capsys.readouterr().err
        monkeypatch.setattr(progress, "is_cached", lambda policy: False)
        reporter.child(LONG).begin(LONG, 0)
        assert COMPILING in capsys.readouterr().err


def test_the_validation_has_its_own_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    with Reporter() as reporter:
        assert reporter.bars is not None
        listener = reporter.child(SHORT)
        listener.begin(SHORT, 0)
        listener.batch(Progress(10, 1.0, 10 * 20 * 100.0))
        listener.validate()
        listener.validated(SHORT.validation_steps() / 4)
        search, validation = reporter.bars.tasks
        assert (search.completed, search.total) == (10, 10)
        assert validation.description.strip() == "validation"
        assert validation.percentage == pytest.approx(25.0)
        assert validation.fields["count"] == "25 %"
        listener.finish()
        assert validation.finished


def test_recent_work_counts_more() -> None:
    pace = Pace(total=100.0)
    assert pace.seconds_left() is None
    for _ in range(6):
        pace.updated -= 1.0
        pace.add(10.0)
    assert pace.seconds_left() == pytest.approx(4.0, rel=0.05)
    pace.updated -= 10.0
    pace.add(10.0)
    assert pace.seconds_left() == pytest.approx(30.0 / 5.5, rel=0.05)


def test_tuned_entries_of_a_comparison_cost_more() -> None:
    spec = ComparisonSpec(scenario="blips", horizon=100, arms=3, tune=10)
    tuned, plain = (spec.entry_steps("ucb1", setting) for setting in ("tuned", "defaults"))
    assert tuned - plain == spec.search_spec("ucb1").simulated_steps()


def test_an_evaluator_reports_steps_and_gives_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.tuning.workers.problem.STEPS_PER_PIECE", STEPS_PER_PIECE / 1e4)
    candidates: list[Values] = [SHORT.resolve_params({"alpha0": value}) for value in (1.0, 2.0)]
    plain = Evaluator(SHORT, LocalWorkers()).play(candidates, 1, 3, 50)
    evaluator, steps = Evaluator(SHORT, LocalWorkers()), list[float]()
    evaluator.on_steps = steps.append
    assert (evaluator.play(candidates, 1, 3, 50).columns == plain.columns).all()
    assert len(steps) > 1
    assert sum(steps) == 2 * 50 * 100


def test_the_time_left_does_not_count_compilation(
    reporter: Reporter, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "is_cached", lambda policy: False)
    with reporter:
        listener = reporter.child(SHORT)
        listener.begin(SHORT, 0)
        listener.batch(Progress(5, 12.5, 5 * 20 * 100.0))
        listener.batch(Progress(7, 12.5, 2 * 20 * 100.0))
    compiled, search = capsys.readouterr().err.splitlines()[2:]
    assert_names(compiled, "5 of 10")
    assert "left" not in compiled
    assert "steps/s" not in compiled
    assert_names(search, "7 of 10", "left", "steps/s")


def test_worlds_beyond_the_plan_have_no_time_left(reporter: Reporter, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter:
        listener = reporter.child(SHORT)
        listener.begin(SHORT, 0)
        listener.validate()
        listener.validated(2.0 * SHORT.validation_steps())
    line = capsys.readouterr().err.splitlines()[-1]
    assert_names(line, "100 %", "adding worlds")
    assert "left" not in line
