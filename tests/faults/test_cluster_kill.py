"""Kill −9 on a Dask cluster: a worker needs no rerun, the driver a rerun, and a scheduler that comes back is found."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.cluster import DaskCluster
from tests.faults.studies import KILLS, SMALL, TRIALS, exported, landed, run, start, states, wait_for
from tests.messages import assert_names

ROUNDS = max(1, KILLS // 4)


def moments(seed: int) -> list[int]:
    """After how many landed trials to kill."""
    return [int(n) for n in np.random.default_rng(seed).integers(1, TRIALS, ROUNDS)]


def started(cluster: DaskCluster, folder: Path, count: int, **more: str) -> subprocess.Popen[str]:
    """A study on the cluster, once so many trials have landed."""
    process = start(*SMALL, f"--cluster={cluster.address}", folder=folder, **more)
    wait_for(folder, count, process, cluster.log)
    return process


def finished(process: subprocess.Popen[str], cluster: DaskCluster) -> None:
    """Exit code 0, and not a word."""
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, (err, cluster.log())
    assert "Traceback" not in err
    assert "Error" not in err, err


@pytest.mark.parametrize("count", moments(1))
def test_a_killed_worker_needs_no_rerun(count: int, cluster: DaskCluster, undisturbed: str, tmp_path: Path) -> None:
    process = started(cluster, tmp_path, count)
    victim = cluster.workers.pop(0)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    cluster.start_worker()  # and one that joins is used
    finished(process, cluster)
    assert states(tmp_path) == {"COMPLETE": TRIALS}
    assert exported(tmp_path) == undisturbed
    cluster.wait(2)


@pytest.mark.parametrize("count", moments(2))
def test_a_killed_driver_goes_on_in_a_rerun(count: int, cluster: DaskCluster, undisturbed: str, tmp_path: Path) -> None:
    process = started(cluster, tmp_path, count)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert set(states(tmp_path)) == {"COMPLETE"}
    finished(start(*SMALL, f"--cluster={cluster.address}", folder=tmp_path), cluster)
    assert states(tmp_path) == {"COMPLETE": TRIALS}
    assert exported(tmp_path) == undisturbed


@pytest.mark.parametrize("count", moments(3))
def test_a_killed_scheduler_that_comes_back_is_found(
    count: int, cluster: DaskCluster, undisturbed: str, tmp_path: Path
) -> None:
    process = started(cluster, tmp_path, count)
    cluster.kill_scheduler()
    cluster.kill_workers()
    cluster.start_scheduler()
    cluster.start_worker()
    cluster.start_worker()
    finished(process, cluster)
    assert states(tmp_path) == {"COMPLETE": TRIALS}
    assert exported(tmp_path) == undisturbed


@pytest.mark.stress
def test_a_scheduler_that_is_gone_for_good_costs_a_rerun_and_no_trial(
    cluster: DaskCluster, undisturbed: str, tmp_path: Path
) -> None:
    """Last, since it takes the cluster down."""
    process = started(cluster, tmp_path, 3, RAVENLAB_PATIENCE="2")
    cluster.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.count("\n") == 1, err
    assert_names(err, "2 s")
    kept = landed(tmp_path)
    assert kept >= 3
    assert run(*SMALL, "--jobs=2", folder=tmp_path).returncode == 0
    assert exported(tmp_path) == undisturbed
