"""A real Dask cluster of processes, for tests: a scheduler and workers on a free port of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_ports
from tests.project import environment

START_SECONDS = 60


class DaskCluster:
    """Processes that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (self.port,) = free_ports(1)
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int) -> None:
        """All of it."""
        self.start_scheduler()
        for _ in range(workers):
            self.start_worker()
        self.wait(workers)

    def start_scheduler(self) -> None:
        """On the port that it had before."""
        self.scheduler = self._start(
            "scheduler", "--host=127.0.0.1", f"--port={self.port}", "--dashboard-address=127.0.0.1:0"
        )

    def start_worker(self, *more: str, **variables: str) -> subprocess.Popen[bytes]:
        """One more, with one thread and no nanny, so that its process is the worker."""
        words = ["--no-nanny", "--nthreads=1", "--dashboard-address=127.0.0.1:0", "--host=127.0.0.1"]
        self.workers.append(self._start("worker", self.address, *words, *more, **variables))
        return self.workers[-1]

    def wait(self, workers: int) -> None:
        """Until the scheduler answers and so many workers have come."""
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

    def kill_scheduler(self) -> None:
        """With −9."""
        if self.scheduler is not None:
            _kill(self.scheduler)

    def kill_workers(self) -> None:
        """All of them."""
        for worker in self.workers:
            _kill(worker)
        self.workers.clear()

    def close(self) -> None:
        """Leave nothing running."""
        self.kill_workers()
        self.kill_scheduler()

    def log(self) -> str:
        """The last words of all processes."""
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in sorted(self.folder.glob("dask-*.log")))

    def _start(self, kind: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        with tempfile.NamedTemporaryFile(dir=self.folder, prefix=f"dask-{kind}-", suffix=".log", delete=False) as log:
            return subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "dask", kind, *words],
                cwd=self.folder,
                env=environment(**variables),
                stdout=log,
                stderr=log,
            )


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[DaskCluster]:
    """A cluster for a while."""
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
