"""Terminals: colors, encodings, narrow tables, and hints on the next command."""

import json
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from ravenlab.common.documents import Table
from ravenlab.common.terminal import print_document, print_line, print_table
from ravenlab.studies.results.documents import recommendations_documents
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.cli.output import command_name
from ravenlab.tuning.screen import supports_bars
from tests.command import refused, run_command
from tests.messages import assert_names
from tests.project import ROOT, environment
from tests.studies.examples import make_recommendation, store_recommendations, store_study, url

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


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> str:
    """URL of a storage with five recommendations, and one study with a long name."""
    names = ("variance-drift", "blips", "periodic", "gradual-drift", "localized-jump")
    results = [make_recommendation(scenario=name, study=f"raven-ucb/{name}/T1000/K10") for name in names]
    long = make_recommendation(study=f"mine/{'a-long-name-' * 5}")
    return store_recommendations(tmp_path_factory.mktemp("several") / "s.sqlite3", *results, long)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace whose first arm drifts."""
    rows = np.random.default_rng(1).normal(size=(400, 3))
    rows[:, 0] += np.linspace(0.0, 4.0, 400)
    path = tmp_path_factory.mktemp("trace") / "trace.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="", fmt="%.4f")
    return path


def run_in_terminal(words: list[str], width: int, **variables: str) -> str:
    """Run a command in a pseudo-terminal of this width, and return what it shows."""
    driver, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, width))
    command = [sys.executable, "-c", "import sys; from ravenlab.tuning.cli.app import main; main()", *words]
    environ = {**environment(TERM="xterm-256color", **variables)}
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        if name not in variables:
            environ.pop(name, None)
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=ROOT, env=environ)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(driver, 65536)
        except OSError:  # Linux ends like this
            break
        if not part:
            break
        shown += part
    os.close(driver)
    assert process.wait(timeout=60) == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


def without_styles(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize(
    "command",
    ["studies", "show raven-ucb/blips", "show raven-ucb/blips --all", "list policies", "list scenarios", "diagnose"],
)
def test_nothing_is_wider_than_the_terminal(command: str, width: int, several: str, trace: Path) -> None:
    words = command.split()
    words += [f"--storage={several}"] if words[0] in ("studies", "show") else []
    words += [str(trace), "--halves=0", f"--study-file={trace}.toml"] if words[0] == "diagnose" else []
    shown = without_styles(run_in_terminal(words, width))
    assert max(map(cell_len, shown.splitlines())) <= width
    whole = run_command(words)[1]  # in a pipe
    assert max((cell_len(line) for line in whole.splitlines() if set(line) & set("│┃┏└")), default=0) <= 100
    for name in re.findall(r"(?:raven-ucb|mine)/[\w/-]+", whole):
        assert name in shown


def test_decisions_are_bold_and_warnings_yellow(several: str) -> None:
    words = ["show", "raven-ucb/blips", f"--storage={several}"]
    shown = run_in_terminal(words, 80)
    assert "\x1b[1mUse α₀ 0.25, β₀ 4, ε 0.0001\x1b[0m" in shown
    assert "\x1b[33mThe value of ε is at the edge" in shown
    assert "\x1b[2mMean regret" in shown
    assert not COLOR.search(run_in_terminal(words, 80, NO_COLOR="1"))
    assert "\x1b" not in run_command(words)[1]


def test_warnings_on_stderr_are_yellow() -> None:
    words = ["simulate", "blips", "--horizon=100", "--arms=3", "--set=every=500", "--replications=2", "--jobs=1"]
    assert "\x1b[33mravenlab: warning: " in run_in_terminal(words, 80)
    assert not COLOR.search(run_in_terminal(words, 80, NO_COLOR="1"))
    assert "\nravenlab: warning: " in f"\n{run_command(words)[2]}"


def test_a_run_of_many_studies_states_each_result_once_and_ends_with_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    scenarios = ("variance-drift", "blips", "periodic", "gradual-drift")
    results = [make_recommendation(scenario=name, study=f"raven-ucb/{name}") for name in scenarios]
    verdicts = [{"decision": decision} for decision in ("keep the defaults", "inconclusive")]
    kept, undecided = (results[0].verdict.model_copy(update={**verdict, "set": []}) for verdict in verdicts)
    results[1] = results[1].model_copy(update={"verdict": kept, "edge": []})
    results[2] = results[2].model_copy(update={"verdict": undecided, "edge": []})
    for width in (100, 300):
        monkeypatch.setenv("COLUMNS", str(width))
        for document in recommendations_documents(results):
            print_document(document)
        out = capsys.readouterr().out
        table, _, end = out.rpartition("┘")
        assert [table.count(result.study) for result in results] == [1, 1, 1, 1]
        assert_names(table, "Keep the defaults", "Inconclusive", "Use these values", "α₀ 0.25, β₀ 4, ε 0.0001")
        assert "4 studies: 2 better than the defaults, 1 keeps the defaults, 1 inconclusive.\n" in end
        assert "raven-ucb/variance-drift (ε)" in end
        assert ("Columns omitted" in end) == (width == 100)
