"""Two threads against two processes that run the same kernel."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from typing import Any

from policies._leader_run import leader_run
from tests.benchmarks.measure import Claim, Race
from tests.benchmarks.raven import incremental, random_candidates

REPLICATIONS, CANDIDATES, HORIZON = 40, 100, 10_000


@cache
def _problem() -> tuple[Any, Any]:
    return incremental(HORIZON, 10, REPLICATIONS), random_candidates(CANDIDATES)


def work(_: int) -> float:
    """One worker's share."""
    worlds, candidates = _problem()
    leader_run(worlds, candidates)
    return float(REPLICATIONS * CANDIDATES * HORIZON)


def races() -> list[Race]:
    """The same two shares in threads and in processes."""
    _problem()
    threads = ThreadPoolExecutor(2)
    processes = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    for _ in range(3):
        list(processes.map(work, range(2)))

    return [
        Race(
            "raven-ucb K=10 T=10000 on two workers",
            {
                "threads": lambda: sum(threads.map(work, range(2))),
                "processes": lambda: sum(processes.map(work, range(2))),
                "one": lambda: work(0),
            },
            [
                Claim("threads", "processes", 0.9, "× two independent processes, by two threads"),
                Claim("threads", "one", 0.0, "× one thread, by two threads"),
            ],
        )
    ]
