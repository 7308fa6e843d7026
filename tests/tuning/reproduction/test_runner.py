"""The runner stores pieces, reuses only matching ones, and locks its folder."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock

from ravenlab.common.errors import InputError
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import make_table
from ravenlab.tuning.reproduction import runner
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece, make_context
from ravenlab.tuning.reproduction.progress import ReproductionReporter
from tests.command import refused
from tests.messages import assert_names, raises_naming


class Counting:
    """An experiment of three pieces that counts how often each is run, and can be stopped at one."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.stop_at: str | None = None

    def pieces(self, context: RunContext) -> list[RunPiece]:
        def run(key: str) -> Any:
            def run_piece(context: RunContext) -> PieceData:
                if key == self.stop_at:
                    raise KeyboardInterrupt
                self.ran.append(key)
                return {"value": 1 / 3, "count": context.count(100)}

            return run_piece

        return [RunPiece(f"figure1/{name}", 1.0, run(name)) for name in ("a", "b", "c")]

    def section(self, result: ExperimentResult, reproduction: Any) -> None:
        """No section."""

    def assemble(self, context: RunContext, pieces: dict[str, PieceData]) -> ExperimentResult:
        return ExperimentResult({"numbers": make_table([{"piece": key, **each} for key, each in pieces.items()])})


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    experiment = Counting()
    monkeypatch.setattr(runner, "find_experiment", lambda name: experiment)
    return experiment


def test_an_interrupted_run_resumes(tmp_path: Path, counting: Counting) -> None:
    counting.stop_at = "b"
    with pytest.raises(KeyboardInterrupt):
        runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    counting.stop_at = None
    resumed = runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    assert counting.ran == ["a", "b", "c"]
    complete = runner.reproduce(["figure1"], make_context(tmp_path / "other"), tmp_path / "other")
    assert resumed.as_json() == complete.as_json()


@pytest.mark.parametrize("fields", [{"seed": 1}, {"replications": 25}])
def test_pieces_with_other_settings_are_run_again(tmp_path: Path, counting: Counting, fields: dict[str, Any]) -> None:
    runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    runner.reproduce(["figure1"], make_context(tmp_path, **fields), tmp_path)
    assert counting.ran == ["a", "b", "c"] * 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"fingerprint": "x", "data": {}}', '{"data": 3}', "\x00"])
def test_a_damaged_piece_is_run_again(tmp_path: Path, counting: Counting, text: str) -> None:
    first = runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    (tmp_path / "pieces/figure1/b.json").write_text(text)
    again = runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    assert counting.ran == ["a", "b", "c", "b"]
    assert again.as_json() == first.as_json()


def test_a_folder_is_used_by_one_reproduction_at_a_time(tmp_path: Path, counting: Counting) -> None:
    with FileLock(tmp_path / ".lock"), raises_naming(InputError, tmp_path):
        runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    assert counting.ran == []


def test_csv_files_replace_those_of_earlier_runs(tmp_path: Path, counting: Counting, monkeypatch: Any) -> None:
    page = "ravenlab.dashboards.pages.reproduction.render_reproduction"
    monkeypatch.setattr(page, lambda result, sections: "<!doctype html>")
    document = runner.reproduce(["figure1"], make_context(tmp_path), tmp_path)
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "figure2-old.csv").write_text("old")
    runner.write_reproduction(document, tmp_path)
    assert [path.name for path in (tmp_path / "csv").iterdir()] == ["figure1-numbers.csv"]
    written = json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))
    assert written["experiments"]["figure1"]["tables"]["numbers"]["rows"][0][1] == 1 / 3
    assert (tmp_path / "csv/figure1-numbers.csv").read_text().splitlines()[1] == f"figure1/a,{1 / 3},100"


def test_progress_estimates_remaining_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("ravenlab.tuning.reproduction.progress.time", clock)
    pieces = [
        RunPiece(f"figure1/{place}", seconds, lambda context: {}) for place, seconds in enumerate((1.0, 3.0, 6.0))
    ]
    with ReproductionReporter() as reporter:
        listener = reporter.listener()
        listener.begin(pieces, [])
        for piece in pieces[:2]:
            listener.start_piece(piece)
            now[0] += 10 * piece.seconds
            listener.finish_piece(piece)
        listener.start_piece(pieces[2])
    assert_names(capsys.readouterr().err, "figure1/2", "2 of 3", "1 min 0 s")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["figure9"], ["'figure9'"]),
        (["figure1", "--protocol", "both!"], ["protocol", "published", "defined", "both", "'both!'"]),
        (["figure1", "--replications", "1"], ["replications"]),
        (["figure1", "--replications", "many"], ["--replications", "'many'"]),
        (["figure1", "--seed", "-1"], ["seed"]),
        (["figure1", "--backend", "dask"], ["--backend", "threads", "loky", "'dask'"]),
        (["figure1", "--jobs", "0"], ["jobs", "1"]),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], names: list[str], tmp_path: Path) -> None:
    assert_names(refused("reproduce", *arguments, "-o", str(tmp_path / "out")), *names)
    assert not (tmp_path / "out").exists()


def test_a_file_is_refused_as_folder(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    for folder in (place, place / "below"):
        assert str(place) in refused("reproduce", "figure1", "-o", str(folder))
    assert place.read_text() == "mine"
