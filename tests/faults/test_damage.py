"""Damaged and foreign storages: commands print one line and leave the file unchanged.

A flipped bit in free space or in a number goes unnoticed, and a changed value may be valid, so a command may succeed.
The tests assert: no exception; exit code 0, 1 or 2, and one line if it is not 0; a command that only reads, or that is
refused, does not change the file. The exception are bytes of the header, since a driver first turns on SQLite's
write-ahead log.
"""

import faulthandler
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import optuna
import pytest

from ravenlab.dashboards.optuna_dashboard.server import DashboardServer
from tests.command import printed, run_command
from tests.faults.damage import KINDS, write_damaged
from tests.faults.template import COMPARE, GRID, ROBUST, SMALL_TUNE, make_storage
from tests.messages import assert_names
from tests.project import python

COMMANDS_RUN = int(os.environ.get("RAVENLAB_DAMAGED", "300"))
"""Number of commands, each on a storage with other damage."""
MAX_SECONDS = 60  # of a command; a signal then has to end it
END_SECONDS = 90  # after which the process is ended if the signal did not end the command
MAX_KILOBYTES = 10**6  # of memory that a command may add to this process

READ_COMMANDS = [
    ["studies"],
    ["show", "tuned"],
    ["show", "cells", "--json"],
    ["export"],
    ["show", "worlds"],
    ["show", "compared"],
    ["studies", "--json"],
    ["recommend", "blips", "--horizon=20", "--arms=3", "--no-search"],
]
TUNE = [*SMALL_TUNE, "--name=tuned"]
WRITE_COMMANDS = [
    ["copy", "*", "--to=sqlite:///copied.sqlite3"],  # locks its source, which sets the journal mode
    TUNE,
    [*TUNE, "--trials=5"],
    [*ROBUST, "--trials=4"],
    GRID,
    [*COMPARE, "-ocompared"],
    ["delete", "tuned", "--yes"],
]
SLOW_COMMANDS = [["report"], ["doctor"], ["dashboard", "--port=0"]]
READ_COMMANDS += SLOW_COMMANDS[:2]
WRITE_COMMANDS += SLOW_COMMANDS[2:]
COMMANDS = [*READ_COMMANDS, *WRITE_COMMANDS]
QUICK_COMMANDS = [words for words in COMMANDS if words not in SLOW_COMMANDS]
COMMANDS_PER_TEST = len(QUICK_COMMANDS) + 1  # and one slow command in rotation
assert math.gcd(COMMANDS_PER_TEST + 1, len(KINDS)) == 1, "every command gets every kind of damage in turn"


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("intact") / "studies.sqlite3"
    make_storage(path)
    return path


@pytest.fixture(autouse=True)
def _no_blocking_calls(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setattr(DashboardServer, "serve_forever", lambda self: None)


JOURNAL_BYTES = (slice(18, 20), slice(24, 28), slice(92, 100))
"""Bytes of the SQLite header with the journal mode and the change counter, which a driver sets first."""


def storage_bytes(path: Path, words: list[str]) -> bytes:
    """Return the bytes of a storage; for commands that write, without its journal mode."""
    content = bytearray(path.read_bytes())
    if words in WRITE_COMMANDS:
        for part in JOURNAL_BYTES:
            content[part] = bytes(len(content[part]))
    return bytes(content)


def run_and_check(words: list[str], path: Path) -> tuple[int, str]:
    """Run a command on a storage, and check that it fails with one line and without changing the file."""
    before = storage_bytes(path, words)
    code, _, err = run_command(words)
    if code and words[0] != "doctor":  # its exit code 1 means that its table lists problems
        (line,) = err.splitlines()
        assert line.startswith("ravenlab: "), (words, err)
    assert "Traceback" not in err
    log = path.with_name(f"{path.name}-wal")
    if code or words in READ_COMMANDS:
        assert storage_bytes(path, words) == before, (words, err)
        assert not log.exists() or log.stat().st_size == 0
    return code, err


@contextmanager
def limits() -> Iterator[None]:
    """Interrupt a block that takes too long, and fail if it takes too much memory.

    A block that cannot be interrupted ends the process with a traceback.
    """

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the present size
    before = peak_kilobytes()
    handler = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(MAX_SECONDS)
    faulthandler.dump_traceback_later(END_SECONDS, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
    assert peak_kilobytes() - before < MAX_KILOBYTES


def peak_kilobytes() -> int:
    """Return the largest memory of this process since the peak was reset."""
    match = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1])


def test_limits_notice_memory_below_an_earlier_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """The highest memory of a process so far, as the system reports it, hides later allocations."""
    monkeypatch.setattr(sys.modules[__name__], "MAX_KILOBYTES", 50_000)
    bytearray(b"x") * 200_000_000
    with limits():
        bytearray(b"x") * 20_000_000
    with pytest.raises(AssertionError), limits():
        bytearray(b"x") * 100_000_000


def test_command_that_cannot_be_interrupted_ends_the_process() -> None:
    code = """
from tests.faults import test_damage
test_damage.MAX_SECONDS, test_damage.END_SECONDS = 1, 2
with test_damage.limits():
    while True:
        try:
            while True:
                pass
        except KeyboardInterrupt:
            pass
"""
    done = python("-c", code)
    assert done.returncode == 1
    assert "Timeout" in done.stderr


@pytest.mark.parametrize("seed", range(-(-COMMANDS_RUN // COMMANDS_PER_TEST)))
def test_damaged_storage(seed: int, intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    for turn, words in enumerate([*QUICK_COMMANDS, SLOW_COMMANDS[seed % len(SLOW_COMMANDS)]]):
        for old in tmp_path.glob("*.sqlite3*"):
            old.unlink()
        damage = write_damaged(intact, path, seed * (COMMANDS_PER_TEST + 1) + turn)
        try:
            with limits():
                code, err = run_and_check(words, path)
        except Exception as error:
            raise AssertionError((words, damage)) from error
        failure = 1 if words[0] == "doctor" else 2
        refused = damage.startswith(("cut", "schema"))
        assert code in ((failure,) if refused else (0, 1, 2)), (words, damage, err)


def _another_application(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


def _half_of_the_tables(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        for name in ("studies", "trials", "version_info"):
            connection.execute(f"CREATE TABLE {name} (name TEXT)")
    connection.close()


def _no_version(path: Path) -> None:
    optuna.storages.RDBStorage(f"sqlite:///{path}").engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM version_info")
        connection.execute("DELETE FROM alembic_version")
    connection.close()


def _a_new_version(path: Path) -> None:
    optuna.storages.RDBStorage(f"sqlite:///{path}").engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'v99.0.0.a'")
    connection.close()


FOREIGN: dict[str, Callable[[Path], object]] = {
    "another application": _another_application,
    "half of the tables": _half_of_the_tables,
    "no version": _no_version,
    "a new version": _a_new_version,
    "zip": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(500)),
    "png": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "text": lambda path: path.write_text("studies " * 100),
    "header alone": lambda path: path.write_bytes(b"SQLite format 3\x00"),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
}


REASONS = {
    "another application": "without Optuna studies",
    "half of the tables": "no version of Optuna's tables",
    "no version": "no version of Optuna's tables",
    "a new version": "another version of Optuna",
}
"""Reasons in the message, if the file is an SQLite database."""


@pytest.mark.parametrize("kind", FOREIGN)
def test_file_of_another_program(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    FOREIGN[kind](path)
    for words in COMMANDS if COMMANDS_RUN >= 10_000 else [*COMMANDS[::3], TUNE]:
        code, err = run_and_check(words, path)
        if words[0] == "doctor":  # it does not check the version of Optuna's tables
            assert code == 1 or kind == "a new version"
            continue
        assert code == 2, (words, err)
        assert_names(err, "storage", "studies.sqlite3", REASONS.get(kind, "is not a readable SQLite database"))
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "device", "empty"])
def test_path_that_is_not_a_regular_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    make: dict[str, Callable[[], object]] = {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "loop": lambda: path.symlink_to(path.name),
        "device": lambda: path.symlink_to("/dev/null"),
        "empty": path.touch,
    }
    make[kind]()
    for words in COMMANDS:
        if words[0] == "doctor" or (kind == "empty" and words in WRITE_COMMANDS):
            continue
        if kind == "loop" and words[0] in ("report", "recommend"):  # a missing storage is no error for them
            continue
        code, _, err = run_command(words)
        assert (code, len(err.splitlines())) == (2, 1), (words, err)
    assert kind != "empty" or path.stat().st_size == 0
    assert not list(tmp_path.glob("*-journal"))


def test_study_created_by_other_software(tmp_path: Path) -> None:
    """A foreign study is listed, shown, copied and deleted on request, but never resumed."""
    path = tmp_path / "studies.sqlite3"
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    foreign = optuna.create_study(study_name="tuned", storage=storage)
    foreign.optimize(lambda trial: trial.suggest_categorical("x", ["a", "b"]) == "a", n_trials=2)
    foreign.ask()
    storage.remove_session()
    storage.engine.dispose()
    for words in READ_COMMANDS:
        succeeds = words[0] in ("studies", "report", "doctor") or words == ["show", "tuned"]
        assert run_and_check(words, path)[0] == (0 if succeeds else 2), words
    code, err = run_and_check(TUNE, path)
    assert code == 2
    assert_names(err, "'tuned'", "was not created by ravenlab")
    shutil.copyfile(path, tmp_path / "kept.sqlite3")
    assert run_and_check(["delete", "tuned", "--yes"], path)[0] == 0


def change(intact: Path, path: Path, statement: str) -> None:
    """Write a copy of a storage and execute a statement on it."""
    shutil.copyfile(intact, path)
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


OF_TUNED = "(SELECT study_id FROM studies WHERE study_name = 'tuned')"
TRIAL_OF_TUNED = f"(SELECT min(trial_id) FROM trials WHERE study_id = {OF_TUNED})"


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, "[" * 300 + "]" * 300, '{"x"', "text"])
@pytest.mark.parametrize("key", ["ravenlab:recommendation", "ravenlab:spec", "other"])
def test_unreadable_attribute_affects_one_study(
    key: str, text: str, intact: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "studies.sqlite3"
    row = f"VALUES ({OF_TUNED}, '{key}', '{text}')"
    change(intact, path, f"INSERT OR REPLACE INTO study_user_attributes (study_id, key, value_json) {row}")
    code, out, err = run_command(["export"])
    assert code == 0
    assert '"study": "worlds"' in out
    assert ('"study": "tuned"' in out) is (key != "ravenlab:recommendation")
    lines = [*err.splitlines(), *caplog.messages]  # pytest takes the warning, which otherwise is a line on stderr
    assert len(lines) == (key == "ravenlab:recommendation")
    assert all("'tuned'" in line for line in lines)
    out = printed("studies")
    assert "tuned" in out
    code, _, err = run_command(["show", "tuned"])
    assert (code, len(err.splitlines())) == ((0, 0) if key == "other" else (2, 1))


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE trial_params SET param_name = 'other' WHERE trial_id = {TRIAL_OF_TUNED} AND param_name = 'alpha0'",
        f"DELETE FROM trial_params WHERE trial_id = {TRIAL_OF_TUNED}",
        f"UPDATE trial_params SET param_value = 1e9 WHERE trial_id = {TRIAL_OF_TUNED}",
        f"UPDATE trial_params SET param_value = NULL WHERE trial_id = {TRIAL_OF_TUNED}",
        f"DELETE FROM trial_values WHERE trial_id = {TRIAL_OF_TUNED}",
        f"UPDATE trials SET state = 'RUNNING' WHERE trial_id = {TRIAL_OF_TUNED}",
    ],
)
def test_foreign_trial_is_not_resumed(statement: str, intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    change(intact, path, statement)
    code, err = run_and_check([*TUNE, "--trials=5"], path)
    assert code == 2
    assert_names(err, "trial 0", "'tuned'")
    assert run_command(["show", "tuned"])[0] == 0


def test_report_leaves_out_an_unreadable_study(intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    change(intact, path, "UPDATE trial_user_attributes SET value_json = '\"text\"' WHERE key = 'stderr'")
    assert run_command(["report"])[0] == 0
    code, _, err = run_command(["show", "cells"])
    assert (code, len(err.splitlines())) == (2, 1)


def test_rows_of_a_missing_study_are_one_line(intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    last = "SELECT max(study_id) + 1, 'MINIMIZE', 0 FROM studies"
    change(intact, path, f"INSERT INTO study_directions (study_id, direction, objective) {last}")
    code, err = run_and_check([*SMALL_TUNE, "--name=new"], path)
    assert code == 2
    assert_names(err, "is damaged")


def test_copy_leaves_out_a_study_whose_tables_contradict_each_other(intact: Path, tmp_path: Path) -> None:
    """A changed bit in the index of the results assigns the result of a trial to trial 34."""
    path = tmp_path / "studies.sqlite3"
    entry = b"\x06\x04\x01\x08\x01%c\x02"  # of the index: its size, the types of its columns, trial and row
    before, found, after = intact.read_bytes().rpartition(entry % 2)
    assert found
    path.write_bytes(before + entry % 34 + after)
    code, err = run_and_check(["copy", "*", "--to=sqlite:///copied.sqlite3"], path)
    assert code == 2
    assert_names(err, "'worlds/blips'", "contradict")
    names = [row["name"] for row in json.loads(run_command(["studies", "--json", "--all"])[1])]
    out = printed("studies", "--json", "--all", "--storage=sqlite:///copied.sqlite3")
    assert {line["name"] for line in json.loads(out)} == {*names} - {"worlds/blips"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("nanoseconds", []),
        ("regrets", [[1.0, 2.0]]),
        ("regrets", [1.0, None]),
        ("entry", {"failures": "x"}),
        ("entry", {"failures": []}),
        ("entry", {"mean": ["x"]}),
        ("entry", {"mean": []}),
        ("entry", {"steps": [None]}),
        ("entry", {"stderr": 1}),
        ("entry", {"uniform": 10**400}),
        ("entry", {"recorded": {"reward": "x"}}),
    ],
)
def test_damaged_entry_of_a_comparison_is_one_line(key: str, value: object, intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    shutil.copyfile(intact, path)
    with sqlite3.connect(path) as connection:
        query = "SELECT trial_user_attribute_id, value_json FROM trial_user_attributes WHERE key = ?"
        ((row, text), *_) = connection.execute(query, (key,)).fetchall()
        stored = {**json.loads(text), **value} if isinstance(value, dict) else value
        connection.execute(
            "UPDATE trial_user_attributes SET value_json = ? WHERE trial_user_attribute_id = ?",
            (json.dumps(stored), row),
        )
    connection.close()
    for words in (["show", "compared"], [*COMPARE, "-ocompared"]):
        code, err = run_and_check(words, path)
        assert code == 2, words
        assert_names(err, "'compared'")


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"scenario": "blips", "study": "worlds/blips", "params": {"alpha0": "x"}},
        {"scenario": "blips", "study": "worlds/blips", "params": {"epqilon": 1.0}},
        {"scenario": "periodic", "study": "worlds/blips", "params": {"alpha0": 1.0}},
    ],
)
def test_damaged_tuned_setting_is_refused_before_anything_is_written(
    setting: dict[str, object], intact: Path, tmp_path: Path
) -> None:
    path = tmp_path / "studies.sqlite3"
    second = {"scenario": "stationary", "study": "worlds/stationary", "params": {"alpha0": 1.0}}
    text = json.dumps([setting, second])
    change(intact, path, f"UPDATE study_user_attributes SET value_json = '{text}' WHERE key = 'ravenlab:tuned'")
    assert run_and_check([*ROBUST, "--trials=4"], path)[0] == 2


@pytest.mark.parametrize(
    "race",
    [
        '{"batches": "x", "elite": 0, "blocks": 1}',
        '{"batches": 1, "elite": 9, "blocks": 1}',
        '{"batches": 9, "elite": 0, "blocks": 1}',
        '{"batches": 1, "elite": 0, "blocks": 1000000}',
        "[]",
    ],
)
def test_damaged_race_is_refused_before_anything_is_written(race: str, intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    shutil.copyfile(intact, path)
    words = [*SMALL_TUNE, "--name=raced", "--pruner=race", "--batch=2"]
    assert run_command(words)[0] == 0
    statement = f"UPDATE study_user_attributes SET value_json = '{race}' WHERE key = 'ravenlab:race'"
    change(path, tmp_path / "damaged.sqlite3", statement)
    code, err = run_and_check(
        [*words, "--trials=5", "--storage=sqlite:///damaged.sqlite3"], tmp_path / "damaged.sqlite3"
    )
    assert code == 2
    assert_names(err, "'raced'", "race")


def test_file_without_its_last_bytes_is_refused(intact: Path, tmp_path: Path) -> None:
    """SQLite reads zeros in place of the missing part of the last page, and its check finds no error."""
    path = tmp_path / "studies.sqlite3"
    path.write_bytes(intact.read_bytes()[:-600])
    for words in (["show", "tuned"], TUNE):
        code, err = run_and_check(words, path)
        assert code == 2
        assert_names(err, "studies.sqlite3", "its end is missing")


@pytest.mark.parametrize("value", ["9" * 400, '"text"', "[]", "NaN"])
def test_damaged_error_of_a_cell_is_one_line(value: str, intact: Path, tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite3"
    change(intact, path, f"UPDATE trial_user_attributes SET value_json = '{value}' WHERE key = 'stderr'")
    for words in (["show", "cells"], GRID):
        code, err = run_and_check(words, path)
        assert code == 2, words
        assert_names(err, "'cells'")
    assert run_command(["report"])[0] == 0
