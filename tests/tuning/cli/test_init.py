"""`ravenlab init`: valid files, and no unrequested overwriting."""

from pathlib import Path

import pytest

from ravenlab.tuning.cli.app import run
from tests.command import refused
from tests.messages import assert_names


def test_study_file_is_valid(here: Path) -> None:
    assert run(["init"]) == 0
    assert run(["validate", "study.toml"]) == 0
    assert run(["init", "other.toml"]) == 0
    assert Path("other.toml").read_text() == Path("study.toml").read_text()
    assert sorted(path.name for path in here.iterdir()) == ["other.toml", "study.toml"]


def test_overwrites_only_with_force(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("mine")
    assert "--force" in refused("init", str(path))
    assert path.read_text() == "mine"
    assert run(["init", str(path), "--force"]) == 0
    assert "[[study]]" in path.read_text()


def test_unwritable_path_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "study.toml"):
        for force in ([], ["--force"]):
            assert_names(refused("init", str(path), *force), path)
    assert list(tmp_path.iterdir()) == []


def test_example_problem_is_written_with_its_truth(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--example", "regions"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["regions-trace.csv", "regions-truth.csv"]
    capsys.readouterr()
    assert "--force" in refused("init", "--example", "regions")
    assert run(["init", "mine.csv", "--example", "regions"]) == 2
    assert run(["init", "--trace", "--example", "regions"]) == 2
