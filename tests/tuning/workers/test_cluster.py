"""Workers of a real Dask cluster: payloads, chunk sizes, and errors in one line."""

import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from ravenlab import environments
from ravenlab.common.errors import InputError
from ravenlab.common.plugins import MODULE_PREFIX
from ravenlab.environments.recorded.examples import example_trace, trace_to_csv
from ravenlab.policies import find_policy
from ravenlab.policies.engine.plugins import POLICY_PLUGINS as POLICIES
from ravenlab.policies.engine.plugins import load_policy_plugin
from ravenlab.tuning.cli import app
from ravenlab.tuning.progress import StudyProgress
from ravenlab.tuning.search.loop import Progress
from ravenlab.tuning.workers.cluster import (
    MIN_TASK_SECONDS,
    SCHEDULER_SECONDS,
    TASK_SECONDS,
    ClusterWorkers,
    check_address,
    chunk_size,
    connect,
    open_cluster,
)
from ravenlab.tuning.workers.local import TaskTime
from ravenlab.tuning.workers.payload import SMALL_BYTES, Packer, TaskResult, machine_identity, run_task, unpack
from ravenlab.tuning.workers.problem import Evaluator, Problem, play_range
from tests.cluster import DaskCluster, dask_cluster
from tests.command import printed, refused
from tests.messages import assert_names
from tests.project import DOCS, copy_sources

EXAMPLES = DOCS / "examples"
TINY = ["--trials=6", "--batch=3", "--replications=12", "--selection=30", "--report=30", "--quiet"]


def run_and_export(words: list[str], capsys: pytest.CaptureFixture[str], storage: str) -> str:
    code = app.run([*words, f"--storage=sqlite:///{storage}.sqlite3"])
    assert code == app.DONE, capsys.readouterr().err
    capsys.readouterr()
    return printed("export", f"--storage=sqlite:///{storage}.sqlite3")


def assert_same_on_the_cluster(words: list[str], cluster: DaskCluster, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert that threads and the cluster give the same bytes."""
    alone = run_and_export([*words, "--jobs=2"], capsys, "alone")
    assert run_and_export([*words, f"--cluster={cluster.address}"], capsys, "cluster") == alone


def test_trace_is_sent_to_workers(cluster: DaskCluster, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "trace.csv").write_text(trace_to_csv(example_trace(rows=1500)))
    assert_same_on_the_cluster(["tune", "--trace=trace.csv", "--window=50", *TINY], cluster, capsys)


def test_plugins_are_sent_to_workers(cluster: DaskCluster, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("falling_greedy.py", "night_shift.py"):
        shutil.copy(EXAMPLES / name, here)
    plugins = ["./night_shift.py:night_shift", "--policy=./falling_greedy.py:FallingGreedy", "--horizon=60", "--arms=3"]
    assert_same_on_the_cluster(["tune", *plugins, *TINY], cluster, capsys)


def test_unpacked_policy_leaves_no_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = here / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    shutil.copy(EXAMPLES / "fast_greedy.py", here)
    source = "./fast_greedy.py:FastGreedy"
    name = load_policy_plugin(source)
    (payload,) = Packer().pack((Problem(name, environments.find_scenario("blips"), 50, 3, 0, 0, source),), full=True)
    monkeypatch.setattr(POLICIES, "_plugins", {})  # as in the process of a worker, which has neither policy nor file
    for module in [name for name in sys.modules if name.startswith(MODULE_PREFIX)]:
        monkeypatch.delitem(sys.modules, module)
    (here / "fast_greedy.py").unlink()
    problem = unpack(payload.data)
    assert play_range(problem, [find_policy(name).resolve({}, 3, 50)], 1, 0, 4).shape == (1, 4, 3)
    assert not list(place.iterdir())


def test_concurrent_studies_grids_and_comparisons(
    cluster: DaskCluster, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--horizon=100", "--arms=4", *TINY]
    assert_same_on_the_cluster(["tune", "blips", "periodic", "stationary", *words], cluster, capsys)
    tables: list[tuple[str, ...]] = []
    for how in ("--jobs=2", f"--cluster={cluster.address}"):
        grid = ["grid", "blips", "periodic", "--horizon=100", "--replications=20", f"--csv={len(tables)}.csv", how]
        assert app.run([*grid, f"--storage=sqlite:///{len(tables)}.sqlite3", "--quiet"]) == app.DONE
        compare = ["compare", "blips", "--policies=ucb1,raven-ucb", "--tune=4", "--horizon=80", "--replications=10"]
        folder = here / f"compared{len(tables)}"
        storage = f"--storage=sqlite:///{len(tables)}.sqlite3"
        assert app.run([*compare, how, storage, f"--output={folder}", "--quiet"]) == app.DONE
        page = ["reproduce", "table1", "--replications=2", f"--output=paper{len(tables)}", how, "--quiet"]
        assert app.run(page) == app.DONE
        tables.append(
            (
                (here / f"{len(tables)}.csv").read_text(),
                (folder / "compare.csv").read_text(),
                (here / f"paper{len(tables)}" / "reproduction.json").read_text(),
            )
        )
    assert tables[0] == tables[1]
    assert capsys.readouterr().err == ""


def test_a_worker_with_other_sources_is_refused(tmp_path: Path) -> None:
    """The worker imports a copy of the sources with an additional line."""
    with (copy_sources(tmp_path) / "policies" / "ucb1.py").open("a") as file:
        file.write("\nANOTHER_RULE = 1\n")
    with dask_cluster(tmp_path, workers=0) as lonely:
        lonely.start_worker(PYTHONPATH=str(tmp_path))
        lonely.wait(1)
        words = ["tune", "blips", "--horizon=50", "--arms=3", *TINY, f"--cluster={lonely.address}"]
        assert "other sources of ravenlab" in refused(*words, f"--storage=sqlite:///{tmp_path}/s.sqlite3")


def test_other_versions_on_workers_are_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Results of other versions of numpy and numba may differ in the last digits."""
    result = run_task(divmod, (7, 2), {**machine_identity(), "numpy": "0.1", "numba": "0.1"})
    assert isinstance(result, TaskResult)
    assert result.value == (3, 1)
    ClusterWorkers("tcp://here:1", Mock())._report_differences([result, result])
    (line,) = capsys.readouterr().err.splitlines()
    assert_names(line, "tcp://here:1", f"numpy {metadata.version('numpy')} there and 0.1 here", "numba")


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setattr("ravenlab.tuning.workers.cluster.CONNECT_SECONDS", 1)
    line = refused("tune", "blips", "--cluster=tcp://127.0.0.1:9")
    assert line.startswith("ravenlab: cluster tcp://127.0.0.1:9 does not answer within 1 s")
    assert list(here.iterdir()) == []


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and sends nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


class QuietHandler(BaseHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def web_port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), QuietHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("fixture", ["silent_port", "web_port"])
def test_server_that_is_no_scheduler(
    fixture: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    monkeypatch.setattr("ravenlab.tuning.workers.cluster.CONNECT_SECONDS", 0.5)
    address = f"tcp://127.0.0.1:{request.getfixturevalue(fixture)}"
    assert_names(refused("tune", "blips", f"--cluster={address}"), address, "within 0.5 s", "no scheduler")
    assert list(here.iterdir()) == []


def test_worker_is_no_scheduler(cluster: DaskCluster, here: Path) -> None:
    with connect(cluster.address) as client:
        worker = next(iter(client.ncores()))
    assert_names(refused("tune", "blips", f"--cluster={worker}"), worker, "a worker, not a scheduler")


def test_stopped_scheduler_is_a_failure(
    cluster: DaskCluster, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process is stopped, so its connections remain open."""
    for name, seconds in (("PING_SECONDS", 0.2), ("SILENCE_SECONDS", 0.5)):
        monkeypatch.setattr(f"ravenlab.tuning.workers.cluster.{name}", seconds)
    monkeypatch.setenv("RAVENLAB_PATIENCE", "1")
    assert cluster.scheduler is not None
    scheduler, original = cluster.scheduler.pid, StudyProgress.batch

    def stop_scheduler(self: StudyProgress, progress: Progress) -> None:
        original(self, progress)
        os.kill(scheduler, signal.SIGSTOP)

    words = ["tune", "blips", "--horizon=50", "--arms=3", *TINY, f"--cluster={cluster.address}"]
    with monkeypatch.context() as patch:
        patch.setattr(StudyProgress, "batch", stop_scheduler)
        try:
            code = app.run(words)
        finally:
            os.kill(scheduler, signal.SIGCONT)
    (line,) = capsys.readouterr().err.splitlines()
    assert code == app.FAULT, line
    assert_names(line, cluster.address, "within 1 s", "Completed trials are saved")
    cluster.wait(2)
    assert app.run(words) == app.DONE


@pytest.mark.parametrize("words", [["--cluster=x"], ["--cluster=tcp://a:0"], ["--cluster=tcp://h:1", "--jobs=2"]])
def test_invalid_options(words: list[str], here: Path) -> None:
    for command in (["tune", "blips"], ["grid", "blips"], ["compare", "blips"], ["reproduce"]):
        assert "cluster" in refused(*command, *words)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("address", ["", "local:1", "http://a:80", "tcp://:8786", "tcp://a:99999", "tcp://a"])
def test_invalid_addresses(address: str) -> None:
    with pytest.raises(InputError, match="cluster must be local or an address"):
        check_address(address)


def test_splitting_candidates_does_not_affect_results(cluster: DaskCluster) -> None:
    """A long time per world splits work into single candidates and worlds."""
    problem = Problem("raven-ucb", environments.find_scenario("blips"), horizon=60, arms=3, seed=4, burn_in=0)
    values = [find_policy("raven-ucb").resolve({"alpha0": a}, 3, 60) for a in (0.5, 1.0, 2.0)]
    with open_cluster(cluster.address) as workers:
        on_cluster = Evaluator(problem, workers)
        alone = Evaluator(problem)
        wanted = alone.play(values, 1, 0, 5)
        for seconds in (0.7, 0.2, 1e-9):
            on_cluster.task_times.clear()
            on_cluster._chunk_size(play_range, 5, 3)
            on_cluster.task_times[play_range].seconds = seconds
            np.testing.assert_array_equal(on_cluster.play(values, 1, 0, 5).columns, wanted.columns)
            assert on_cluster.task_times[play_range].measured


@pytest.mark.parametrize("threads", [1, 2, 1000])
@pytest.mark.parametrize("seconds", [1e-7, 1e-4, 0.03, 0.4, 30.0])
@pytest.mark.parametrize("count", [1, 40, 2000])
def test_tasks_take_about_a_second(threads: int, seconds: float, count: int) -> None:
    """No task takes more than a second if it can be split, or less than the minimum if there is more work."""
    candidates = 16
    size = chunk_size(threads, count, candidates, TaskTime(seconds))
    task = size.worlds * size.candidates * seconds
    assert 1 <= size.worlds <= count
    assert 1 <= size.candidates <= candidates
    most = max(TASK_SECONDS, SCHEDULER_SECONDS * threads)
    assert task <= most * 1.001 or (size.worlds, size.candidates) == (1, 1)
    whole = count * candidates * seconds
    assert task >= min(0.49 * MIN_TASK_SECONDS, 0.49 * whole) or size.worlds == count


def test_ranges_are_kept_while_they_fit() -> None:
    pace = TaskTime(1e-4)
    first = chunk_size(4, 2000, 16, pace)
    for change in (0.8, 1.3, 0.6, 1.2):
        pace.seconds *= change
        assert chunk_size(4, 2000, 16, pace) == first
    pace.seconds *= 16.0
    assert chunk_size(4, 2000, 16, pace).worlds < first.worlds


def test_payload_is_small() -> None:
    problem = Problem("raven-ucb", environments.find_scenario("blips"), horizon=10_000, arms=10, seed=0, burn_in=0)
    payload, *_ = Packer().pack((problem, []))
    assert len(payload.data) < 2_000 < SMALL_BYTES
