"""Workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import ssl
import sys
import threading
import time
import warnings
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ravenlab.common.compat.joblib import use_dask
from ravenlab.common.errors import ExternalError, InputError
from ravenlab.common.fingerprint import identity
from ravenlab.common.paths import private_temporary_folder
from ravenlab.environments.blocks import AnyScenario
from ravenlab.policies.engine.simulation import Simulation, simulate
from ravenlab.studies.storage.lock import reconnect_seconds
from ravenlab.tuning.interrupts import acknowledge_interrupt
from ravenlab.tuning.workers.local import SAFE_PATH, Call, ChunkSize, Skipped, TaskTime, Timer, Workers
from ravenlab.tuning.workers.payload import Packer, PayloadMissing, TaskResult, machine_identity, run_task

if TYPE_CHECKING:
    from distributed import Client, LocalCluster
    from distributed.security import Security


TASK_SECONDS = 1.0
"""Target duration of a task: long compared with its overhead of milliseconds, short enough to avoid stragglers."""

MIN_TASK_SECONDS = 0.05  # duration below which the overhead of a task outweighs better balance
SCHEDULER_SECONDS = 0.002
"""Time of the single-threaded scheduler per task: with more threads, tasks must be longer."""

TASKS_PER_THREAD = 2
CONNECT_SECONDS = 10.0
PING_SECONDS = 10.0  # between checks that the scheduler answers
SILENCE_SECONDS = 30.0  # without an answer, after which a connection counts as lost
TASK_TIMEOUT = 3600.0  # seconds after which a task without an answer is given up
CONCURRENT_STUDIES = 8
"""Studies that run at the same time: sampling and storing use this process, which about this many keep busy."""

LOCAL = "local"
LOOPBACK = "127.0.0.1"
SAVED = "Completed trials are saved; rerun the same command to resume."

T = TypeVar("T")


def task_seconds(threads: int, total: float) -> float:
    """Return how long a task should take if the work takes `total` seconds on one thread.

    >>> task_seconds(16, 100.0), task_seconds(16, 8.0), task_seconds(1000, 8.0)
    (1.0, 0.25, 2.0)
    """
    least = max(MIN_TASK_SECONDS, SCHEDULER_SECONDS * threads)
    return max(least, min(TASK_SECONDS, total / (TASKS_PER_THREAD * threads)))


def chunk_size(threads: int, count: int, candidates: int, task_time: TaskTime) -> ChunkSize:
    """Return worlds and candidates per task. The number of worlds is a power of two.

    Workers cache worlds by range, so the number is kept from batch to batch while it fits.

    >>> chunk_size(2, 200, 16, TaskTime(0.01))
    ChunkSize(worlds=4, candidates=16)
    >>> chunk_size(2, 200, 16, TaskTime(0.5))
    ChunkSize(worlds=1, candidates=2)
    """
    seconds = task_seconds(threads, task_time.seconds * count * candidates)
    worlds = seconds / max(task_time.seconds * candidates, 1e-12)
    if worlds < 1.0:
        return ChunkSize(1, min(candidates, max(1, int(seconds / task_time.seconds))))
    if not task_time.worlds / 1.5 <= worlds < 3.0 * task_time.worlds:
        task_time.worlds = 2 ** int(math.log2(worlds))
    return ChunkSize(min(count, task_time.worlds), candidates)


def check_address(address: str) -> None:
    """Raise InputError unless this is "local" or the address of a scheduler.

    >>> check_address("localhost")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: cluster must be local or an address such as tcp://host:8786 but got 'localhost'.
    """
    protocol, _, place = address.partition("://")
    host, _, port = place.rpartition(":")
    if address != LOCAL and not (protocol in ("tcp", "tls") and host and port.isdecimal() and 0 < int(port) < 65536):
        raise InputError(
            f"cluster must be local or an address such as tcp://host:8786 but got {address!r}.", field="cluster"
        )


def check_dask_installed() -> None:
    try:
        import cryptography  # noqa: F401
        import distributed  # noqa: F401
    except ImportError:
        raise InputError('cluster needs Dask: pip install "ravenlab[cluster]".', field="cluster") from None


def silence_dask() -> None:
    """Silence the logs of Dask, which are for its operators; relevant failures are raised as errors."""
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def local_cluster(jobs: int) -> Iterator[LocalCluster]:
    """Start a cluster on this machine. Its processes ignore Ctrl-C, which this process handles.

    Other users of this machine can reach its ports, so all connections need a certificate that only exists in the
    memory of its processes. The scheduler and the workers import from their scratch folders, so these are private.
    """
    import dask
    from distributed import LocalCluster

    from ravenlab.common.compat.distributed import LocalSecurity

    with SAFE_PATH, private_temporary_folder() as scratch, dask.config.set({"temporary-directory": str(scratch)}):
        in_main_thread = threading.current_thread() is threading.main_thread()
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread else None
        try:
            cluster = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",
                silence_logs=logging.CRITICAL,
                security=LocalSecurity.temporary(),  # type: ignore[no-untyped-call]
            )
        finally:
            if in_main_thread:
                signal.signal(signal.SIGINT, handler)
        with cluster:
            yield cluster


def check_scheduler(client: Client, address: str) -> None:
    """Raise InputError unless the scheduler has the same ravenlab: it unpickles tasks, and would hang without it."""
    try:
        sources = client.run_on_scheduler(identity)["sources"]
    except ImportError:
        raise InputError(f"cluster {address}: the scheduler cannot import ravenlab; install it there too.") from None
    except OSError:
        raise InputError(f"cluster {address}: the scheduler stopped answering.") from None
    if sources != identity()["sources"]:
        raise InputError(
            f"cluster {address}: the scheduler has other sources of ravenlab than this machine; "
            "install the same version."
        )


def ask_scheduler(address: str, seconds: float, security: Security | None = None) -> None:
    """Raise TimeoutError or OSError unless a scheduler answers at this address in time.

    Dask sets a time limit for connections, but not for the first answer: it would wait without limit for a stopped
    scheduler, or for a server of another kind. The question is asked in a new thread, which has no event loop yet.
    """
    from distributed.core import rpc
    from distributed.security import Security

    arguments = (security or Security()).get_connection_args("client")

    async def ask() -> str:
        async with rpc(address, timeout=0.9 * seconds, connection_args=arguments) as server:
            return str((await server.identity())["type"])

    async def ask_in_time() -> str:
        return await asyncio.wait_for(ask(), seconds)

    with ThreadPoolExecutor(1) as thread:
        kind = thread.submit(asyncio.run, ask_in_time()).result()
    if kind != "Scheduler":
        raise OSError(f"it is a {kind.lower()}, not a scheduler")


def connect(address: str, seconds: float | None = None, security: Security | None = None) -> Client:
    """Connect to a scheduler, by default with the certificates in Dask's configuration; raise InputError on failure."""
    seconds = CONNECT_SECONDS if seconds is None else seconds
    from distributed import Client

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions, which tasks check themselves
        try:
            ask_scheduler(address, seconds, security)
            return Client(address, timeout=seconds, set_as_default=False, security=security)
        except Exception as error:  # another server may send anything
            if (refusal := _tls_error(error)) is not None:
                raise InputError(f"cluster {address} cannot be reached: {refusal}.") from None
            reason = " ".join(str(error).split())[:200].rstrip(".") or "no scheduler answers at this port"
            raise InputError(f"cluster {address} does not answer within {seconds:g} s: {reason}.") from None


def _tls_error(error: BaseException) -> str | None:
    """Return the reason if a connection failed because of TLS: a certificate, or Dask's configuration of it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return f"TLS: {cause.reason or cause}; check distributed.comm.tls in Dask's configuration"
        if isinstance(cause, TypeError) and "TLS" in str(cause):
            return "TLS needs certificates; set distributed.comm.tls in Dask's configuration"
        cause = cause.__cause__ or cause.__context__
    return None


@contextmanager
def open_cluster(address: str, jobs: int = 1, *, inspect_only: bool = False) -> Iterator[ClusterWorkers]:
    """Open the workers of a cluster; "local" starts one of `jobs` processes on this machine and stops it afterwards.

    `inspect_only` skips the check that the scheduler has the same ravenlab.
    """
    check_address(address)
    check_dask_installed()
    silence_dask()
    with ExitStack() as stack:
        security = None
        if address == LOCAL:
            cluster = stack.enter_context(local_cluster(jobs))
            address = cluster.scheduler_address
            security = cluster.security
        workers = ClusterWorkers(address, connect(address, security=security), security)
        stack.callback(workers.close)
        stack.callback(acknowledge_interrupt)  # a repeated interrupt would leave processes behind
        threading.Thread(target=workers.watch_scheduler, daemon=True).start()
        if not inspect_only:
            check_scheduler(workers.client, address)
        yield workers


class ClusterWorkers(Workers):
    """Workers of a Dask cluster; several studies may use them at the same time."""

    concurrent_studies = CONCURRENT_STUDIES

    def __init__(self, address: str, client: Client, security: Security | None = None) -> None:
        self.address = address
        self.client = client
        self.security = security
        self.packer = Packer()
        self.driver = machine_identity()
        self.lock = threading.Lock()
        self.stopped = False
        self.closed = threading.Event()
        self.reported: set[str] = set()

    def chunk_size(self, count: int, candidates: int, task_time: TaskTime) -> ChunkSize:
        """Split into tasks of about a second, or shorter if threads would be idle."""
        return chunk_size(max(1, self._threads()), count, candidates, task_time)

    def run(self, task: Callable[..., T], calls: Sequence[Call], timer: Timer | None = None) -> list[T]:
        """Run until every call has a result; lost calls are submitted again."""
        results: dict[int, TaskResult] = {}
        missing = list(range(len(calls)))
        needs_payload = set[int]()
        lost_since: float | None = None
        while missing:
            self._check_stopped()
            client = self.client
            packed = [self.packer.pack(calls[i], full=i in needs_payload) for i in missing]
            lost = []
            for i, answer in zip(missing, self._attempt(client, task, packed), strict=True):
                if isinstance(answer, TaskResult):
                    results[i] = answer
                elif isinstance(answer, PayloadMissing):
                    needs_payload.add(i)
                else:
                    lost.append(i)
            lost_since = None if len(lost) < len(missing) else lost_since or time.monotonic()
            if lost:
                self._check_stopped()
                self._reconnect(client, lost_since or time.monotonic())
            missing = [i for i in missing if i not in results]
        ordered = [results[i] for i in range(len(calls))]
        if timer is not None:
            timer([result.seconds for result in ordered])
        self._report_differences(ordered)
        return [result.value for result in ordered]

    def simulate(self, policy: str, scenario: str | AnyScenario, **options: Any) -> Simulation:
        """Run as one task: pieces of a reproduction run concurrently."""
        return self.run(partial(simulate, policy, scenario, **options), [()])[0]

    def stop(self) -> None:
        self.stopped = True
        self.close()

    def close(self) -> None:
        """Disconnect; the cluster keeps running."""
        self.closed.set()
        with suppress(Exception):
            self.client.close(timeout=2)

    def watch_scheduler(self) -> None:
        """Abort the connection to a scheduler that is silent, such as a stopped process; runs in a thread."""
        from ravenlab.common.compat.distributed import abort

        while not self.closed.wait(PING_SECONDS):
            client = self.client
            if client.status != "running":
                continue
            try:
                ask_scheduler(self.address, min(SILENCE_SECONDS, reconnect_seconds()), self.security)
            except TimeoutError:
                if client.loop is not None:
                    client.loop.add_callback(abort, client)
            except Exception:  # the scheduler has ended, which the client notices
                continue

    def _attempt(self, client: Client, task: Callable[..., T], calls: Sequence[Call]) -> list[Any]:
        """Submit calls once; anything but a `TaskResult` or `PayloadMissing` means that the call was lost."""
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker
        from joblib import Parallel, delayed

        all_lost: list[Any] = [None] * len(calls)
        if client.status != "running":
            return all_lost
        try:
            with use_dask(client, reconnect_seconds()):
                parallel = Parallel(batch_size=1, pre_dispatch="all", timeout=TASK_TIMEOUT)
                return list(parallel(delayed(run_task)(task, call, self.driver) for call in calls))
        except KilledWorker as error:
            raise ExternalError(
                f"cluster {self.address}: the workers of a task were killed {error.allowed_failures + 1} times, "
                f"possibly out of memory. {SAVED}"
            ) from None
        except (CancelledError, CommClosedError):
            return all_lost
        except TimeoutError:
            if client.status != "running":
                return all_lost
            raise ExternalError(f"cluster {self.address} has no worker that answers. {SAVED}") from None
        except (OSError, RuntimeError):
            if client.status == "running":
                raise  # an error of the task itself
            return all_lost

    def _reconnect(self, broken: Client, lost_since: float) -> None:
        """Replace a broken client; several studies may call this at the same time."""
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
                    self.client = connect(self.address, max(1.0, min(5.0, left)), self.security)
                    return
                except InputError:
                    if left <= 0.0:
                        raise ExternalError(
                            f"cluster {self.address} stopped and did not return within {seconds:g} s. {SAVED}"
                        ) from None
                    time.sleep(0.2)
        self._check_stopped()

    def _check_stopped(self) -> None:
        if self.stopped:
            raise Skipped

    def _threads(self) -> int:
        if self.client.status != "running":
            return 1
        try:
            return int(sum(self.client.ncores().values()))
        except Exception:  # the scheduler has just stopped
            return 1

    def _report_differences(self, results: Sequence[TaskResult]) -> None:
        """Warn once about each difference between the versions of a worker and of this machine."""
        for result in results:
            if result.differences and result.differences not in self.reported:
                self.reported.add(result.differences)
                print(
                    f"ravenlab: workers of {self.address} differ from this machine ({result.differences}), so results "
                    "may differ in the last digits; run ravenlab doctor on this cluster for details.",
                    file=sys.stderr,
                )
