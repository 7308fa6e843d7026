from __future__ import annotations

import itertools
import zlib

from environments.catalogue import EFFECTS
from environments.published import scenarios as published
from environments.streams import Stream, generator

PURPOSES = [
    *("base", "noise", "coin", "delay", "policy", "periodic amplitude", "periodic phase"),
    *EFFECTS,
    *(scenario.name for scenario in published()),
]


def test_a_name_gives_the_same_numbers_and_every_other_name_others() -> None:
    names = itertools.product((0, 1), (Stream.SIMULATE, Stream.REPORT), (0, 1), ("base", "noise"))
    drawn = {name: generator(*name).random(4).tolist() for name in names}
    assert all(generator(*name).random(4).tolist() == numbers for name, numbers in drawn.items())
    assert len({tuple(numbers) for numbers in drawn.values()}) == 16


def test_no_two_purposes_share_a_stream() -> None:
    assert len({zlib.crc32(purpose.encode()) for purpose in PURPOSES}) == len(PURPOSES)


def test_search_selection_report_and_grid_are_apart() -> None:
    assert len({int(stream) for stream in Stream}) == len(Stream) == 5
