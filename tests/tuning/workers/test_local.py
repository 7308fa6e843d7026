"""Workers on this machine."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ravenlab.common.errors import ExternalError
from ravenlab.tuning.workers.local import LocalWorkers
from tests.messages import raises_naming
from tests.project import environment

DRIVER = """
import os, sys, time
from ravenlab.tuning.workers.local import LocalWorkers
print(*set(LocalWorkers(2, "loky").run(os.getpid, [()] * 4)), flush=True)
LocalWorkers(2, "loky").run(time.sleep, [(60,)] * 2)
"""


def test_worker_processes_end_with_a_killed_driver(tmp_path: Path) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    workers = [int(word) for word in driver.stdout.readline().split()]
    assert workers
    assert all(map(is_running, workers))
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    limit = time.monotonic() + 20
    while any(map(is_running, workers)):
        assert time.monotonic() < limit, "worker processes remain"
        time.sleep(0.05)


def test_killed_worker_process_is_one_line() -> None:
    """The system kills processes when memory is short."""
    with raises_naming(ExternalError, "killed", "out of memory", "fewer jobs"):
        LocalWorkers(2, "loky").run(signal.raise_signal, [(signal.SIGKILL,)] * 2)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False
