"""Sizes as people say them."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes, in thousands as disks are sold.

    >>> size(2_340_000_000), size(512)
    ('2.3 GB', '512 B')
    """
    for unit, step in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count:.0f} B"
