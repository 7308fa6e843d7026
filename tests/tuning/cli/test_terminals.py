"""Terminals: colors, encodings, narrow tables, and hints on the next command."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_line, print_table
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.cli.output import command_name
from ravenlab.tuning.screen import supports_bars
from tests.command import refused
from tests.messages import assert_names
from tests.project import ROOT, environment
from tests.studies.examples import make_recommendation, store_study, url

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def storage_url(tmp_path: Path) -> str:
    """URL of a storage with a study whose name is not ASCII."""
    location = url(tmp_path / "s.sqlite3")
    storage = open_storage(location, create=True)
    store_study(
        storage, StudySpec(scenario="variance-drift", horizon=1000, trials=4, name="α₀-Größe"), 4, make_recommendation()
    )
    storage.remove_session()
    storage.engine.dispose()
    return location


def test_terminal_without_unicode(storage_url: str) -> None:
    """Help pages and tables are transliterated; JSON is not."""
    code = (
        "import ravenlab.tuning.cli.app as c\n"
        "from ravenlab.studies.symbols import use_ascii_where_needed\n"
        "use_ascii_where_needed()\n"
        f"for words in ['grid --help', 'studies --storage={storage_url}', 'show α₀ --storage={storage_url}']:\n"
        "    assert c.run(words.split()) == 0\n"
        "print('json:', flush=True)\n"
        f"assert c.run(['studies', '--json', '--storage={storage_url}']) == 0\n"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        timeout=60,
        check=False,
        cwd=ROOT,
        env=environment(PYTHONIOENCODING="ascii", LC_ALL="C"),
    )
    assert completed.returncode == 0, completed.stderr
    tables, _, document = completed.stdout.partition(b"json:\n")
    text = tables.decode("ascii")
    assert "alpha0" in text
    assert "alpha0-Grosse" in text.replace("Gro?e", "Grosse")
    assert json.loads(document.decode("utf-8"))[0]["name"] == "α₀-Größe"


class Screen:
    """A stream that simulates a terminal."""

    def __init__(self) -> None:
        self.text = ""
        self.encoding = "utf-8"

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Do nothing, since nothing is buffered."""

    def isatty(self) -> bool:
        return True


def replace_stdout(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Replace stdout by a color terminal of 80 columns."""
    screen = Screen()
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", screen)
    return screen


COLOR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|9\d|38;[\d;]+)m")


def test_colors_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = replace_stdout(monkeypatch)
    assert run(["tune", "--help"]) == 0
    assert COLOR.search(screen.text)
    screen.text = ""
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["tune", "--help"]) == 0
    assert not COLOR.search(screen.text)
    assert "--horizon" in screen.text
    screen.text = ""
    monkeypatch.setenv("TERM", "dumb")
    assert run(["list", "studies"]) == 0
    assert "\x1b" not in screen.text


def test_dumb_terminal_gets_lines_instead_of_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    assert supports_bars()
    monkeypatch.setenv("TERM", "dumb")
    assert not supports_bars()


def test_narrow_terminals_do_not_break_names(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = replace_stdout(monkeypatch)
    columns = ["study", "use", "regret"]
    row = ["raven-ucb/variance-drift/T10000/K10", "α₀ 1, β₀ 1, ε 0.1", "1 (0 to 2)"]
    print_table(Table(columns, [row], "Title", text=columns, narrow="stack"))
    assert "│" in screen.text
    screen.text = ""
    monkeypatch.setenv("COLUMNS", "50")
    print_table(Table(columns, [row], "Title", text=columns, narrow="stack"))
    assert [line.split() for line in re.sub(r"\x1b\[[\d;]*m", "", screen.text).splitlines()] == [
        ["Title"],
        [row[0]],
        ["use", *row[1].split()],
        ["regret", *row[2].split()],
    ]
    screen.text = ""
    print_table(Table(columns, [row], "Title", text=columns, narrow="cut"))
    table, _, below = screen.text.rpartition("┘")
    assert "regret" not in table
    assert_names(below, "regret")


@pytest.mark.parametrize("mode", ["wrap", "stack", "list", "cut"])
@pytest.mark.parametrize("width", [40, 60, 80])
def test_lines_break_between_words_only(mode: Any, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = replace_stdout(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(width))
    title = "A title of several words that is longer than forty columns"
    columns = ["study", "state", "meaning of the parameters"]
    row = ["raven-ucb/blips/T10000/K10", "recommended", "at regular intervals all arms change temporarily"]
    line = f"{row[2]}, then return to their previous values"
    print_table(Table(columns, [row], title, text=columns, narrow=mode))
    print_line(line)
    text = re.sub(r"\x1b\[[\d;]*m", "", screen.text)
    assert max(map(len, text.splitlines())) <= width
    omitted = f"Columns omitted for lack of space: {', '.join(columns)}. Widen the terminal or use --json."
    known = " ".join([title, *columns, *row, line, omitted])
    words = re.findall(r"[\w/-]+", text)
    assert set(words) <= set(re.findall(r"[\w/-]+", known))
    if mode != "cut":
        assert set(" ".join(row).split()) <= set(words)


def test_error_messages_wrap_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    line = refused("tune", "blipz")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    assert run(["tune", "blipz"]) == 2
    assert max(map(len, screen.text.splitlines())) <= 60
    assert screen.text.split() == line.split()


def test_printed_commands_can_be_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.argv", ["my env/bin/ravenlab", "tune"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_name() == "'my env/bin/ravenlab'"
    (tmp_path / "ravenlab").write_text("#!/bin/sh\n")
    (tmp_path / "ravenlab").chmod(0o755)
    assert command_name() == "ravenlab"


def test_tune_prints_next_steps(storage_url: str, capsys: Captured) -> None:
    small = ["--horizon=100", "--arms=3", "--trials=2", "--replications=2", "--selection=9", "--report=9", "--jobs=1"]
    arguments = ["tune", "blips", *small, f"--storage={storage_url}"]
    assert run(arguments) == 0
    err = capsys.readouterr().err
    assert_names(err, f"ravenlab export raven-ucb/blips/T100/K3 --storage {storage_url} -o recommended.json")
    for option in ("--quiet", "--json"):
        assert run([*arguments, option]) == 0
        assert "Next" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        (["tune"], 2, ["blips"]),
        (["grid"], 2, ["blips"]),
        (["export"], 2, ["ravenlab tune"]),
        (["studies"], 2, ["ravenlab tune"]),
        (["show", "x"], 2, ["ravenlab tune"]),
        (["report"], 0, ["ravenlab tune"]),
        (["dashboard"], 2, ["ravenlab tune"]),
    ],
)
def test_commands_without_studies_point_to_tune(
    words: list[str], code: int, names: list[str], here: Path, capsys: Captured
) -> None:
    assert run(words) == code
    assert_names(capsys.readouterr().err, *names)
