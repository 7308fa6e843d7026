"""Two threads and two Dask workers compared with two independent processes, and the cost of a Dask task."""

import atexit
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import Any

from ravenlab.policies.engine.leader_run import leader_run
from ravenlab.tuning.workers.cluster import ClusterWorkers, open_cluster
from tools.benchmarks.measure import Claim, Figure, Race
from tools.benchmarks.raven import incremental, random_candidates

REPLICATIONS = 40
CANDIDATES = 100
HORIZON = 10_000
UNITS = 8
EMPTY_TASKS = 200


@cache
def _problem() -> tuple[Any, Any]:
    return incremental(HORIZON, 10, REPLICATIONS), random_candidates(CANDIDATES)


def work(_: int) -> float:
    """Run one unit of work, which takes a few tenths of a second, and return its steps."""
    worlds, candidates = _problem()
    leader_run(worlds, candidates)
    return float(REPLICATIONS * CANDIDATES * HORIZON)


def nothing(number: int) -> int:
    """Return the argument: an empty task."""
    return number


@cache
def cluster() -> ClusterWorkers:
    """Return two local workers that run until this process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(open_cluster("local", 2))


def overhead() -> float:
    """Return the milliseconds per empty task."""
    begin = time.perf_counter()
    assert cluster().run(nothing, [(i,) for i in range(EMPTY_TASKS)]) == list(range(EMPTY_TASKS))
    return 1000.0 * (time.perf_counter() - begin) / EMPTY_TASKS


def races() -> list[Race | Figure]:
    """Return the race of threads, processes and Dask, and the cost of a task."""
    _problem()
    threads = ThreadPoolExecutor(2)
    processes = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    calls = [(i,) for i in range(UNITS)]
    for _ in range(3):
        list(processes.map(work, range(2)))
        cluster().run(work, calls[:4])
    return [
        Race(
            "raven-ucb K=10 T=10000 on two workers",
            {
                "threads": lambda: sum(threads.map(work, range(UNITS))),
                "dask": lambda: sum(cluster().run(work, calls)),
                "processes": lambda: sum(processes.map(work, range(UNITS))),
                "one": lambda: sum(map(work, range(UNITS // 2))),
            },
            [
                Claim("threads", "processes", 0.9, "× two independent processes, by two threads"),
                Claim("dask", "processes", 0.85, "× two independent processes, by two Dask workers"),
                Claim("threads", "one", 0.0, "× one thread, by two threads"),
            ],
        ),
        Figure("a task on Dask that does nothing", overhead, 20.0, "ms each, of 200 at once", times=5),
    ]
