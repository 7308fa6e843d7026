"""Checks of a cluster: versions, fingerprint of the computation and speed of the scheduler and of each worker."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from environments.fingerprint import LIBRARIES, NOT_INSTALLED, identity
from environments.text import format_number, format_percent, plural
from tuning.doctor import NOTE, OK, PROBLEM, Check, reason
from tuning.doctor.machine import measure_kernel_speed

Client = Any
"""A `distributed.Client` used from outside of its event loop; its types also allow use from inside."""

Speeds = tuple[tuple[float, ...], str]  # speed of each thread of a worker, or why it is unknown
COMPARED = ("python", *LIBRARIES, "ravenlab", "sources", "machine", "processor")
COMPARED_ON_SCHEDULER = ("python", "dask", "distributed", "cloudpickle", "joblib", "ravenlab", "sources")
"""A scheduler computes nothing, but unpickles the tasks that it forwards."""

TRANSPORT = {"dask", "distributed", "cloudpickle", "joblib"}
"""Libraries that transfer tasks; the others compute."""

TIMEOUT = 60.0  # seconds for a worker's answer; compilation takes up to half of it
MEASURED_SECONDS = 0.5  # duration of the measurement on all threads of all workers at once
SLOW = 0.5  # share of the median thread's speed below which a worker delays the others
LISTED = 24  # number of workers up to which each has a row; of more workers, only slow and faulty ones are listed
CANNOT_READ = "it cannot unpickle tasks"
CANNOT_FORWARD = "the scheduler cannot forward tasks"


@dataclass(frozen=True)
class Node:
    """A scheduler or a worker. `identity` has the keys of `fingerprint.identity` that it reported."""

    address: str
    identity: dict[str, str]
    name: str = ""
    threads: int = 0
    millions: tuple[float, ...] = ()
    """Million steps per second of each thread, with all threads of all workers running at once."""
    fault: str = ""
    """Why there is no speed."""

    @property
    def label(self) -> str:
        """The address, with the name if there is one."""
        return self.address if self.name in ("", self.address) else f"{self.name} ({self.address})"


@dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers."""

    scheduler: Node
    workers: list[Node] = field(default_factory=list)


def inspect_cluster(client: Client) -> Cluster:
    """Read versions and measure the speed of all workers.

    Versions come from Dask's own protocol, which also works without ravenlab or with another Python. A worker without
    ravenlab gets no task: it could not unpickle it and would leave the cluster.
    """
    info = client.scheduler_info(n_workers=-1)
    versions = client.get_versions(packages=[*LIBRARIES, "ravenlab"])
    try:
        forwarding = _reported(client.run_on_scheduler(identity))
    except Exception:  # any error of the import on the scheduler
        forwarding = {}
    scheduler = Node(info["address"], _dask_versions(versions["scheduler"]) | forwarding)
    if not info["workers"]:
        return Cluster(scheduler)
    answers: dict[str, Any] = client.run(identity, on_error="return")
    usable = {
        address: about["nthreads"] for address, about in info["workers"].items() if _reported(answers.get(address))
    }
    speeds = _measure_speeds(client, usable) if forwarding else dict.fromkeys(usable, ((), CANNOT_FORWARD))
    workers = [
        Node(
            address,
            _dask_versions(versions["workers"].get(address)) | _reported(answers.get(address)),
            str(about["name"]),
            about["nthreads"],
            *speeds.get(address, ((), CANNOT_READ)),
        )
        for address, about in info["workers"].items()
    ]
    return Cluster(scheduler, sorted(workers, key=lambda worker: worker.address))


def _dask_versions(versions: Any) -> dict[str, str]:
    """Return Dask's report of versions under the keys of `identity`; empty for a worker that did not answer."""
    if not isinstance(versions, dict):
        return {}
    packages, host = versions["packages"], versions["host"]
    return {
        "python": ".".join(host["python"].split(".")[:3]),
        **{name: packages.get(name) or NOT_INSTALLED for name in (*LIBRARIES, "ravenlab")},
        "machine": host["machine"],
    }


def _reported(answer: Any) -> dict[str, str]:
    """Return the identity that ravenlab reported; empty if ravenlab is missing or raised an error."""
    return answer if isinstance(answer, dict) else {}


def _measure_speeds(client: Client, threads: dict[str, int]) -> dict[str, Speeds]:
    """Measure the speed of each thread of each worker. First all compile, then all run at once."""
    answers: dict[str, Speeds] = {}
    for seconds in (0.0, MEASURED_SECONDS):
        tasks = {
            address: [
                client.submit(measure_kernel_speed, seconds, workers=[address], pure=False)
                for _ in range(threads[address] if seconds else 1)
            ]
            for address in threads
            if not answers.get(address, ((), ""))[1]
        }
        futures = [future for worker_tasks in tasks.values() for future in worker_tasks]
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until and not all(future.done() for future in futures):
            time.sleep(0.01)
        answers |= {address: _collect(futures) for address, futures in tasks.items()}
        client.cancel([future for future in futures if not future.done()])
    return answers


def _collect(futures: list[Any]) -> Speeds:
    if not all(future.done() for future in futures):
        return (), f"no answer within {format_number(TIMEOUT)} s"
    for future in futures:
        if future.status != "finished":
            error = future.exception(timeout=5) if future.status == "error" else None
            return (), f"{type(error).__name__}: {reason(error)}" if error is not None else "it left the cluster"
    return tuple(future.result(timeout=5) for future in futures), ""


def check_cluster(cluster: Cluster, local: Mapping[str, str]) -> list[Check]:
    """Check a cluster, compared with the identity of this machine."""
    scheduler, workers = cluster.scheduler, cluster.workers
    threads = plural(sum(worker.threads for worker in workers), "thread")
    rows = [
        Check("scheduler", f"{scheduler.address}, {plural(len(workers), 'worker')}, {threads}"),
        _check_version("scheduler", scheduler, local, COMPARED_ON_SCHEDULER),
    ]
    if not workers:
        return [*rows, Check("workers", "none", PROBLEM, f"start some: dask worker {scheduler.address}")]
    alike: dict[tuple[str | None, ...], list[Node]] = {}
    for worker in workers:
        alike.setdefault(tuple(worker.identity.get(key) for key in COMPARED), []).append(worker)
    for group in sorted(alike.values(), key=len, reverse=True):
        if len(group) == len(workers):
            label = f"all {len(workers)} workers"
        else:
            label = group[0].label if len(group) == 1 else f"{len(group)} workers such as {group[0].label}"
        rows.append(_check_version(label, group[0], local, COMPARED))
    return rows + _check_speeds(workers)


def differing_keys(remote: Mapping[str, str], local: Mapping[str, str], keys: Sequence[str] = COMPARED) -> list[str]:
    """List the keys under which another machine differs or reports nothing.

    >>> differing_keys({"numpy": "2.4.5", "numba": "0.68.1"}, {"numpy": "2.4.6", "numba": "0.68.1"}, ("numpy", "numba"))
    ['numpy']
    """
    return [key for key in keys if remote.get(key) != local.get(key)]


def _check_version(label: str, node: Node, local: Mapping[str, str], keys: Sequence[str]) -> Check:
    remote, names = node.identity, differing_keys(node.identity, local, keys)
    if not names:
        return Check(f"versions, {label}", "as here")
    parts = [f"{name} {remote.get(name, 'unknown')} (here {local.get(name, NOT_INSTALLED)})" for name in names]
    return Check(f"versions, {label}", ", ".join(parts), *_judge(remote, local, names))


def _judge(remote: Mapping[str, str], local: Mapping[str, str], names: Sequence[str]) -> tuple[str, str]:
    """Return the verdict on differences, and what to do."""
    minor = local["python"].rpartition(".")[0]
    if not remote:
        return PROBLEM, "restart it: it does not report its versions"
    if remote.get("python", "").rpartition(".")[0] != minor:
        return PROBLEM, f"use Python {minor} everywhere: tasks cannot be sent between minor versions"
    if "sources" not in remote:
        return PROBLEM, 'pip install "ravenlab[cluster]" there and restart it; workers and scheduler need it'
    if "sources" in names or "ravenlab" in names:
        return PROBLEM, "install the same ravenlab there and restart it: other sources may give other results"
    if TRANSPORT & {*names}:
        return NOTE, "install the same versions there: sending tasks may fail"
    return NOTE, "results may differ in the last digits; use the same pinned versions and processor"


def _check_speeds(workers: Sequence[Node]) -> list[Check]:
    means = [statistics.fmean(worker.millions) for worker in workers if worker.millions]
    median = statistics.median(means) if means else 0.0
    rows = [_check_speed(worker, median) for worker in workers]
    if len(rows) > LISTED:
        rows = [row for row in rows if row.verdict != OK]
    total = sum(sum(worker.millions) for worker in workers)
    return [*rows, Check("speed of all", f"{format_number(total)} M steps/s, all threads at once")] if total else rows


def _check_speed(worker: Node, median: float) -> Check:
    name, threads = f"worker {worker.label}", plural(worker.threads, "thread")
    if not worker.millions:
        explained = worker.fault in (CANNOT_FORWARD, CANNOT_READ)
        verdict = (NOTE, "see the row on versions") if explained else (PROBLEM, "see its log")
        return Check(name, f"{threads}, no speed: {worker.fault}", *verdict)
    speed = f"{threads}, {format_number(sum(worker.millions))} M steps/s"
    share = statistics.fmean(worker.millions) / median
    if share < SLOW:
        return Check(
            name, speed, NOTE, f"straggler: {format_percent(share)} of the median speed per thread; is it busy?"
        )
    return Check(name, speed)
