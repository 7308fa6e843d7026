"""Random streams: every draw of the project comes from one of these, and from nowhere else.

A stream is named by (seed, stream, replication, purpose), so a world can be drawn anywhere, at any
time and in any order, and is the same one. Search, selection, report and grids never share worlds.
"""

from __future__ import annotations

import zlib
from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """Disjoint families of worlds under one seed."""

    SIMULATE = 0
    SEARCH = 1
    SELECTION = 2
    REPORT = 3
    GRID = 4


def generator(seed: int, stream: int, replication: int, purpose: str) -> np.random.Generator:
    """The generator of one purpose ("base", "noise", "policy", an effect's name) in one replication.

    >>> a = generator(7, Stream.SEARCH, 3, "noise").random()
    >>> a == generator(7, Stream.SEARCH, 3, "noise").random()
    True
    """
    key = (int(stream), replication, zlib.crc32(purpose.encode()))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
