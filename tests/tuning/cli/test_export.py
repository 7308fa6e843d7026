"""`ravenlab export`: output, files and invalid input."""

import json
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from ravenlab.policies.engine.base import Policy
from ravenlab.studies.export import FORMATS, export
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli.app import run
from tests.command import printed, refused
from tests.messages import assert_names
from tests.project import python
from tests.requirements import skip_or_fail
from tests.studies.examples import WILD, make_recommendation, store_recommendations, store_study

RECOMMENDATIONS = [
    make_recommendation(scenario="blips", study=WILD),
    make_recommendation(),
    make_recommendation(horizon=10_000),
]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return store_recommendations(tmp_path / "s.sqlite3", *reversed(RECOMMENDATIONS))


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_same_bytes_on_stdout_and_in_a_file(form: str, storage: str, tmp_path: Path, capfdbinary: object) -> None:
    path = tmp_path / "out"
    words = ["export", "--format", form, "--storage", storage]
    assert run(words) == 0
    first = capfdbinary.readouterr().out  # type: ignore[attr-defined]
    assert run(words) == 0
    assert capfdbinary.readouterr().out == first == export(RECOMMENDATIONS, form).encode()  # type: ignore[attr-defined]
    assert run([*words, "-o", str(path)]) == 0
    assert path.read_bytes() == first


def test_storage_from_the_environment(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAVENLAB_STORAGE", storage)
    document = json.loads(printed("export", "raven-ucb/*"))
    assert [entry["horizon"] for entry in document["recommendations"]] == [1000, 10_000]


def test_study_names_never_become_paths(storage: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert json.loads(printed("export", WILD, "--storage", storage))["recommendations"][0]["study"] == WILD
    assert sorted(tmp_path.iterdir()) == before


def test_exported_file_can_be_loaded(storage: str, tmp_path: Path) -> None:
    path = tmp_path / "recommended.json"
    assert_names(printed("export", "--storage", storage, "-o", str(path)).replace("\n", ""), len(RECOMMENDATIONS))
    assert Policy.load(path, scenario="variance-drift", horizon=10_000).values["alpha0"] == 0.25


def test_studies_without_recommendation_are_named(storage: str, capsys: Captured) -> None:
    opened = open_storage(storage, create=False)
    store_study(opened, StudySpec(scenario="periodic", horizon=1000), 1)
    for words, count in ((["export", "raven-ucb/*"], 2), (["export"], 3)):
        assert run([*words, "--storage", storage]) == 0
        captured = capsys.readouterr()
        (line,) = captured.err.splitlines()
        assert_names(line, "'raven-ucb/periodic/T1000/K10'")
        assert len(json.loads(captured.out)["recommendations"]) == count
    assert run(["export", "raven-ucb/periodic", "--storage", storage]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert_names(captured.err, "'raven-ucb/periodic/T1000/K10'")


def test_invalid_input(storage: str, tmp_path: Path) -> None:
    assert_names(refused("export", "--format", "jsn", "--storage", storage), "'json'")
    assert_names(refused("export", "raven-ucb/blip", "--storage", storage), "'raven-ucb/blip'")
    assert_names(refused("export", "raven", "--storage", storage), "2")
    for path in (tmp_path / "no" / "file", tmp_path):
        assert_names(refused("export", "--storage", storage, "-o", str(path)), path)


COMMANDS = [
    ["export"],
    ["studies"],
    ["show", "x"],
    ["delete", "x", "--yes"],
    ["copy", "x", "--to", "sqlite:///unused.sqlite3"],
    ["recommend", "random-walk", "--horizon", "1000", "--no-search"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_unusable_storages_are_refused(words: list[str], here: Path) -> None:
    expected = "ravenlab tune random-walk" if words[0] == "recommend" else "none.sqlite3"
    assert expected in refused(*words, "--storage", "sqlite:///none.sqlite3")
    Path("text.sqlite3").write_text("not a database at all " * 100)
    assert "text.sqlite3" in refused(*words, "--storage", "sqlite:///text.sqlite3")
    with sqlite3.connect("foreign.sqlite3") as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    assert "foreign.sqlite3" in refused(*words, "--storage", "sqlite:///foreign.sqlite3")
    store_recommendations(Path("torn.sqlite3"), *RECOMMENDATIONS)
    torn = Path("torn.sqlite3").read_bytes()
    Path("torn.sqlite3").write_bytes(torn[:4096] + b"\x55" * (len(torn) - 4096))
    assert "torn.sqlite3" in refused(*words, "--storage", "sqlite:///torn.sqlite3")
    assert_names(refused(*words, "--storage", "no url"), "storage")
    Path("folder").mkdir()
    assert "folder" in refused(*words, "--storage", "sqlite:///folder")
    assert not Path("none.sqlite3").exists()
    assert not Path("unused.sqlite3").exists()


def test_read_only_folder_can_be_read_but_not_written() -> None:
    """The command runs as an ordinary user, since root ignores permissions; root imports the modules before."""
    if os.geteuid() != 0:
        skip_or_fail("only root can become another user")
    code = (
        "import json, os, sys; import filelock; from tests.command import run_command\n"
        "warm_up, commands = sys.argv[1], json.loads(sys.argv[2])\n"
        "for words in (['export'], ['copy', 'none', '--to', warm_up], ['delete', 'none']):\n"
        "    run_command([*words, '--storage', warm_up])\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "print(json.dumps([run_command(words) for words in commands]))"
    )
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "fixed #1 ä"
        folder.mkdir()
        read_only = store_recommendations(folder / "s.sqlite3", *RECOMMENDATIONS)
        warm_up = store_recommendations(Path(name) / "warm-up.sqlite3", *RECOMMENDATIONS)
        (folder / "s.sqlite3").chmod(0o444)
        folder.chmod(0o555)
        commands = [
            ["export"],
            ["export", "-o", str(folder / "out.json")],
            ["delete", "*", "--yes"],
            ["copy", WILD, "--to", read_only],
        ]
        words = json.dumps([[*command, "--storage", read_only] for command in commands])
        done = python("-c", code, warm_up, words, folder=Path(name))
        assert done.returncode == 0, done.stderr
        exported, *rejected = json.loads(done.stdout)
        assert exported == [0, export(RECOMMENDATIONS, "json"), ""]
        for status, _, err in rejected:
            assert status == 2, err
            (line,) = err.splitlines()
            assert str(folder) in line
        assert [path.name for path in folder.iterdir()] == ["s.sqlite3"]
