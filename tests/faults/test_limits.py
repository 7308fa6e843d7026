"""Excessive numbers are refused with one line before anything is computed; regressions found by fuzzing."""

import os
import stat
import threading
import time
from itertools import count
from pathlib import Path
from typing import ClassVar
from unittest.mock import Mock

import pytest

from ravenlab.common.checks import check_dotted_keys
from ravenlab.common.errors import InputError
from ravenlab.common.threads import run_in_threads
from ravenlab.environments.draw import system_memory
from ravenlab.policies.engine.loading import read_entries
from tests.command import printed, refused, run_command
from tests.messages import assert_names, raises_naming

SMALL = ["--horizon=20", "--arms=3", "--replications=2"]


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("words", "field", "value", "limit"),
    [
        ("simulate blips --replications=1000000000", "--replications", 10**9, 10**7),
        ("simulate blips --jobs=1000000", "--jobs", 10**6, 1024),
        ("tune blips --replications=1000000000", "--replications", 10**9, 10**7),
        ("tune blips --replications=10000000", "batch × replications", 16 * 10**7, 10**8),
        ("tune blips --batch=10000 --replications=100000", "batch × replications", 10**9, 10**8),
        ("tune blips --selection=10000000", "candidates × selection", 16 * 10**7, 10**8),
        ("tune blips --trials=1000000000", "--trials", 10**9, 10**6),
        ("tune blips --horizon=10000000000", "--horizon", 10**10, 10**9),
        ("tune --robust blips stationary --replications=5000000", "batch × replications", 16 * 10**7, 10**8),
        ("grid blips --replications=10000000", "replications", 10**7, 10**8 // 63),
        ("compare blips --replications=1000000000", "--replications", 10**9, 10**5),
        ("reproduce figure1 --replications=1000000000", "--replications", 10**9, 10**5),
        ("diagnose trace.csv --halves=1000000000", "--halves", 10**9, 1000),
    ],
)
def test_excessive_budget_is_refused(words: str, field: str, value: int, limit: int, tmp_path: Path) -> None:
    assert_names(refused(*words.split()), field, f"at most {limit}", f"got {value}")
    assert list(tmp_path.iterdir()) == []


SIMULATING = [
    ["simulate"],
    ["play", "--replications=1"],
    ["grid", "--alpha0=1", "--beta0=1", "--quiet"],
    ["tune", "--trials=1", "--quiet"],
    ["compare", "--tune=0", "--policies=raven-ucb", "--quiet"],
]


@pytest.mark.parametrize("words", SIMULATING)
def test_world_larger_than_memory_is_refused(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A world takes 17 bytes per step; the check happens before any world is drawn."""
    monkeypatch.setattr("ravenlab.environments.draw.system_memory", lambda: (2**40, 10**9))
    line = refused(*words, "blips", "--horizon=100000000", "--replications=2", "--jobs=1")
    assert_names(line, "horizon", 100_000_000, "1.7 GB", "1.0 GB")


def test_pulls_larger_than_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.environments.draw.system_memory", lambda: (10**9, None))
    line = refused("simulate", "blips", "--replications=1000", "--horizon=1000000", "--pulls=a.csv")
    assert_names(line, "pulls", 1000, 1_000_000, "4.0 GB", "1.0 GB")


def test_memory_error_is_one_line_with_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_out_of_memory(*args: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("ravenlab.policies.engine.simulation.simulate", run_out_of_memory)
    code, _, err = run_command(["simulate", "blips"])
    assert (code, len(err.splitlines())) == (1, 1)
    assert_names(err, "ravenlab: out of memory")


@pytest.mark.parametrize("words", SIMULATING)
def test_low_limit_of_the_shell_is_refused(words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With `ulimit -v 500000` LLVM ended the process, or a thread that could not start was waited for forever."""
    monkeypatch.setattr("resource.getrlimit", lambda limit: (512_000_000, -1))
    assert_names(refused(*words, "blips", *SMALL, "--jobs=2"), "512 MB", "ulimit -v", "1,000 MB")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("message", ["can't start new thread", "libx.so: failed to map segment from shared object"])
def test_lack_of_memory_by_other_names(message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuntimeError(message) if "thread" in message else ImportError(message)
    monkeypatch.setattr("ravenlab.policies.engine.simulation.simulate", Mock(side_effect=error))
    code, _, err = run_command(["simulate", "blips"])
    assert (code, err) == (1, f"ravenlab: out of memory: {message}\n")


class TestThreads:
    """`run_in_threads` with too little memory for all threads, and with threads that end early."""

    CALLS: ClassVar[list[tuple[int, int]]] = [(number, 3) for number in range(10)]

    @pytest.mark.parametrize("possible", [0, 1, 2])
    def test_fewer_threads_are_enough(self, possible: int, monkeypatch: pytest.MonkeyPatch) -> None:
        starts, start = count(), threading.Thread.start

        def start_or_raise(thread: threading.Thread) -> None:
            if next(starts) >= possible:
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_or_raise)
        assert run_in_threads(divmod, self.CALLS, jobs=3) == [divmod(number, 3) for number, _ in self.CALLS]

    def test_error_of_a_task_is_raised(self) -> None:
        with pytest.raises(ZeroDivisionError):
            run_in_threads(divmod, [*self.CALLS, (1, 0)], jobs=2)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_thread_that_ends_early_is_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(threading.Thread, "run", Mock(side_effect=MemoryError))
        with pytest.raises(MemoryError):
            run_in_threads(divmod, self.CALLS, jobs=2)


def test_device_file_is_written_and_not_replaced() -> None:
    """Replacing /dev/null as root would break the machine."""
    printed("init", "--force", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_pipe_without_reader_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert_names(refused("init", "--force", "pipe"), "pipe", "no reader")
    assert_names(refused("validate", "pipe"), "a device or a pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert run_command(["init", "--force", "pipe"])[0] == 0
        assert os.read(reader, 10)
    finally:
        os.close(reader)


def test_file_name_that_is_not_utf_8(tmp_path: Path) -> None:
    out = printed("init", "\udcff.toml")
    assert r"\udcff.toml" in out
    assert len(list(tmp_path.iterdir())) == 1


def test_refused_comparison_creates_no_folder(tmp_path: Path) -> None:
    (tmp_path / "studies.sqlite3").write_text("no database")
    refused("compare", "blips", *SMALL, "--tune=0", "--policies=ucb1", "--jobs=1", "--quiet", "-o", "new")
    assert not (tmp_path / "new").exists()


def test_figures_folder_equal_to_the_report_is_refused(tmp_path: Path) -> None:
    assert_names(refused("report", "-o", "both", "--figures", "both"), "--figures both", "report")
    assert list(tmp_path.iterdir()) == []


def test_long_argument_gives_a_short_message_quickly() -> None:
    """Masking passwords in messages once took half a minute for such an argument."""
    begin = time.process_time()
    assert len(refused("init", "x", "y" * 200_000)) < 2100
    assert time.process_time() - begin < 10.0


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("sqlite:///\udcff", r"'sqlite:///\udcff'"),
        ("sqlite:///a\x00b", r"'a\x00b'"),
        ("sqlite:///new.sqlite3?timeout=x", "'timeout'"),
        ("sqlite:///new.sqlite3?mode=ro", "'mode'"),
    ],
)
def test_invalid_storage_urls_are_refused(url: str, named: str, tmp_path: Path) -> None:
    assert_names(refused("tune", "blips", *SMALL, "--jobs=1", "--quiet", "--storage", url), "storage", named)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("shell", "expected"), [("bash", 0), ("sh", 1)])
def test_completion_script_of_supported_shells(shell: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))
    code, out, _ = run_command(["--show-completion"])
    assert code == expected
    assert ("_ravenlab_completion" in out) == (expected == 0)


def test_system_memory_respects_container_limits(tmp_path: Path) -> None:
    meminfo, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    meminfo.write_text("MemTotal:  8000000 kB\nMemFree: 1 kB\nMemAvailable:  6000000 kB\n")
    assert system_memory(meminfo, (str(limit),)) == (8_192_000_000, 6_144_000_000)
    limit.write_text("max\n")
    assert system_memory(meminfo, (str(limit),)) == (8_192_000_000, 6_144_000_000)
    limit.write_text("500000000\n")
    assert system_memory(meminfo, (str(limit),)) == (500_000_000, 500_000_000)
    assert system_memory(tmp_path / "none", ()) == (None, None)


@pytest.mark.parametrize("key", [".".join("a" * 20_000), " . ".join(["'a'", '"b"'] * 10_000), "x-1." * 17 + "y"])
@pytest.mark.parametrize("line", ["{} = 1", "[{}]", "x = {{ {} = 1 }}"])
def test_long_dotted_keys_are_refused(line: str, key: str, tmp_path: Path) -> None:
    """Such a file of 40 kB took 1.7 GB."""
    path = tmp_path / "study.toml"
    path.write_text(f"# comment\n{line.format(key)}\n")
    assert_names(refused("validate", "study.toml"), "study.toml", "line 2", 16)
    with raises_naming(InputError, path, "line 2", 16):
        read_entries(path)


def test_search_for_long_keys_is_linear(tmp_path: Path) -> None:
    begin = time.process_time()
    for text in ("a" * 1_000_000, "a " * 500_000, "a." * 15 + "a " * 500_000, "'" * 1_000_000, "a b." * 250_000):
        check_dotted_keys(text)
    assert time.process_time() - begin < 5.0
