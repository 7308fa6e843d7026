"""Workers: threads or processes of this machine; `tuning.workers.cluster` has those of a Dask cluster.

Work is split into tasks that draw their own worlds from a small description. The split does not affect results.
"""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ravenlab.common.checks import check_address_space, check_integer
from ravenlab.common.compat.joblib import killed_worker_error
from ravenlab.common.errors import ExternalError, InputError
from ravenlab.common.text import join_words
from ravenlab.tuning.interrupts import acknowledge_interrupt

if TYPE_CHECKING:
    from ravenlab.environments.blocks import AnyScenario
    from ravenlab.policies.engine.simulation import Simulation


T = TypeVar("T")
Call = tuple[Any, ...]  # the arguments of a task
Timer = Callable[[Sequence[float]], None]


@dataclass(frozen=True)
class Backend:
    """A kind of worker on this machine."""

    meaning: str
    """Description for help and documentation."""
    run: Callable[[Callable[..., Any], Sequence[Call], int], list[Any]]
    """Returns the result of a task for each call, computed by a number of workers."""


class _SafePath:
    """Keeps the current folder off the import path of processes that are started in a block.

    A file such as pickle.py in the current folder would otherwise be executed by every worker process and by Python's
    helper processes. Workers still get the import path of this process, and with it all that tasks refer to. Several
    threads may be in a block; the last one restores the environment.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks = 0
        self.before: dict[str, str] = {}

    def __enter__(self) -> None:
        with self.lock:
            if self.blocks == 0:
                self.before = {name: value for name, value in os.environ.items() if name == SAFE_PATH_VARIABLE}
            self.blocks += 1
            os.environ[SAFE_PATH_VARIABLE] = "1"

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.blocks -= 1
            if self.blocks == 0:
                os.environ.pop(SAFE_PATH_VARIABLE, None)
                os.environ.update(self.before)


SAFE_PATH_VARIABLE = "PYTHONSAFEPATH"
SAFE_PATH = _SafePath()


def _run_in_threads(task: Callable[..., T], calls: Sequence[Call], jobs: int) -> list[T]:
    from ravenlab.common.threads import run_in_threads

    return run_in_threads(task, calls, jobs)


def _run_in_processes(task: Callable[..., T], calls: Sequence[Call], jobs: int) -> list[T]:
    """Run in processes of loky.

    With an empty cache of compiled functions each process compiles the functions that it calls. They do so at the same
    time, each on its own core, so waiting until one of them has filled the cache would not be faster.
    """
    from joblib import Parallel, delayed

    from ravenlab.common.plugins import register_for_pickling

    register_for_pickling()
    workers = Parallel(n_jobs=jobs, backend="loky", initializer=end_with_driver, initargs=(os.getpid(),))
    try:
        with SAFE_PATH:
            return list(workers(delayed(task)(*call) for call in calls))
    except killed_worker_error():
        raise ExternalError(
            "a worker process was killed, possibly out of memory; completed trials are saved; rerun the same command to"
            " resume, with fewer jobs if memory is short."
        ) from None


BACKENDS: dict[str, Backend] = {
    "threads": Backend("threads of one process", _run_in_threads),
    "loky": Backend("processes, which custom policies in plain Python need to use all cores", _run_in_processes),
}

DEFAULT_BACKEND = "threads"

LEAST_CHUNKS, MOST_CHUNKS = 2, 8  # per worker: with many chunks, all workers finish at about the same time
SMALL_CHUNK = 8  # worlds for which a task is worth its overhead
WATCH_SECONDS = 1.0  # between checks of a worker process that its driver exists


@dataclass
class TaskTime:
    """Running estimate of the time that one kind of task takes; only clusters use it."""

    seconds: float
    """Seconds per candidate and world; an assumption until `measured` is set."""
    measured: bool = False
    worlds: int = 0
    """Worlds per task in the last split; kept while it fits, so that workers reuse their cached worlds."""

    def update(self, seconds: float) -> None:
        """Add the typical time of the last tasks; the weight of older ones halves each time."""
        self.seconds = seconds if not self.measured else 0.5 * (self.seconds + seconds)
        self.measured = True


@dataclass(frozen=True)
class ChunkSize:
    """Largest number of worlds and candidates per task."""

    worlds: int
    candidates: int


class Workers(ABC):
    """Runs tasks, and decides how work is split into them."""

    concurrent_studies = 1
    """How many studies to run at the same time."""

    pieces = 1
    """Into how many pieces long work is divided, so that progress can be shown in between."""

    threads = 1
    """How many threads of this process may compute at the same time."""

    def stop(self) -> None:  # noqa: B027 (optional)
        """Make all threads that wait for tasks give up with `Skipped`."""

    @abstractmethod
    def chunk_size(self, count: int, candidates: int, task_time: TaskTime) -> ChunkSize:
        """Return how to split `candidates` × `count` worlds."""

    @abstractmethod
    def run(self, task: Callable[..., T], calls: Sequence[Call], timer: Timer | None = None) -> list[T]:
        """Return the task's result for each call, in order; a cluster passes the seconds per call to the timer."""

    @abstractmethod
    def simulate(self, policy: str, scenario: str | AnyScenario, **options: Any) -> Simulation:
        """Run `policies.engine.simulation.simulate` on these workers."""


class LocalWorkers(Workers):
    """Threads, or processes of loky.

    >>> LocalWorkers(2).run(divmod, [(7, 2), (9, 4)])
    [(3, 1), (2, 1)]
    """

    pieces = 20

    def __init__(self, jobs: int = 1, backend: str = DEFAULT_BACKEND) -> None:
        if backend not in BACKENDS:
            raise InputError(f"backend must be {join_words(list(BACKENDS))} but got {backend!r}.")
        self.jobs = check_integer("jobs", jobs, least=1, most=1024)
        self.backend = backend
        self.threads = self.jobs

    def chunk_size(self, count: int, candidates: int, task_time: TaskTime) -> ChunkSize:
        """Split into two to eight chunks of worlds per worker, each with all candidates."""
        if self.jobs == 1:
            return ChunkSize(count, candidates)
        chunks = max(LEAST_CHUNKS * self.jobs, min(MOST_CHUNKS * self.jobs, count // SMALL_CHUNK))
        return ChunkSize(-(-count // chunks), candidates)

    def run(self, task: Callable[..., T], calls: Sequence[Call], timer: Timer | None = None) -> list[T]:
        if self.jobs == 1 or len(calls) == 1:
            return [task(*call) for call in calls]
        return BACKENDS[self.backend].run(task, calls, self.jobs)

    def simulate(self, policy: str, scenario: str | AnyScenario, **options: Any) -> Simulation:
        from ravenlab.policies.engine.simulation import simulate

        return simulate(policy, scenario, jobs=self.jobs, **options)


SERIAL = LocalWorkers()


def end_with_driver(driver: int) -> None:
    """End this worker process when the process that started it has ended, also if that was killed.

    Idle processes of loky would otherwise remain for five minutes, and busy ones until their task is done. On Windows,
    where processes keep the number of their parent, they do.
    """

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def worker_count(jobs: int | None) -> int:
    """Return the number of workers: the given one, or one per core.

    >>> worker_count(2)
    2
    """
    if jobs is not None:
        return jobs
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def open_workers(jobs: int | None = 1, backend: str = DEFAULT_BACKEND, cluster: str | None = None) -> Iterator[Workers]:
    """Open workers of this machine, or those of a Dask cluster.

    `jobs` is the number of workers; None means one per core. `cluster` is the address of a scheduler, or "local" to
    start one on this machine.

    >>> with open_workers(jobs=2) as workers:
    ...     workers.run(divmod, [(7, 2)])
    [(3, 1)]
    """
    check_address_space()
    if cluster is None:
        yield LocalWorkers(worker_count(jobs), backend)
        return
    from ravenlab.tuning.workers.cluster import open_cluster

    with open_cluster(cluster, worker_count(jobs)) as workers:
        yield workers


class Skipped(Exception):
    """Raised in a run that did not start or finish because another one failed."""


def run_concurrently(workers: Workers, runs: Sequence[Callable[[], T]]) -> list[T]:
    """Return the result of each run, in order; as many run at a time as suits the workers. The first error ends all.

    >>> run_concurrently(SERIAL, [lambda: 1, lambda: 2])
    [1, 2]
    """
    threads = min(workers.concurrent_studies, len(runs))
    if threads <= 1:
        return [run() for run in runs]
    failed = threading.Event()

    def unless_failed(run: Callable[[], T]) -> T:
        if failed.is_set():
            raise Skipped
        try:
            return run()
        except BaseException:
            failed.set()
            workers.stop()
            raise

    pool = ThreadPoolExecutor(threads, thread_name_prefix="study")
    futures = [pool.submit(unless_failed, run) for run in runs]
    try:
        pending = set(futures)
        while pending:  # in short intervals, so that an interrupt is handled at once on every platform
            _, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
    except BaseException:  # an interrupt arrives in this thread; the others end when their tasks are canceled
        acknowledge_interrupt()
        failed.set()
        workers.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    for future in futures:
        error = future.exception()
        if error is not None and not isinstance(error, Skipped):
            raise error
    return [future.result() for future in futures]
