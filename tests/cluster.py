"""A Dask cluster for tests: processes of a scheduler and workers on a free port of this machine."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_ports
from tests.project import environment

START_SECONDS = 60
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""Without these settings an idle cluster of two workers takes 7 % of a core, with them 1.5 %."""


class DaskCluster:
    """A cluster whose processes can be killed and restarted."""

    def __init__(self, folder: Path, protocol: str = "tcp", variables: Mapping[str, str] | None = None) -> None:
        self.folder, self.protocol, self.variables = folder, protocol, variables or {}
        (self.port,) = free_ports(1)
        self.address = f"{protocol}://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int) -> None:
        """Start the scheduler and workers, and wait for them."""
        self.repair(workers)

    def start_scheduler(self) -> None:
        """Start the scheduler, always on the same port."""
        self.scheduler = self._start(
            *("scheduler", "--host=127.0.0.1", f"--port={self.port}", "--dashboard-address=127.0.0.1:0"),
            f"--protocol={self.protocol}",
        )

    def start_worker(self, *more: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a worker with one thread and no nanny, so that its process is the worker."""
        words = ["--no-nanny", "--nthreads=1", "--dashboard-address=127.0.0.1:0", "--host=127.0.0.1"]
        self.workers.append(self._start("worker", self.address, *words, *more, **variables))
        return self.workers[-1]

    def wait(self, workers: int) -> None:
        """Wait until the scheduler answers and has this many workers."""
        from distributed import Client

        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                with Client(self.address, timeout=5, set_as_default=False) as client:
                    if workers:
                        client.wait_for_workers(workers, timeout=max(1.0, deadline - time.monotonic()))
                    return
            except OSError:
                assert time.monotonic() < deadline, self.log()

    def repair(self, workers: int) -> None:
        """Start what was killed."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.kill_workers()
            self.start_scheduler()
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < workers:
            self.start_worker()
        self.wait(workers)

    def kill_scheduler(self) -> None:
        if self.scheduler is not None:
            _kill(self.scheduler)

    def kill_workers(self) -> None:
        for worker in self.workers:
            _kill(worker)
        self.workers.clear()

    def close(self) -> None:
        self.kill_workers()
        self.kill_scheduler()

    def log(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("dask-*.log")))

    def _start(self, kind: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=f"dask-{kind}-", suffix=".log", delete=False) as log:
            return subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "dask", kind, *words],
                cwd=self.folder,
                env=environment(**QUIET, **self.variables, **variables),
                stdout=log,
                stderr=log,
            )


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[DaskCluster]:
    """Start a cluster, and kill it at the end."""
    cluster = DaskCluster(folder)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
