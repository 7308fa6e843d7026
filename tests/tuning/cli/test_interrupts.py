"""Interrupts: the last line states what is saved, and a rerun resumes."""

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli import app
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.progress import ComparisonProgress, StudyProgress
from ravenlab.tuning.reproduction.progress import ReproductionReporter
from tests.messages import assert_names
from tests.studies.examples import url

Captured = pytest.CaptureFixture[str]
PROBLEM = ["--horizon=100", "--arms=3", "--jobs=1", "--quiet"]
SEARCH = ["--trials=12", "--batch=4", "--replications=4", "--selection=20", "--report=20"]


def interrupt_after(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, count: int) -> None:
    """Raise an interrupt after the given number of calls of a method."""
    original, remaining = getattr(owner, name), [count]

    def call_or_interrupt(self: Any, *args: Any) -> None:
        original(self, *args)
        remaining[0] -= 1
        if remaining[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, call_or_interrupt)


def count_trials(storage_url: str, name: str) -> int:
    storage = open_storage(storage_url, create=False)
    try:
        return storage.get_n_trials(storage.get_study_id_from_name(name))
    finally:
        storage.engine.dispose()


@pytest.mark.parametrize(
    ("words", "owner", "method", "study", "saved"),
    [
        (["tune", "blips", *SEARCH], StudyProgress, "batch", "raven-ucb/blips/T100/K3", "8 of 12 trials"),
        (["grid", "blips", "--replications=4"], StudyProgress, "batch", "grid/raven-ucb/blips/T100/K3", "cells"),
        (
            ["compare", "blips", "--policies=ucb1,raven-ucb,sw-ucb", "--tune=0", "--replications=4", "--name=fight"],
            ComparisonProgress,
            "batch",
            "fight",
            "2 of 3 entries",
        ),
    ],
)
def test_interrupt_states_what_is_saved(
    words: list[str],
    owner: type,
    method: str,
    study: str,
    saved: str,
    here: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage_url = url(here / "s.sqlite3")
    arguments = [*words, *PROBLEM, f"--storage={storage_url}"]
    with monkeypatch.context() as patch:
        interrupt_after(patch, owner, method, 1 if words[0] == "grid" else 2)
        assert run(arguments) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert saved in line
    assert count_trials(storage_url, study) > 0
    assert_names(line, study, count_trials(storage_url, study))
    assert not list(here.glob("comparison/*"))
    if words[0] == "tune":  # tests/faults resumes the other commands
        assert run(arguments) == 0


def test_interrupted_robust_search(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    storage_url = url(tmp_path / "s.sqlite3")
    interrupt_after(monkeypatch, StudyProgress, "batch", 4)
    assert run(["tune", "blips", "stationary", "--robust", *SEARCH, *PROBLEM, f"--storage={storage_url}"]) == 130
    (line,) = capsys.readouterr().err.splitlines()
    assert_names(line, "12 of 12", "raven-ucb/blips/T100/K3", "4 of 12", "raven-ucb/stationary/T100/K3")


def test_interrupt_before_the_first_trial(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, StudyProgress, "begin", 1)
    assert run(["tune", "blips", *SEARCH, *PROBLEM, f"--storage={url(tmp_path / 's.sqlite3')}"]) == 130
    (line,) = capsys.readouterr().err.splitlines()
    assert not re.search(r"\d+ of \d+", line)


def test_interrupted_reproduction(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(monkeypatch, ReproductionReporter, "_finish_piece", 1)
    assert run(["reproduce", "figure1", "--replications=2", "--jobs=1", "--quiet", f"-o{tmp_path / 'paper'}"]) == 130
    line = capsys.readouterr().err
    assert "1 of " in line
    assert not (tmp_path / "paper" / "reproduction.html").exists()


def test_interrupt_writes_no_partial_file(here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:

    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ravenlab.tuning.page_files._load_data", interrupt)
    assert run(["report"]) == 130
    (line,) = capsys.readouterr().err.splitlines()
    assert_names(line, "report.html")
    assert list(here.iterdir()) == []
    (here / "report.html").write_text("before")
    assert run(["report"]) == 130
    assert_names(capsys.readouterr().err, "report.html")
    assert (here / "report.html").read_text() == "before"


def test_failure_caused_by_an_interrupt_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A KeyboardInterrupt raised in a callback from C is lost, and the caller fails with another error."""

    def fail_when_interrupted(_: object) -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            raise RuntimeError("no answer") from None
        return 0

    monkeypatch.setattr(app, "run", fail_when_interrupted)
    with pytest.raises(SystemExit) as exit_:
        app.main()
    assert exit_.value.code == app.INTERRUPTED
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_failure_without_an_interrupt_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "run", lambda _: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        app.main()
