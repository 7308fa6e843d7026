"""Random streams: the only source of random numbers in the project.

A generator is identified by (seed, stream, replication, key), so the same world can be drawn on any machine, at any
time and in any order. Search, selection, report and grid streams never share worlds. Keys are fixed strings, written
out where they are used and never derived from the name of a class, module or scenario.
"""

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


def generator(seed: int, stream: int, replication: int, key: str) -> np.random.Generator:
    """Return the generator of one key ("base", "noise", "policy", the stream key of an effect) in one replication.

    >>> a = generator(7, Stream.SEARCH, 3, "noise").random()
    >>> a == generator(7, Stream.SEARCH, 3, "noise").random()
    True
    """
    sequence = np.random.SeedSequence(seed, spawn_key=spawn_key(stream, replication, key))
    return np.random.Generator(np.random.PCG64(sequence))


def spawn_key(stream: int, replication: int, key: str) -> tuple[int, int, int]:
    """Return the part of a seed sequence that identifies a generator under one seed.

    >>> spawn_key(Stream.SEARCH, 3, "noise")
    (1, 3, 4255749673)
    """
    return int(stream), replication, zlib.crc32(key.encode())
