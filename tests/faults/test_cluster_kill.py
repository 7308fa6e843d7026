"""Killed workers, drivers and schedulers of a Dask cluster."""

import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.cluster import DaskCluster
from tests.faults.studies import (
    BATCH,
    KILLS,
    SMALL,
    TRIALS,
    count_trials,
    export_json,
    run,
    run_in_process,
    start,
    trial_states,
    wait_for_trials,
)
from tests.messages import assert_names

ROUNDS = max(1, KILLS // 4)


def kill_points(seed: int) -> list[int]:
    """Return numbers of stored trials after which to kill."""
    return [int(n) for n in np.random.default_rng(seed).integers(1, TRIALS, ROUNDS)]


def start_study(cluster: DaskCluster, folder: Path, count: int, **more: str) -> subprocess.Popen[str]:
    """Start a study on the cluster and wait until `count` trials are stored."""
    process = start(*SMALL, f"--cluster={cluster.address}", folder=folder, **more)
    wait_for_trials(folder, count, process, cluster.log)
    return process


def check_finished(process: subprocess.Popen[str], cluster: DaskCluster) -> None:
    """Check that the process ends with exit code 0 and without errors."""
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, (err, cluster.log())
    assert "Traceback" not in err
    assert "Error" not in err, err


@pytest.mark.parametrize("count", kill_points(1))
def test_killed_worker_and_restarted_scheduler_need_no_rerun(
    count: int, cluster: DaskCluster, uninterrupted: str, tmp_path: Path
) -> None:
    """First one worker is killed, some trials later the scheduler and all workers."""
    process = start_study(cluster, tmp_path, count)
    victim = cluster.workers.pop(0)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    cluster.start_worker()
    wait_for_trials(tmp_path, min(count + BATCH, TRIALS), process, cluster.log)
    cluster.kill_scheduler()
    cluster.repair(2)
    check_finished(process, cluster)
    assert trial_states(tmp_path) == {"COMPLETE": TRIALS}
    assert export_json(tmp_path) == uninterrupted


@pytest.mark.parametrize("count", kill_points(2))
def test_killed_driver_resumes_in_a_rerun(count: int, cluster: DaskCluster, uninterrupted: str, tmp_path: Path) -> None:
    process = start_study(cluster, tmp_path, count)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert set(trial_states(tmp_path)) == {"COMPLETE"}
    resumed = run_in_process(*SMALL, f"--cluster={cluster.address}", folder=tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, ""), cluster.log()
    assert trial_states(tmp_path) == {"COMPLETE": TRIALS}
    assert export_json(tmp_path) == uninterrupted


@pytest.mark.stress
def test_lost_scheduler_needs_a_rerun_and_loses_no_trial(
    cluster: DaskCluster, uninterrupted: str, tmp_path: Path
) -> None:
    """Runs last, since it stops the cluster."""
    process = start_study(cluster, tmp_path, 3, RAVENLAB_PATIENCE="2")
    cluster.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.count("\n") == 1, err
    assert_names(err, cluster.address, "within 2 s", "Completed trials are saved")
    assert count_trials(tmp_path) >= 3
    assert run(*SMALL, "--jobs=2", folder=tmp_path).returncode == 0
    assert export_json(tmp_path) == uninterrupted
