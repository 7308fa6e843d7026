"""Several studies at the same time, each as deterministic as alone: they share a crew and nothing else.

On a cluster a batch of one small study is over in a moment and most workers wait; the batches of several fill the gaps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from tuning.crew import Crew
from tuning.interrupts import heard

T = TypeVar("T")


def side_by_side(crew: Crew, runs: Sequence[Callable[[], T]]) -> list[T]:
    """What each run gives, in order, as many at a time as the crew is good for. The first failure ends them all.

    >>> from tuning.crew import ALONE
    >>> side_by_side(ALONE, [lambda: 1, lambda: 2])
    [1, 2]
    """
    if min(crew.side_by_side, len(runs)) <= 1:
        return [run() for run in runs]
    failed = threading.Event()

    def unless_failed(run: Callable[[], T]) -> T:
        if failed.is_set():
            raise Skipped
        try:
            return run()
        except BaseException:
            failed.set()
            crew.stop()
            raise

    pool = ThreadPoolExecutor(min(crew.side_by_side, len(runs)), thread_name_prefix="study")
    futures = [pool.submit(unless_failed, run) for run in runs]
    try:
        _wait(futures)
    except BaseException:  # an interrupt falls into this thread: the others end when their tasks are gone
        heard()
        failed.set()
        crew.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in errors:
        if not isinstance(error, Skipped):
            raise error
    return [future.result() for future in futures]


class Skipped(Exception):
    """A run that was not begun or not finished, since another had failed."""


def _wait(futures: Sequence[Future[T]]) -> None:
    """Wait in short stretches, so that an interrupt is heard at once on every platform."""
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
