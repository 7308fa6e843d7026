"""How work is cut into tasks for a cluster."""

from __future__ import annotations

import logging
import math
import signal
import statistics
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from environments.blocks import AnyScenario
from environments.errors import ExternalError, InputError
from environments.fingerprint import identity
from policies.engine.simulation import Simulation, simulate
from studies.storage.lock import reconnect_seconds
from tuning.interrupts import acknowledge_interrupt
from tuning.workers.local import ChunkSize, Skipped, TaskTime, Workers
from tuning.workers.payload import Done, Home, NotHere, Packer, do_task

if TYPE_CHECKING:
    from distributed import Client, LocalCluster


TASK_SECONDS = 1.0
"""What a task should take: long against its overhead of some milliseconds, short against the wait for a straggler."""

MIN_TASK_SECONDS = 0.05
"""Below this, cutting further costs more than it gains."""

SCHEDULER_SECONDS = 0.002
"""What a task costs the scheduler, which has one core for all: the more threads, the longer tasks must be."""

TASKS_A_THREAD = 2


def task_seconds(threads: int, whole: float) -> float:
    """How long a task should take, of work that takes `whole` seconds on one thread.

    >>> task_seconds(16, 100.0), task_seconds(16, 8.0), task_seconds(1000, 8.0)
    (1.0, 0.25, 2.0)
    """
    least = max(MIN_TASK_SECONDS, SCHEDULER_SECONDS * threads)
    return max(least, min(TASK_SECONDS, whole / (TASKS_A_THREAD * threads)))


def chunk_size(threads: int, count: int, candidates: int, pace: TaskTime) -> ChunkSize:
    """Worlds and candidates a task: whole powers of two of worlds, the last ones again while they fit.

    Workers keep worlds by the range that was asked for, so ranges should be the same from batch to batch.

    >>> cut_for(2, 200, 16, Pace(0.01))
    Cut(worlds=4, candidates=16)
    >>> cut_for(2, 200, 16, Pace(0.5))
    Cut(worlds=1, candidates=2)
    """
    wanted = task_seconds(threads, pace.seconds * count * candidates)
    worlds = wanted / max(pace.seconds * candidates, 1e-12)
    if worlds < 1.0:
        return ChunkSize(1, min(candidates, max(1, int(wanted / pace.seconds))))
    if not pace.worlds / 1.5 <= worlds < 3.0 * pace.worlds:
        pace.worlds = 2 ** int(math.log2(worlds))
    return ChunkSize(min(count, pace.worlds), candidates)


LOCAL = "local"
LOOPBACK = "127.0.0.1"
CONNECT_SECONDS = 10.0


def check_address(address: str) -> None:
    """Refuse what can't be a scheduler's address.

    >>> check_address("localhost")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: cluster must be local or an address such as tcp://host:8786 but got 'localhost'.
    """
    kind, _, place = address.partition("://")
    host, _, port = place.rpartition(":")
    if address != LOCAL and not (kind in ("tcp", "tls") and host and port.isdecimal() and 0 < int(port) < 65536):
        raise InputError(
            f"cluster must be local or an address such as tcp://host:8786 but got {address!r}.", field="cluster"
        )


def check_installed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError('cluster needs Dask: pip install "ravenlab[cluster]".', field="cluster") from None


def hush() -> None:
    """Dask's own log is for its operators; what a user needs to know is said by us."""
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def own_cluster(jobs: int) -> Iterator[LocalCluster]:
    """Processes of this machine. An interrupt of the terminal goes to all of them, but is ours to hear."""
    from distributed import LocalCluster

    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            silence_logs=logging.CRITICAL,
        )
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    with cluster:
        yield cluster


def check_scheduler(client: Client, address: str) -> None:
    """A scheduler unpacks tasks to see what they are: without ravenlab it would wait for ever."""
    try:
        there = client.run_on_scheduler(identity)["sources"]
    except ImportError:
        raise InputError(f"cluster {address}: its scheduler can't import ravenlab; install it there too.") from None
    if there != identity()["sources"]:
        raise InputError(f"cluster {address}: its scheduler runs other sources of ravenlab than this machine.")


def connect(address: str, seconds: float | None = None) -> Client:
    """A client of a scheduler, or one clear line when nobody answers."""
    seconds = CONNECT_SECONDS if seconds is None else seconds
    from distributed import Client

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions, which tasks check themselves and `ravenlab doctor` explains
        try:
            return Client(address, timeout=seconds, set_as_default=False)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"cluster {address} does not answer within {seconds:g} s: {reason}") from None


T = TypeVar("T")

AT_ONCE = 8
"""Studies side by side: their asking and landing share this process, which is busy with about so many."""

STUCK_SECONDS = 3600.0
"""A task that nobody answers for in so long is given up, rather than waited for without end."""


@contextmanager
def open_cluster(address: str, jobs: int = 1, *, inspect_only: bool = False) -> Iterator[ClusterWorkers]:
    """The workers of a cluster; "local" starts one of `jobs` processes here and ends it afterwards.

    Whoever comes `to_look` is let in whatever the scheduler lacks.
    """
    check_address(address)
    check_installed()
    hush()
    with ExitStack() as stack:
        if address == LOCAL:
            address = stack.enter_context(own_cluster(jobs)).scheduler_address
        crew = ClusterWorkers(address, connect(address))
        stack.callback(crew.close)
        stack.callback(
            acknowledge_interrupt
        )  # from here on things end, and an interrupt that insists would leave some behind
        if not inspect_only:
            check_scheduler(crew.client, address)
        yield crew


class ClusterWorkers(Workers):
    """Workers of a Dask cluster; several studies may use it at the same time."""

    concurrent_studies = AT_ONCE

    def __init__(self, address: str, client: Client) -> None:
        self.address, self.client = address, client
        self.carrier, self.home = Packer(), Home.here()
        self.lock = threading.Lock()
        self.stopped = False
        self.others: set[str] = set()

    def cut(self, count: int, candidates: int, pace: TaskTime) -> ChunkSize:
        """Tasks of about a second, shorter where that would leave threads idle."""
        return chunk_size(max(1, self._threads()), count, candidates, pace)

    def run(
        self,
        task: Callable[..., T],
        calls: Sequence[tuple[Any, ...]],
        pace: TaskTime | None = None,
        units: Sequence[int] | None = None,
    ) -> list[T]:
        """Until every call is answered; what was lost on the way is asked for again."""
        answers: dict[int, Done] = {}
        missing, asked_for = list(range(len(calls))), set[int]()
        lost_since: float | None = None
        while missing:
            self._give_up_if_stopped()
            client = self.client
            carried = [self.carrier.pack(calls[i], whole=i in asked_for) for i in missing]
            got = self._attempt(client, task, carried)
            asked_for |= {i for i, answer in zip(missing, got, strict=True) if isinstance(answer, NotHere)}
            answers |= {i: answer for i, answer in zip(missing, got, strict=True) if isinstance(answer, Done)}
            left = [i for i in missing if i not in answers]
            lost = [i for i, answer in zip(missing, got, strict=True) if not isinstance(answer, Done | NotHere)]
            lost_since = None if len(lost) < len(missing) else lost_since or time.monotonic()
            if lost:
                self._give_up_if_stopped()
                self._reconnect(client, lost_since or time.monotonic())
            missing = left
        done = [answers[i] for i in range(len(calls))]
        if pace is not None and units is not None:
            pace.learn(statistics.median(one.seconds / n for one, n in zip(done, units, strict=True)))
        self._note_others(done)
        return [one.value for one in done]

    def simulate(self, policy: str, scenario: str | AnyScenario, **options: Any) -> Simulation:
        """As one task; pieces of a reproduction run side by side."""
        return self.run(partial(simulate, policy, scenario, **options), [()])[0]

    def stop(self) -> None:
        """Let go of all tasks: whoever waits for one is told at once."""
        self.stopped = True
        self.close()

    def close(self) -> None:
        """Leave the cluster as it is."""
        with suppress(Exception):
            self.client.close(timeout=2)

    def _attempt(self, client: Client, task: Callable[..., T], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What came back of each call: an answer, or whatever stands for one that was lost."""
        from asyncio import CancelledError

        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker
        from joblib import Parallel, delayed, parallel_config

        if client.status != "running":
            return [None] * len(calls)
        try:
            with parallel_config(backend=_backend(client)):
                work = Parallel(batch_size=1, pre_dispatch="all", timeout=STUCK_SECONDS)
                return list(work(delayed(do_task)(task, call, self.home) for call in calls))
        except KilledWorker as error:
            raise ExternalError(
                f"cluster {self.address}: a task went down with its worker {error.allowed_failures + 1} times; "
                "is there enough memory? What had landed is kept."
            ) from None
        except (CancelledError, CommClosedError):
            return [None] * len(calls)
        except TimeoutError:
            if client.status != "running":
                return [None] * len(calls)
            raise ExternalError(
                f"cluster {self.address} has no worker that answers. What had landed is kept; rerun to go on."
            ) from None
        except (OSError, RuntimeError):
            if client.status == "running":
                raise  # the task's own
            return [None] * len(calls)

    def _reconnect(self, broken: Client, lost_since: float) -> None:
        """A client that works, however many studies ask for it."""
        with self.lock:
            if self.client is not broken:
                return
            if broken.status == "running" and time.monotonic() - lost_since < 1.0:
                return
            with suppress(Exception):
                broken.close(timeout=2)
            seconds = reconnect_seconds()
            deadline = lost_since + seconds
            while not self.stopped:
                left = deadline - time.monotonic()
                try:
                    self.client = connect(self.address, max(1.0, min(5.0, left)))
                    return
                except InputError:
                    if left <= 0.0:
                        raise ExternalError(
                            f"cluster {self.address} is gone and did not come back within {seconds:g} s. "
                            "What had landed is kept; rerun to go on."
                        ) from None
                    time.sleep(0.2)
        self._give_up_if_stopped()

    def _give_up_if_stopped(self) -> None:
        if self.stopped:
            raise Skipped

    def _threads(self) -> int:
        if self.client.status != "running":
            return 1
        try:
            return int(sum(self.client.ncores().values()))
        except Exception:  # the scheduler went away between the two lines
            return 1

    def _note_others(self, done: Sequence[Done]) -> None:
        """Say once of each worker's versions that differ: results may then differ in the last digits."""
        for one in done:
            if one.differs and one.differs not in self.others:
                self.others.add(one.differs)
                print(
                    f"ravenlab: workers of {self.address} differ from this machine ({one.differs}), so the last digits "
                    "may differ too; run ravenlab doctor on this cluster for details.",
                    file=sys.stderr,
                )


def _backend(client: Client) -> Any:
    """Joblib's backend for Dask, but for this: where a cluster has one thread, joblib would work here instead."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))

    return Backend(client=client, wait_for_workers_timeout=reconnect_seconds())
