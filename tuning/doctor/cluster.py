"""Whether a cluster will compute what this machine would: its answers turned into rows."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from environments.identity import ABSENT, LIBRARIES
from environments.text import format_bytes, plural
from tuning.doctor.nodes import NOT_PASSED, NOT_READ, Cluster, Node
from tuning.doctor.rows import NOTE, OK, PROBLEM, Check

WORDS = ("python", *LIBRARIES, "ravenlab", "sources", "machine", "processor")
PASSING = ("python", "dask", "distributed", "cloudpickle", "joblib", "ravenlab", "sources")
"""What a scheduler shares with the driver: it computes nothing, but unpickles the tasks that it passes on."""

TRAVELLING = {"dask", "distributed", "cloudpickle", "joblib"}
"""Libraries that carry tasks; others compute."""

STRAGGLES = 0.5
"""Of the median thread's speed; below it a worker holds up the others."""

SHOWN = 24
"""Workers with a row each; of more than these only the ones that something is to be said of."""


def cluster_checks(found: Cluster, here: Mapping[str, str], millions: float | None) -> list[Check]:
    """Rows on a cluster, as seen by a driver that is `here` and plays so many million steps a second on a core."""
    scheduler, workers = found.scheduler, found.workers
    threads = plural(sum(worker.threads for worker in workers), "thread")
    trip = "" if found.round_trip is None else f", {found.round_trip * 1e3:.1f} ms for an empty task"
    rows = [
        Check("scheduler", f"{scheduler.address}, {plural(len(workers), 'worker')}, {threads}{trip}"),
        _compared("versions, scheduler", scheduler.said, here, PASSING),
    ]
    if not workers:
        return [*rows, Check("workers", "none", PROBLEM, f"start some: dask worker {scheduler.address}")]
    rows += _versions(workers, here)
    return rows + _speeds(workers, millions)


def differing(said: Mapping[str, str], here: Mapping[str, str], words: Sequence[str] = WORDS) -> list[str]:
    """The names under which another machine says something else, or nothing.

    >>> differing({"numpy": "2.4.5", "numba": "0.68.1"}, {"numpy": "2.4.6", "numba": "0.68.1"}, ("numpy", "numba"))
    ['numpy']
    """
    return [word for word in words if said.get(word) != here.get(word)]


def verdict(said: Mapping[str, str], here: Mapping[str, str], names: Sequence[str]) -> tuple[str, str]:
    """How bad it is that a machine differs under these names, and what to do."""
    if not said:
        return PROBLEM, "restart it: it does not say what it is"
    if "python" in names and _minor(said.get("python", "")) != _minor(here["python"]):
        return PROBLEM, f"use Python {_minor(here['python'])} everywhere: tasks don't travel between minor versions"
    if "sources" not in said:
        return PROBLEM, 'pip install "ravenlab[cluster]" there and restart it; tasks need it on workers and scheduler'
    if "sources" in names or "ravenlab" in names:
        return PROBLEM, "install the same ravenlab there and restart it: other sources may give other results"
    if TRAVELLING & {*names}:
        return NOTE, "install the same versions there: tasks may not travel"
    if names:
        return NOTE, "results may differ in the last digits; the same pinned versions and processor give the same bytes"
    return OK, ""


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _compared(what: str, said: Mapping[str, str], here: Mapping[str, str], words: Sequence[str]) -> Check:
    names = differing(said, here, words)
    if not names:
        return Check(what, "as here")
    parts = [f"{name} {said.get(name, 'not said')} (here {here.get(name, ABSENT)})" for name in names]
    return Check(what, ", ".join(parts), *verdict(said, here, names))


def _versions(workers: Sequence[Node], here: Mapping[str, str]) -> list[Check]:
    """One row for all workers that are as here, and one for each way of being different."""
    ways: dict[tuple[str | None, ...], list[Node]] = {}
    for worker in workers:
        ways.setdefault(tuple(worker.said.get(word) for word in WORDS), []).append(worker)
    return [
        _compared(f"versions, {_who(alike, len(workers))}", alike[0].said, here, WORDS)
        for alike in sorted(ways.values(), key=len, reverse=True)
    ]


def _who(some: Sequence[Node], of: int) -> str:
    if len(some) == of:
        return f"all {of} workers" if of > 1 else "the worker"
    return _label(some[0]) if len(some) == 1 else f"{len(some)} workers such as {_label(some[0])}"


def _label(worker: Node) -> str:
    """A worker by its address, and by the name that someone gave it."""
    return f"{worker.address}" if worker.name in ("", worker.address) else f"{worker.name} ({worker.address})"


def _speeds(workers: Sequence[Node], millions: float | None) -> list[Check]:
    each = [_mean(worker) for worker in workers if worker.millions]
    usual = statistics.median(each) if each else 0.0
    rows = [_speed(worker, usual, millions) for worker in workers]
    if len(rows) > SHOWN:
        rows = [row for row in rows if row.verdict != OK]
    total = sum(sum(worker.millions) for worker in workers)
    if total:
        whole = f"{total:.0f} M steps/s, all threads at once{_ratio(total, millions, 'one core')}"
        rows.append(Check("speed of all", whole))
    return rows


def _speed(worker: Node, usual: float, millions: float | None) -> Check:
    memory = format_bytes(worker.memory) if worker.memory else "no limit"
    what, room = f"worker {_label(worker)}", f"{plural(worker.threads, 'thread')}, memory {memory}"
    if not worker.millions:
        known = worker.fault in (NOT_PASSED, NOT_READ)
        told = (NOTE, "see the row on versions") if known else (PROBLEM, "see its log")
        return Check(what, f"{room}, no speed: {worker.fault}", *told)
    mean = _mean(worker)
    found = f"{room}, {sum(worker.millions):.0f} M steps/s{_ratio(mean, millions, 'a core', each=True)}"
    if mean < STRAGGLES * usual:
        return Check(what, found, NOTE, f"a straggler: {mean / usual:.2f} of the median thread; is it busy?")
    return Check(what, found)


def _mean(worker: Node) -> float:
    return statistics.fmean(worker.millions)


def _ratio(there: float, here: float | None, core: str, each: bool = False) -> str:
    if not here:
        return ""
    return f", {'a thread ' if each else ''}{there / here:.2f} × {core} here"
