"""Who does the work: threads or processes of this machine, or a cluster (`tuning.workers.cluster`).

Work is cut into tasks: functions of small descriptions that draw their own worlds. How it is cut changes no result.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from environments.checks import check_integer
from environments.errors import InputError
from environments.text import join_words
from tuning.interrupts import acknowledge_interrupt

if TYPE_CHECKING:
    from environments.blocks import AnyScenario
    from policies.engine.simulation import Simulation


T = TypeVar("T")


@dataclass(frozen=True)
class Backend:
    """A kind of worker on this machine."""

    meaning: str
    """Description for help and documentation."""
    joblib: str
    """Its name in joblib."""


BACKENDS: dict[str, Backend] = {
    "threads": Backend("threads of one process", joblib="threading"),
    "loky": Backend("processes, which custom policies in plain Python need to use all cores", joblib="loky"),
}

DEFAULT_BACKEND = "threads"

PARTS_PER_JOB = 2

GUESSED_SECONDS_A_STEP = 2e-8


@dataclass
class TaskTime:
    """How fast one kind of task goes, learned while it is done; only a cluster asks for it."""

    seconds: float
    """Of one candidate in one world."""
    learned: bool = False
    worlds: int = 0
    """Worlds a task when it was last cut: kept while it fits, so that workers find their worlds again."""

    @staticmethod
    def guess(horizon: int) -> TaskTime:
        """Before anything was played.

        >>> Pace.guess(10_000).learned
        False
        """
        return TaskTime(GUESSED_SECONDS_A_STEP * horizon)

    def learn(self, seconds: float) -> None:
        """The typical time of the last tasks, a candidate and world; older ones count half, and half again."""
        self.seconds = seconds if not self.learned else 0.5 * (self.seconds + seconds)
        self.learned = True


@dataclass(frozen=True)
class ChunkSize:
    """How work is cut: at most so many worlds and so many candidates a task."""

    worlds: int
    candidates: int


class Workers(ABC):
    """Does tasks, and says how to cut work for it."""

    concurrent_studies = 1
    """How many studies it is worth running at the same time."""

    def stop(self) -> None:  # noqa: B027 (nothing to do for a crew that works by itself)
        """Have whoever waits for tasks of this crew give up."""

    @abstractmethod
    def cut(self, count: int, candidates: int, pace: TaskTime) -> ChunkSize:
        """How to cut `candidates` in `count` worlds."""

    @abstractmethod
    def run(
        self,
        task: Callable[..., T],
        calls: Sequence[tuple[Any, ...]],
        pace: TaskTime | None = None,
        units: Sequence[int] | None = None,
    ) -> list[T]:
        """What the task gives for each call, in order; `units` says how many candidates × worlds each holds."""

    @abstractmethod
    def simulate(self, policy: str, scenario: str | AnyScenario, **options: Any) -> Simulation:
        """`policies.simulate`, by this crew."""


class LocalWorkers(Workers):
    """Threads, or processes by loky.

    >>> LocalWorkers(2).run(divmod, [(7, 2), (9, 4)])
    [(3, 1), (2, 1)]
    """

    def __init__(self, jobs: int = 1, backend: str = DEFAULT_BACKEND) -> None:
        if backend not in BACKENDS:
            raise InputError(f"backend must be {join_words(list(BACKENDS))} but got {backend!r}.")
        self.jobs, self.backend = check_integer("jobs", jobs, least=1, most=1024), backend

    def cut(self, count: int, candidates: int, pace: TaskTime) -> ChunkSize:
        """Two parts a worker, of all candidates each."""
        wanted = 1 if self.jobs == 1 else PARTS_PER_JOB * self.jobs
        return ChunkSize(-(-count // wanted), candidates)

    def run(
        self,
        task: Callable[..., T],
        calls: Sequence[tuple[Any, ...]],
        pace: TaskTime | None = None,
        units: Sequence[int] | None = None,
    ) -> list[T]:
        """In this thread where there is one worker or one call."""
        if self.jobs == 1 or len(calls) == 1:
            return [task(*call) for call in calls]
        from joblib import Parallel, delayed

        from environments.plugins import register_for_pickling

        register_for_pickling()
        backend = BACKENDS[self.backend].joblib
        return list(Parallel(n_jobs=self.jobs, backend=backend)(delayed(task)(*call) for call in calls))

    def simulate(self, policy: str, scenario: str | AnyScenario, **options: Any) -> Simulation:
        """In threads."""
        from policies.engine.simulation import simulate

        return simulate(policy, scenario, jobs=self.jobs, **options)


SERIAL = LocalWorkers()


@contextmanager
def open_workers(jobs: int = 1, backend: str = DEFAULT_BACKEND, cluster: str | None = None) -> Iterator[Workers]:
    """A crew for a while: workers of this machine, or with `cluster` those of a Dask cluster, or "local" for its own.

    >>> with open_workers(jobs=2) as workers:
    ...     workers.run(divmod, [(7, 2)])
    [(3, 1)]
    """
    if cluster is None:
        yield LocalWorkers(jobs, backend)
        return
    from tuning.workers.cluster import open_cluster

    with open_cluster(cluster, jobs) as crew:
        yield crew


def run_concurrently(workers: Workers, runs: Sequence[Callable[[], T]]) -> list[T]:
    """What each run gives, in order, as many at a time as the crew is good for. The first failure ends them all.

    >>> from tuning.workers.local import SERIAL
    >>> run_concurrently(SERIAL, [lambda: 1, lambda: 2])
    [1, 2]
    """
    if min(workers.concurrent_studies, len(runs)) <= 1:
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

    pool = ThreadPoolExecutor(min(workers.concurrent_studies, len(runs)), thread_name_prefix="study")
    futures = [pool.submit(unless_failed, run) for run in runs]
    try:
        _wait(futures)
    except BaseException:  # an interrupt falls into this thread: the others end when their tasks are gone
        acknowledge_interrupt()
        failed.set()
        workers.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in errors:
        if not isinstance(error, Skipped):
            raise error
    return [future.result() for future in futures]


class Skipped(Exception):
    """A run that was not begun or not finished, since another had failed."""


def _wait(futures: Sequence[Future[T]]) -> None:
    """Wait in short stretches, so that an interrupt is heard at once on every platform."""
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
