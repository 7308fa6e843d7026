"""Checks of this machine: Python, ravenlab, numba and its cache."""

import platform
import time

from ravenlab.common.fingerprint import PACKAGE, identity, installed_version
from ravenlab.common.text import format_approximate
from ravenlab.tuning.doctor import NOTE, PROBLEM, Check, reason


def check_versions() -> list[Check]:
    """State the versions of Python and ravenlab, and the hash of the sources."""
    ours = f"{installed_version('ravenlab')}, sources {identity()['sources']}, in {PACKAGE}"
    return [Check("Python", platform.python_version()), Check("ravenlab", ours)]


def check_kernel() -> list[Check]:
    """Check that numba compiles, or loads, the loop of RAVEN-UCB, and that its cache is writable."""
    begin = time.perf_counter()
    try:
        from ravenlab.common.kernel_cache import numba_cache_folder
        from ravenlab.policies.engine.simulation import simulate

        simulate("raven-ucb", "stationary", horizon=100, arms=3, replications=1)
    except Exception as error:  # whatever an incompatible version raises
        advice = "install the versions that ravenlab requires; pip check names those that differ"
        return [Check("numba", f"{type(error).__name__}: {reason(error)}", PROBLEM, advice)]
    ready = Check("numba", f"ready after {format_approximate(time.perf_counter() - begin)} s")
    folder = numba_cache_folder()
    if folder is None:
        advice = "set NUMBA_CACHE_DIR to a folder that only you can write to; otherwise every process compiles again"
        return [ready, Check("numba cache", "not writable, or writable by others", NOTE, advice)]
    return [ready, Check("numba cache", folder)]
