"""Whether what is to be drawn fits into this machine: a refusal is better than a machine that stands still."""

from __future__ import annotations

from pathlib import Path

from environments.errors import InputError
from environments.text import format_bytes

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""What a container may use, in the two versions of control groups."""

ALWAYS = 256_000_000
"""Bytes that are not asked about: a machine without them runs nothing of ours."""


def check_room(needed: int, what: str) -> None:
    """Raise InputError where so many bytes, and as many again while they are made, are not to be had.

    >>> check_room(10**15, "horizon 60000000000000")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    environments.errors.InputError: horizon 60000000000000 needs 1000.0 TB of memory, but only ... are available.
    """
    if needed <= ALWAYS:
        return
    total, free = memory()
    at_hand = min((each for each in (total, free) if each is not None), default=None)
    if at_hand is not None and 2 * needed > at_hand:
        raise InputError(
            f"{what} needs {format_bytes(needed)} of memory, but only {format_bytes(at_hand)} are available."
        )


def memory(meminfo: Path = Path("/proc/meminfo"), limits: tuple[str, ...] = LIMITS) -> tuple[int | None, int | None]:
    """Bytes in all and bytes free, the container's limit counted in; None where the system does not tell."""
    told: dict[str, int] = {}
    try:
        for line in meminfo.read_text(encoding="ascii", errors="replace").splitlines():
            name, _, rest = line.partition(":")
            told[name] = int(rest.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    total, free = told.get("MemTotal"), told.get("MemAvailable")
    for place in limits:
        try:
            limit = int(Path(place).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
        if total is None or limit < total:
            total, free = limit, None if free is None else min(free, limit)
    return total, free
