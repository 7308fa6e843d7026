"""What the doctor finds in a cluster: real processes, one with other sources and one without ravenlab."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from environments.identity import COMPUTING_PACKAGES, ROOT, identity
from tests.said import refused
from tuning.cli import run
from tuning.doctor.cluster import SHOWN, cluster_checks, differing
from tuning.doctor.nodes import NOT_PASSED, Cluster, Node
from tuning.doctor.rows import NOTE, OK, PROBLEM, Check

HERE = identity()
SLOW = 0.001
"""Million steps a second that the worker with other sources says it plays."""


@contextmanager
def process(*words: str, path: Path) -> Iterator[None]:
    """A Dask process that imports from a folder first; it is killed at the end."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    started = subprocess.Popen(command, cwd=path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        started.kill()
        started.wait()


@contextmanager
def scheduler(folder: Path, path: Path) -> Iterator[str]:
    """A scheduler that listens on a free port; its address."""
    told = folder / "scheduler.json"
    with process("scheduler", "--port", "0", "--scheduler-file", str(told), path=path):
        until = time.monotonic() + 60
        while not told.exists() or not told.read_text().strip().endswith("}"):
            assert time.monotonic() < until, "no scheduler"
            time.sleep(0.05)
        yield str(json.loads(told.read_text())["address"])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A scheduler with three workers: with our sources, with an edited copy of them, and with none."""
    from distributed import Client

    folder = tmp_path_factory.mktemp("cluster")
    for package in COMPUTING_PACKAGES:
        shutil.copytree(ROOT / package, folder / "edited" / package, ignore=shutil.ignore_patterns("__pycache__"))
    speed = folder / "edited" / "tuning" / "doctor" / "speed.py"
    edited = f"\n\ndef kernel_speed(seconds: float = SECONDS) -> Speed:\n    return Speed({SLOW}, False, 0.0)\n"
    speed.write_text(speed.read_text(encoding="utf-8") + edited, encoding="utf-8")
    (folder / "none" / "environments").mkdir(parents=True)
    (folder / "none" / "environments" / "__init__.py").write_text("raise ImportError('no ravenlab here')")
    with ExitStack() as stack:
        address = stack.enter_context(scheduler(folder, ROOT))
        for name, path in {"same": ROOT, "edited": folder / "edited", "none": folder / "none"}.items():
            words = ("worker", address, "--nthreads", "1", "--no-nanny", "--name", name)
            stack.enter_context(process(*words, "--local-directory", str(folder), path=path))
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=60)
        yield address


def test_says_which_worker_differs_and_how_fast_each_is(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--cluster", cluster, "--storage", f"sqlite:///{tmp_path}/x.sqlite3", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    rows = {row["check"].split(" (")[0]: Check(**row) for row in told["checks"]}
    workers = {worker["name"]: worker for worker in told["workers"]}

    assert rows["versions, scheduler"].verdict == OK
    assert "3 workers, 3 threads" in rows["scheduler"].found
    assert "ms for an empty task" in rows["scheduler"].found

    assert workers["same"]["said"] == HERE
    assert rows["versions, same"].verdict == OK
    assert rows["worker same"].verdict == OK
    assert workers["same"]["millions"][0] > 100 * SLOW

    assert differing(workers["edited"]["said"], HERE) == ["sources"]
    assert rows["versions, edited"].verdict == PROBLEM
    assert HERE["sources"] in rows["versions, edited"].found
    assert workers["edited"]["millions"] == [SLOW]
    assert rows["worker edited"].verdict == NOTE
    assert "straggler" in rows["worker edited"].advice

    assert differing(workers["none"]["said"], HERE) == ["sources", "processor"]
    assert rows["versions, none"].verdict == PROBLEM
    assert "ravenlab[cluster]" in rows["versions, none"].advice
    assert workers["none"]["millions"] == []


def test_looking_drives_no_worker_away(cluster: str) -> None:
    """A worker that can't unpickle a task leaves; so the one without ravenlab must have got none."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        assert len(client.scheduler_info()["workers"]) == 3


def test_a_scheduler_without_ravenlab_and_without_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments" / "__init__.py").write_text("raise ImportError('no ravenlab here')")
    with scheduler(tmp_path, tmp_path) as address:
        assert run(["doctor", "--cluster", address, "--storage", f"sqlite:///{tmp_path}/x.sqlite3", "--json"]) == 1
    rows = {row["check"]: Check(**row) for row in json.loads(capsys.readouterr().out)["checks"]}
    assert rows["workers"].verdict == PROBLEM
    assert rows["versions, scheduler"].verdict == PROBLEM


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "somewhere"])
def test_no_scheduler_is_one_line(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuning.connecting.CONNECT_SECONDS", 1)
    assert address in refused("doctor", "--cluster", address, "--storage", f"sqlite:///{tmp_path}/x.sqlite3")


def node(name: str, other: dict[str, str] | None = None, speed: float = 50.0) -> Node:
    """A worker that is as here but for some words."""
    return Node(f"tcp://10.0.0.1:{name}", HERE | (other or {}), name, 2, 8_000_000_000, (speed, speed))


def judged(*workers: Node) -> list[Check]:
    """Rows on a cluster of these workers."""
    return cluster_checks(Cluster(Node("tcp://10.0.0.1:8786", HERE), list(workers), 0.004), HERE, 60.0)


@pytest.mark.parametrize(
    ("other", "verdict", "word"),
    [
        ({}, OK, ""),
        ({"numpy": "2.4.5"}, NOTE, "last digits"),
        ({"machine": "aarch64", "processor": "Neoverse"}, NOTE, "last digits"),
        ({"processor": "another"}, NOTE, "last digits"),
        ({"distributed": "2026.1.0"}, NOTE, "travel"),
        ({"sources": "0" * 16, "numpy": "2.4.5"}, PROBLEM, "ravenlab"),
        ({"python": "3.99.0"}, PROBLEM, "minor"),
        ({"python": ".".join(HERE["python"].split(".")[:2]) + ".99"}, NOTE, "last digits"),
    ],
)
def test_how_bad_a_difference_is(other: dict[str, str], verdict: str, word: str) -> None:
    row = judged(node("1", other))[2]
    assert row.verdict == verdict
    assert word in row.advice
    assert all(f"{name} {value} (here {HERE[name]})" in row.found for name, value in other.items())


def test_a_worker_that_says_nothing_or_left() -> None:
    silent = replace(node("1"), said={}, millions=(), fault="it left")
    rows = judged(silent, node("2"))
    assert [row.verdict for row in rows if row.check.endswith(":1)")] == [PROBLEM, PROBLEM]


def test_a_scheduler_that_passes_nothing_on_is_the_problem_and_not_its_workers() -> None:
    said = {name: word for name, word in HERE.items() if name != "sources"}
    held_up = replace(node("1"), millions=(), fault=NOT_PASSED)
    rows = cluster_checks(Cluster(Node("tcp://10.0.0.1:8786", said), [held_up]), HERE, None)
    assert [row.check for row in rows if row.verdict == PROBLEM] == ["versions, scheduler"]


def test_many_workers_are_summed_up_and_stragglers_named() -> None:
    many = [node(str(number)) for number in range(2 * SHOWN)]
    rows = judged(*many, node("slow", speed=24.0), node("less", speed=26.0), node("old", {"numpy": "1.0"}))
    assert [row.check for row in rows if row.check.startswith("worker")] == ["worker slow (tcp://10.0.0.1:slow)"]
    assert f"versions, {len(many) + 2} workers such as 0 (tcp://10.0.0.1:0)" in [row.check for row in rows]
    assert rows[-1].found.startswith(f"{2 * (50 * len(many) + 24 + 26 + 50)} M steps/s")
