"""What a cluster says of itself: versions, sources and speed of the scheduler and of each worker."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

from environments.identity import ABSENT, LIBRARIES, identity
from tuning.doctor.rows import reason
from tuning.doctor.speed import kernel_speed

Client = Any
"""A `distributed.Client` that is used from outside of its event loop; its types say that it may be inside."""

Speeds = tuple[tuple[float, ...], str]
"""Those of a worker's threads, or why there are none."""

PATIENCE = 60.0
"""Seconds that a worker has for an answer; one that must compile first takes up to half of it."""

TOGETHER = 0.5
"""Seconds of measuring when all threads of all workers do it at once."""

ROUNDS = 5
NOT_READ = "it can't read our tasks"
NOT_PASSED = "the scheduler can't pass our tasks on"


@dataclass(frozen=True)
class Node:
    """A scheduler or a worker. What it is follows `identity`; a word that it did not say is left out."""

    address: str
    said: dict[str, str]
    name: str = ""
    threads: int = 0
    memory: int = 0
    """Bytes it may use; 0 where nothing limits it."""
    millions: tuple[float, ...] = ()
    """Of steps a second on each of its threads, all threads of all workers at once."""
    fault: str = ""
    """Why it gave no speed."""


@dataclass(frozen=True)
class Cluster:
    """What was found behind an address."""

    scheduler: Node
    workers: list[Node] = field(default_factory=list)
    round_trip: float | None = None
    """Seconds of a task that does nothing; None without workers."""


def ask_cluster(client: Client) -> Cluster:
    """Ask the scheduler and all workers who they are and how fast.

    Versions come by Dask's own question, which a worker without ravenlab or of another Python answers too. Such a
    worker gets no task: one that can't unpickle what it is sent leaves the cluster.
    """
    info = client.scheduler_info(n_workers=-1)
    versions = client.get_versions(packages=[*LIBRARIES, "ravenlab"])
    passing = _scheduler_words(client)
    scheduler = Node(info["address"], _said(versions["scheduler"]) | passing)
    if not info["workers"]:
        return Cluster(scheduler)
    selves: dict[str, Any] = client.run(identity, on_error="return")
    fit = {address: about["nthreads"] for address, about in info["workers"].items() if _own_words(selves.get(address))}
    speeds = _speeds(client, fit) if passing else dict.fromkeys(fit, ((), NOT_PASSED))
    workers = [
        Node(
            address,
            _said(versions["workers"].get(address)) | _own_words(selves.get(address)),
            str(about["name"]),
            about["nthreads"],
            about["memory_limit"],
            *speeds.get(address, ((), NOT_READ)),
        )
        for address, about in info["workers"].items()
    ]
    round_trip = _round_trip(client) if any(worker.millions for worker in workers) else None
    return Cluster(scheduler, sorted(workers, key=lambda worker: worker.address), round_trip)


def _said(versions: Any) -> dict[str, str]:
    """Dask's account of versions in our words; empty for a worker that did not answer."""
    if not isinstance(versions, dict):
        return {}
    packages, host = versions["packages"], versions["host"]
    return {
        "python": ".".join(host["python"].split(".")[:3]),
        **{name: packages.get(name) or ABSENT for name in (*LIBRARIES, "ravenlab")},
        "machine": host["machine"],
    }


def _scheduler_words(client: Client) -> dict[str, str]:
    """What ravenlab on the scheduler says: it runs none of our code, but unpickles every task that it passes on."""
    try:
        return _own_words(client.run_on_scheduler(identity))
    except Exception:  # whatever its import raised there
        return {}


def _own_words(answer: Any) -> dict[str, str]:
    """What ravenlab on a worker says; nothing where it is missing or another one."""
    return answer if isinstance(answer, dict) else {}


def _speeds(client: Client, threads: dict[str, int]) -> dict[str, Speeds]:
    """Speed of each thread of each worker, or what went wrong. First all get ready, then all run at once."""
    answers: dict[str, Speeds] = {}
    for seconds in (0.0, TOGETHER):
        tasks = {
            address: [
                client.submit(kernel_speed, seconds, workers=[address], pure=False)
                for _ in range(threads[address] if seconds else 1)
            ]
            for address in threads
            if not answers.get(address, ((), ""))[1]
        }
        every = [future for futures in tasks.values() for future in futures]
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not all(future.done() for future in every):
            time.sleep(0.01)
        answers |= {address: _answer(futures) for address, futures in tasks.items()}
        client.cancel([future for future in every if not future.done()])
    return answers


def _answer(futures: list[Any]) -> Speeds:
    if not all(future.done() for future in futures):
        return (), f"no answer within {PATIENCE:g} s"
    for future in futures:
        if future.status != "finished":
            error = future.exception(timeout=5) if future.status == "error" else None
            return (), f"{type(error).__name__}: {reason(error)}" if error is not None else "it left"
    return tuple(future.result(timeout=5).millions for future in futures), ""


def _round_trip(client: Client) -> float:
    """Seconds until the answer of an empty task is here, on any worker."""
    spent = []
    for number in range(ROUNDS):
        begin = time.perf_counter()
        client.submit(int, number, pure=False).result(timeout=PATIENCE)
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)
