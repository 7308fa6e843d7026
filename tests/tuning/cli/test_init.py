"""`ravenlab init`: valid files, and no unrequested overwriting."""

from pathlib import Path

import pytest

from ravenlab.tuning.cli.app import run
from tests.messages import assert_names


def test_study_file_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    assert run(["validate", "study.toml"]) == 0
    assert run(["init", "other.toml"]) == 0
    assert Path("other.toml").read_text() == Path("study.toml").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.toml", "study.toml"]


def test_overwrites_only_with_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "study.toml"
    path.write_text("mine")
    assert run(["init", str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert run(["init", str(path), "--force"]) == 0
    assert "[[study]]" in path.read_text()


def test_unwritable_path_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "no" / "study.toml"):
        for force in ([], ["--force"]):
            assert run(["init", str(path), *force]) == 2
            assert_names(capsys.readouterr().err, path)
    assert list(tmp_path.iterdir()) == []


def test_example_problem_is_written_with_its_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--example", "regions"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["regions-trace.csv", "regions-truth.csv"]
    capsys.readouterr()
    assert run(["init", "--example", "regions"]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["init", "mine.csv", "--example", "regions"]) == 2
    assert run(["init", "--trace", "--example", "regions"]) == 2
