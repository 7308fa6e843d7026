"""`ravenlab doctor` on a cluster of real processes, one with other sources and one without ravenlab."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ravenlab.common.fingerprint import identity
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.doctor import NOTE, OK, PROBLEM, Check, Node, check_cluster
from tests.cluster import dask_cluster
from tests.command import refused
from tests.project import ROOT, copy_sources

LOCAL = identity()


def make_broken_package(folder: Path) -> Path:
    """Create a folder from which ravenlab cannot be imported."""
    (folder / "ravenlab").mkdir(parents=True)
    (folder / "ravenlab" / "__init__.py").write_text("raise ImportError('no ravenlab here')")
    return folder


@pytest.fixture(scope="module")
def mixed_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a cluster with three workers: with these sources, with an edited copy, and without ravenlab."""
    folder = tmp_path_factory.mktemp("cluster")
    with (copy_sources(folder / "edited") / "policies" / "ucb1.py").open("a") as file:
        file.write("\nANOTHER_RULE = 1\n")
    with dask_cluster(folder, workers=0) as cluster:
        for name, path in {
            "same": ROOT,
            "edited": folder / "edited",
            "none": make_broken_package(folder / "none"),
        }.items():
            cluster.start_worker("--name", name, PYTHONPATH=str(path))
        cluster.wait(3)
        yield cluster.address


def test_reports_differences_of_each_worker(
    mixed_cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--cluster", mixed_cluster, "--storage", f"sqlite:///{tmp_path}/x.sqlite3", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    rows = {row["check"].split(" (")[0]: Check(**row) for row in report["checks"]}
    workers = {worker["label"].split(" (")[0]: worker["identity"] for worker in report["workers"]}

    assert rows["versions, scheduler"].verdict == OK
    assert "3 workers, 3 threads" in rows["scheduler"].found

    assert workers["same"] == LOCAL
    assert rows["versions, same"].verdict == OK

    assert {key for key in LOCAL if workers["edited"][key] != LOCAL[key]} == {"sources"}
    assert rows["versions, edited"].verdict == PROBLEM
    assert LOCAL["sources"] in rows["versions, edited"].found

    assert workers["none"] == {}
    assert rows["versions, none"].verdict == PROBLEM
    assert "ravenlab[cluster]" in rows["versions, none"].advice


def test_inspection_loses_no_worker(mixed_cluster: str) -> None:
    """A worker stops if it cannot unpickle a task, so the one without ravenlab must not receive any."""
    from distributed import Client

    with Client(mixed_cluster, set_as_default=False) as client:
        assert len(client.scheduler_info()["workers"]) == 3


def test_scheduler_without_ravenlab_and_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with dask_cluster(make_broken_package(tmp_path), workers=0) as cluster:
        assert (
            run(["doctor", "--cluster", cluster.address, "--storage", f"sqlite:///{tmp_path}/x.sqlite3", "--json"]) == 1
        )
    rows = {row["check"]: Check(**row) for row in json.loads(capsys.readouterr().out)["checks"]}
    assert rows["workers"].verdict == PROBLEM
    assert rows["versions, scheduler"].verdict == PROBLEM


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "somewhere"])
def test_missing_scheduler_is_one_line(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.tuning.workers.cluster.CONNECT_SECONDS", 1)
    assert address in refused("doctor", "--cluster", address, "--storage", f"sqlite:///{tmp_path}/x.sqlite3")


def make_node(name: str, other: dict[str, str] | None = None) -> Node:
    """Return a worker with the identity of this process, except for the given values."""
    return Node(f"{name} (tcp://10.0.0.1:{name})", LOCAL | (other or {}), threads=2)


def check_workers(*workers: Node) -> list[Check]:
    return check_cluster(Node("tcp://10.0.0.1:8786", LOCAL), workers, LOCAL)


@pytest.mark.parametrize(
    ("other", "verdict", "reason"),
    [
        ({}, OK, ""),
        ({"numpy": "2.4.5"}, NOTE, "last digits"),
        ({"machine": "aarch64", "processor": "Neoverse"}, NOTE, "last digits"),
        ({"processor": "another"}, NOTE, "last digits"),
        ({"distributed": "2026.1.0"}, NOTE, "sending tasks"),
        ({"sources": "0" * 16, "numpy": "2.4.5"}, PROBLEM, "ravenlab"),
        ({"python": "3.99.0"}, PROBLEM, "minor versions"),
        ({"python": ".".join(LOCAL["python"].split(".")[:2]) + ".99"}, NOTE, "last digits"),
    ],
)
def test_severity_of_differences(other: dict[str, str], verdict: str, reason: str) -> None:
    row = check_workers(make_node("1", other))[2]
    assert row.verdict == verdict
    assert reason in row.advice
    assert all(f"{name} {value} (here {LOCAL[name]})" in row.found for name, value in other.items())


def test_worker_that_does_not_answer_is_a_problem() -> None:
    rows = check_workers(Node("1", {}), make_node("2"))
    assert [row.check for row in rows if row.verdict == PROBLEM] == ["versions, 1"]


def test_equal_workers_share_a_row() -> None:
    rows = check_workers(*(make_node(str(number)) for number in range(20)), make_node("old", {"numpy": "1.0"}))
    assert [row.check for row in rows[2:]] == [
        "versions, 20 workers such as 0 (tcp://10.0.0.1:0)",
        "versions, old (tcp://10.0.0.1:old)",
    ]
