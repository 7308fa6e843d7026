"""How work is cut into tasks for a cluster."""

from __future__ import annotations

import math

from tuning.crew import Cut, Pace

TASK_SECONDS = 1.0
"""What a task should take: long against its overhead of some milliseconds, short against the wait for a straggler."""

LEAST_SECONDS = 0.05
"""Below this, cutting further costs more than it gains."""

SCHEDULER_SECONDS = 0.002
"""What a task costs the scheduler, which has one core for all: the more threads, the longer tasks must be."""

TASKS_A_THREAD = 2


def task_seconds(threads: int, whole: float) -> float:
    """How long a task should take, of work that takes `whole` seconds on one thread.

    >>> task_seconds(16, 100.0), task_seconds(16, 8.0), task_seconds(1000, 8.0)
    (1.0, 0.25, 2.0)
    """
    least = max(LEAST_SECONDS, SCHEDULER_SECONDS * threads)
    return max(least, min(TASK_SECONDS, whole / (TASKS_A_THREAD * threads)))


def cut_for(threads: int, count: int, candidates: int, pace: Pace) -> Cut:
    """Worlds and candidates a task: whole powers of two of worlds, the last ones again while they fit.

    Workers keep worlds by the range that was asked for, so ranges should be the same from batch to batch.

    >>> cut_for(2, 200, 16, Pace(0.01))
    Cut(worlds=4, candidates=16)
    >>> cut_for(2, 200, 16, Pace(0.5))
    Cut(worlds=1, candidates=2)
    """
    wanted = task_seconds(threads, pace.seconds * count * candidates)
    worlds = wanted / max(pace.seconds * candidates, 1e-12)
    if worlds < 1.0:
        return Cut(1, min(candidates, max(1, int(wanted / pace.seconds))))
    if not pace.worlds / 1.5 <= worlds < 3.0 * pace.worlds:
        pace.worlds = 2 ** int(math.log2(worlds))
    return Cut(min(count, pace.worlds), candidates)
