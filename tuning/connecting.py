"""Finding a Dask scheduler, or starting a cluster of this machine's own; what is wrong with one is said in a line."""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from environments.errors import InputError
from environments.identity import identity

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

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
