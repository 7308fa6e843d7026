"""Checks of a cluster: versions and sources of the scheduler and of each worker, compared with this machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ravenlab.common.fingerprint import LIBRARIES, NOT_INSTALLED, identity
from ravenlab.common.text import plural
from ravenlab.tuning.doctor import NOTE, PROBLEM, Check

Client = Any
"""A `distributed.Client` used from outside of its event loop; its types also allow use from inside."""

COMPARED = ("python", *LIBRARIES, "ravenlab", "sources", "machine", "processor")
COMPARED_ON_SCHEDULER = ("python", "dask", "distributed", "cloudpickle", "joblib", "ravenlab", "sources")
"""A scheduler computes nothing, but unpickles the tasks that it forwards."""

TRANSPORT = {"dask", "distributed", "cloudpickle", "joblib"}
"""Libraries that transfer tasks; the others compute."""


@dataclass(frozen=True)
class Node:
    """A scheduler or a worker. `identity` is empty if it cannot import ravenlab."""

    label: str
    identity: dict[str, str]
    threads: int = 0


@dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers."""

    scheduler: Node
    workers: list[Node] = field(default_factory=list)


def inspect_cluster(client: Client) -> Cluster:
    """Ask the scheduler and all workers for their identity, which is imported there and not sent."""
    info = client.scheduler_info(n_workers=-1)
    try:
        reported = client.run_on_scheduler(identity)
    except Exception:  # any error of the import on the scheduler
        reported = {}
    answers: dict[str, Any] = client.run(identity, on_error="return") if info["workers"] else {}
    workers = []
    for address, about in sorted(info["workers"].items()):
        name = str(about["name"])
        answer = answers.get(address)
        label = address if name in ("", address) else f"{name} ({address})"
        workers.append(Node(label, answer if isinstance(answer, dict) else {}, about["nthreads"]))
    return Cluster(Node(info["address"], reported), workers)


def check_cluster(cluster: Cluster, local: Mapping[str, str]) -> list[Check]:
    """Check a cluster, compared with the identity of this machine."""
    scheduler = cluster.scheduler
    workers = cluster.workers
    threads = plural(sum(worker.threads for worker in workers), "thread")
    rows = [
        Check("scheduler", f"{scheduler.label}, {plural(len(workers), 'worker')}, {threads}"),
        _check_version("scheduler", scheduler.identity, local, COMPARED_ON_SCHEDULER),
    ]
    if not workers:
        return [*rows, Check("workers", "none", PROBLEM, f"start some: dask worker {scheduler.label}")]
    alike: dict[tuple[str | None, ...], list[Node]] = {}
    for worker in workers:
        alike.setdefault(tuple(worker.identity.get(key) for key in COMPARED), []).append(worker)
    for group in sorted(alike.values(), key=len, reverse=True):
        if len(group) == len(workers):
            label = f"all {len(workers)} workers"
        else:
            label = group[0].label if len(group) == 1 else f"{len(group)} workers such as {group[0].label}"
        rows.append(_check_version(label, group[0].identity, local, COMPARED))
    return rows


def _check_version(label: str, remote: Mapping[str, str], local: Mapping[str, str], keys: Sequence[str]) -> Check:
    """Compare the identity of another machine with that of this one."""
    check = f"versions, {label}"
    if not remote:
        return Check(check, "unknown", PROBLEM, 'pip install "ravenlab[cluster]" there and restart it')
    names = [key for key in keys if remote.get(key) != local.get(key)]
    if not names:
        return Check(check, "as here")
    found = ", ".join(f"{name} {remote.get(name, 'unknown')} (here {local.get(name, NOT_INSTALLED)})" for name in names)
    minor = local["python"].rpartition(".")[0]
    if remote.get("python", "").rpartition(".")[0] != minor:
        advice = f"use Python {minor} everywhere: tasks cannot be sent between minor versions"
        return Check(check, found, PROBLEM, advice)
    if "sources" in names or "ravenlab" in names:
        advice = "install the same ravenlab there and restart it: other sources may give other results"
        return Check(check, found, PROBLEM, advice)
    if TRANSPORT & {*names}:
        return Check(check, found, NOTE, "install the same versions there: sending tasks may fail")
    advice = "results may differ in the last digits; use the same pinned versions and processor"
    return Check(check, found, NOTE, advice)
