"""Progress of a reproduction: the current piece, the number of finished pieces and the remaining time."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from ravenlab.tuning.interrupts import acknowledge_interrupt
from ravenlab.tuning.progress import LINE_INTERVAL
from ravenlab.tuning.reproduction.context import RunPiece
from ravenlab.tuning.reproduction.runner import ReproductionListener
from ravenlab.tuning.screen import ProgressScreen

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, TaskID


class ReproductionReporter(ProgressScreen):
    """A progress bar on stderr, or plain lines if stderr is not a terminal; nothing if `quiet`.

    The remaining time is the expected duration of the remaining pieces, scaled by the ratio of actual to expected
    duration of the finished ones.
    """

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet)
        self.task: TaskID | None = None
        self.count = self.finished = 0
        self.expected = self.left = 0.0
        self.started = self.last_line = 0.0

    def columns(self) -> list[ProgressColumn]:
        """The current piece, the bar and the number of finished pieces."""
        from rich.progress import BarColumn, TextColumn
        from rich.table import Column

        return [
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True, min_width=32)),
        ]

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, value, trace)
        if isinstance(value, KeyboardInterrupt) and self.count:
            acknowledge_interrupt()
            value.add_note(f"{self.finished} of {self.count} pieces are saved; rerun the same command to resume")

    def listener(self) -> ReproductionListener:
        """Callbacks for `reproduce`."""
        return ReproductionListener(self._begin, self._start_piece, self._finish_piece)

    def _begin(self, pieces: list[RunPiece], stored: list[RunPiece]) -> None:
        self.count, self.finished = len(pieces), len(stored)
        self.left = sum(piece.seconds for piece in pieces) - sum(piece.seconds for piece in stored)
        self.started = self.last_line = time.monotonic()
        if self.bars is not None:
            self.task = self.bars.add_task("starting", total=self.left or 1.0, note="")
        elif stored:
            self.line(f"reproduce: {self.count} pieces, {self.finished} already stored")
        else:
            self.line(f"reproduce: {self.count} pieces")

    def _start_piece(self, piece: RunPiece) -> None:
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, description=piece.key, note=self._note())
        elif time.monotonic() - self.last_line > LINE_INTERVAL:
            self.last_line = time.monotonic()
            self.line(f"  {piece.key}: {self._note()}")

    def _finish_piece(self, piece: RunPiece) -> None:
        self.finished += 1
        self.expected += piece.seconds
        self.left -= piece.seconds
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, completed=self.expected, note=self._note())

    def _note(self) -> str:
        note = f"{self.finished} of {self.count} pieces"
        if self.expected == 0.0:
            return note
        seconds = (time.monotonic() - self.started) / self.expected * max(0.0, self.left)
        return f"{note}, about {_duration(seconds)} left"


def _duration(seconds: float) -> str:
    """Format a duration.

    >>> _duration(42.4), _duration(150.0)
    ('42 s', '2 min 30 s')
    """
    rounded = round(seconds)
    return f"{rounded} s" if rounded < 60 else f"{rounded // 60} min {rounded % 60} s"
