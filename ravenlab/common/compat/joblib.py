"""Private parts of joblib: its backend for Dask, and the error of its processes that a killed one causes.

Nothing here imports joblib before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client

PRIVATE = (
    "joblib._dask.DaskDistributedBackend.effective_n_jobs",
    "joblib.externals.loky.process_executor.TerminatedWorkerError",
)
"""Names of modules and classes."""


def use_dask(client: Client, timeout: float) -> Any:
    """Return a context in which joblib runs tasks on a Dask cluster, never in this process.

    joblib would run them here if the cluster had one thread. Without joblib's class, it does.

    Args:
        client: The client of the cluster.
        timeout: Seconds to wait for a worker.
    """
    from joblib import parallel_config

    try:
        from joblib._dask import DaskDistributedBackend
    except ImportError:
        return parallel_config(backend="dask", client=client, wait_for_workers_timeout=timeout)

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))

    return parallel_config(backend=Backend(client=client, wait_for_workers_timeout=timeout))


def killed_worker_error() -> type[Exception]:
    """Return the exception that is raised when a process of joblib was killed.

    >>> killed_worker_error().__name__
    'TerminatedWorkerError'
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    error: type[Exception] = TerminatedWorkerError
    return error
