"""What a block of worlds gives when one candidate has played it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from environments.world import Floats

Marks = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Played:
    """Raw results of one block: out [R, 3], curve [R, marks, 2], pulls [R, T], and the best means summed up to the
    end [R] and to each mark [R, marks]."""

    out: Floats
    curve: Floats
    pulls: np.ndarray[Any, np.dtype[np.int32]]
    best: Floats
    best_curve: Floats


@dataclass(frozen=True)
class PlayedWindows(Played):
    """The same of windows of a trace, with regret by the row of the trace and by the step of the window."""

    by_row: Floats
    by_step: Floats
