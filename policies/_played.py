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


@dataclass(frozen=True)
class PlayedLogs(Played):
    """The same of resampled logs: out holds what the logging policy gained more, the score and the matched events."""

    tally: Floats
    """[R, 5]: Σ w·reward, Σ w, Σ w² and number of the matched events, and Σ reward of all events."""
    events: int
    """Of each log."""

    @property
    def score(self) -> Floats:
        """[R] mean reward of the matched events, weighted."""
        return np.asarray(self.out[:, 1])

    @property
    def matched(self) -> Floats:
        """[R]."""
        return np.asarray(self.tally[:, 3])

    @property
    def effective(self) -> Floats:
        """[R] (Σ w)² / Σ w²: of how many events of equal weight the score would be as sure."""
        return np.asarray(self.tally[:, 1] ** 2 / np.maximum(self.tally[:, 2], 1e-300))

    @property
    def logged(self) -> Floats:
        """[R] the logging policy's own mean reward."""
        return np.asarray(self.tally[:, 4] / self.events)
