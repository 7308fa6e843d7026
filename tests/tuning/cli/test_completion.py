"""Shell completion: values, stored names without side effects, and a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli import app
from ravenlab.tuning.cli.completion import join_bash_words, stored_names
from tests.project import ROOT
from tests.requirements import skip_or_fail
from tests.studies.examples import store_study, url

Captured = pytest.CaptureFixture[str]


def complete_line(line: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch, shell: str = "bash") -> list[str]:
    words = ["ravenlab", *line.split(" ")]
    monkeypatch.setenv(app.COMPLETION, f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"ravenlab {line}")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    join_bash_words()
    capsys.readouterr()
    assert app.run([]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tu", ["tune"]),
        ("list sc", ["scenarios"]),
        ("tune variance", ["variance-drift"]),
        ("tune blips+peri", ["blips+periodic"]),
        ("tune --samp", ["--sampler"]),
        ("tune --sampler cm", ["cmaes"]),
        ("tune --sampler = cm", ["cmaes"]),
        ("tune --pruner r", ["race"]),
        ("tune --policy raven", ["raven-auto", "raven-ucb"]),
        ("tune --study qu", ["quick"]),
        ("validate log", ["logistics"]),
        ("simulate blips --noise stu", ["student-t"]),
        ("compare blips --policies ucb1,raven", ["ucb1,raven-auto", "ucb1,raven-ucb"]),
        ("export --format la", ["latex"]),
        ("reproduce figure2 tab", ["table1", "table3"]),
        ("grid blips --cluster l", ["local"]),
    ],
)
def test_values_are_completed(
    line: str, expected: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert complete_line(line, capsys, monkeypatch) == expected


def test_zsh_and_fish_formats(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert '"cmaes"' in " ".join(complete_line("tune --sampler cm", capsys, monkeypatch, "zsh"))
    assert complete_line("tune --sampler cm", capsys, monkeypatch, "fish") == ["cmaes"]


def test_completing_stored_names_leaves_no_files(here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete_line("show r", capsys, monkeypatch) == []
    assert complete_line("show --storage nonsense://x r", capsys, monkeypatch) == []
    assert list(here.iterdir()) == []
    for file in ("studies.sqlite3", "other.sqlite3"):
        storage = open_storage(url(here / file), create=True)
        store_study(storage, StudySpec(scenario="blips", horizon=1000, trials=1, name=f"mine/{file}"), 1)
        storage.remove_session()
        storage.engine.dispose()
    before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
    assert complete_line("show mi", capsys, monkeypatch) == ["mine/studies.sqlite3"]
    assert complete_line("delete --storage sqlite:///other.sqlite3 mi", capsys, monkeypatch) == ["mine/other.sqlite3"]
    assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before


def test_stored_names_include_the_write_ahead_log(tmp_path: Path) -> None:
    """Names that are still in the write-ahead log of a writer are completed."""
    storage_url = url(tmp_path / "s.sqlite3")
    storage = open_storage(storage_url, create=True)
    store_study(storage, StudySpec(scenario="blips", horizon=1000, trials=1, name="mine"), 1)
    assert (tmp_path / "s.sqlite3-wal").exists()
    assert stored_names(storage_url) == ["mine"]
    storage.engine.dispose()


def test_printed_script_completes_a_line_in_bash() -> None:
    if shutil.which("bash") is None:
        skip_or_fail("bash is not installed")
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import ravenlab; ravenlab.main()"
    script = f"""
ravenlab() {{ {sys.executable} -c {code!r} "$@"; }}
export -f ravenlab
eval "$(_RAVENLAB_COMPLETE=source_bash ravenlab)"
COMP_WORDS=(ravenlab tune --noise = stu); COMP_CWORD=4
_ravenlab_completion ravenlab
echo "${{COMPREPLY[@]}}"
"""
    completed = subprocess.run(
        ["bash", "--norc", "-c", script.replace("env ", "")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert completed.stdout.strip() == "student-t", completed.stderr
