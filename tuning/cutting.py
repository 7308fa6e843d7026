"""How work is cut into tasks for a cluster."""

from __future__ import annotations

import math

from tuning.crew import Cut, Pace

TASK_SECONDS = 1.0
"""What a task should take: long against its overhead of some milliseconds, short against the wait for a straggler."""

LEAST_SECONDS = 0.05
"""Below this, cutting further costs more than it gains."""

TASKS_A_THREAD = 2


def cut_for(threads: int, count: int, candidates: int, pace: Pace) -> Cut:
    """Worlds and candidates a task: whole powers of two of worlds, the last ones again while they fit.

    Workers keep worlds by the range that was asked for, so ranges should be the same from batch to batch.

    >>> cut_for(2, 200, 16, Pace(0.01))
    Cut(worlds=4, candidates=16)
    >>> cut_for(2, 200, 16, Pace(0.5))
    Cut(worlds=1, candidates=2)
    """
    whole = pace.seconds * count * candidates
    wanted = min(TASK_SECONDS, max(LEAST_SECONDS, whole / (TASKS_A_THREAD * threads)))
    worlds = wanted / max(pace.seconds * candidates, 1e-12)
    if worlds < 1.0:
        return Cut(1, min(candidates, max(1, int(wanted / pace.seconds))))
    if not pace.worlds / 1.5 <= worlds < 3.0 * pace.worlds:
        pace.worlds = 2 ** int(math.log2(worlds))
    return Cut(min(count, pace.worlds), candidates)
