"""This machine: numba and its cache, cores, memory."""

from __future__ import annotations

import os
from pathlib import Path

from environments.room import memory
from environments.text import format_bytes
from tuning.doctor.rows import NOTE, PROBLEM, Check, reason
from tuning.doctor.speed import Speed, kernel_speed

LEAST_MEMORY = 1_000_000_000
"""Bytes under which a study with long horizons may not fit: libraries, a block of worlds and those that are kept."""


def kernel_checks() -> tuple[list[Check], Speed | None]:
    """Rows on numba, and how fast one core is where it works."""
    try:
        speed = kernel_speed()
    except Exception as error:
        advice = "install the versions that ravenlab requires, see dependencies"
        return [Check("numba", f"{type(error).__name__}: {reason(error)}", PROBLEM, advice)], None
    how = "compiled" if speed.compiled else "loaded from the cache"
    return [
        Check("numba", f"kernel {how}, ready after {speed.ready:.1f} s"),
        _cache(),
        Check("speed", f"{speed.millions:.0f} M steps/s on one core"),
    ], speed


def _cache() -> Check:
    from environments.compiled import cache_folder

    folder = cache_folder()
    if folder is None:
        advice = "set NUMBA_CACHE_DIR to a folder of yours; else every process compiles again"
        return Check("numba cache", "can't be written", NOTE, advice)
    all_versions = Path(folder).parent
    used = sum(path.stat().st_size for path in all_versions.rglob("*") if path.is_file())
    return Check("numba cache", f"{all_versions}, {format_bytes(used)}")


def core_check() -> Check:
    """Cores of the machine, and how many of them this process may use."""
    from joblib import cpu_count

    here, usable = os.cpu_count() or 1, int(cpu_count())
    if usable >= here:
        return Check("cores", f"{here}, all usable")
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else here
    why = "by affinity" if allowed == usable else "by a limit of the container or of LOKY_MAX_CPU_COUNT"
    return Check("cores", f"{usable} of {here} usable, {why}")


def memory_check() -> Check:
    """Memory that this process may use."""
    total, free = memory()
    if total is None:
        return Check("memory", "not known here")
    least = min(total, total if free is None else free)
    found = format_bytes(total) if free is None else f"{format_bytes(free)} free of {format_bytes(total)}"
    if least < LEAST_MEMORY:
        return Check("memory", found, NOTE, f"{format_bytes(LEAST_MEMORY)} free is safe for long horizons")
    return Check("memory", found)
