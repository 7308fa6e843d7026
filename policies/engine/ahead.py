"""Compiling the kernels of policies in another process, while this one imports libraries, opens a storage and draws.

On a fresh machine, compilation takes most of the time before the first trial. numba compiles one function at a time per
process, so a second core is of use only to a second process. It fills the cache, and this process loads the functions
from there. Without a cache or a second core, functions are compiled on first use.
"""

from __future__ import annotations

import atexit
import gc
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ravenlab.common.kernel_cache import COMPILERS, is_cached, numba_cache_folder
from ravenlab.policies import find_policy, policy_names

if TYPE_CHECKING:
    from ravenlab.environments.world import Worlds


_STARTED: set[str] = set()  # policies for which a process has been started


def compile_ahead(policies: Iterable[str]) -> None:
    """Start a process that compiles what studies of these policies play, as far as it is not cached."""
    known = policy_names()
    names = [name for name in dict.fromkeys(policies) if name in known and name not in _STARTED and not is_cached(name)]
    if not names or numba_cache_folder() is None or _usable_cores() < 2:
        return
    # -P: nothing is imported from the current directory.
    words = [sys.executable, "-P", "-m", __name__, *names]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        process = subprocess.Popen(words, **pipes)  # type: ignore[call-overload]
    except OSError:  # not permitted, or too many processes
        return
    _STARTED.update(names)
    COMPILERS.append((process, __name__.removesuffix(".engine.ahead")))
    atexit.register(_end, process)


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def smallest_worlds() -> Worlds:
    """Return one world of two arms and two steps, made without compiled functions.

    >>> smallest_worlds().noise.shape
    (1, 2)
    """
    import numpy as np

    from ravenlab.environments import Scenario
    from ravenlab.environments.draw import build_draft, schedule_worlds
    from ravenlab.environments.random_numbers import NUMBERED_REPLICATIONS

    draft = build_draft(Scenario("smallest", ""), horizon=2, arms=2, first=NUMBERED_REPLICATIONS)
    return schedule_worlds(draft)._replace(noise=np.zeros((1, 2)), best=np.ones((1, 2)))


def compile_policy(name: str) -> None:
    """Compile what the search of a study needs, and then what its validation needs."""
    import numpy as np

    policy, worlds = find_policy(name), smallest_worlds()
    values = policy.resolve({}, 2, 2)
    compile_fast = getattr(policy, "compile_fast", None)  # only the kernel; the process that plays compiles the rest
    if compile_fast is not None:
        compile_fast(worlds, policy.vector(values)[None])
    else:
        from ravenlab.policies.engine.play import evaluate

        evaluate(policy, [values], worlds, seed=0)
    from ravenlab.environments.blocks import fill_averages
    from ravenlab.environments.world import fill_uniform_regret

    fill_uniform_regret(worlds, 1, np.empty(2), np.empty(2), np.empty(1))
    fill_averages(worlds, np.empty((1, 2)))


if __name__ == "__main__":
    gc.disable()  # an eighth of the time
    for policy_name in sys.argv[1:]:
        compile_policy(policy_name)
