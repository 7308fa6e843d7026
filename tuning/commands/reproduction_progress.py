"""What a person sees while the paper is run again: the piece at work, how many are done, and the time left."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from tuning.interrupts import heard
from tuning.reproduction.context import Piece
from tuning.reproduction.running import ReproductionListener
from tuning.screen import LINE_EVERY, Screen

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, TaskID


class ReproductionReporter(Screen):
    """One bar on stderr, or plain lines where that is no terminal; `quiet` shows nothing.

    Pieces say about how long they take on a usual machine and at the usual precision; what those done so far really
    took tells how this machine and precision compare.
    """

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet)
        self.task: TaskID | None = None
        self.count = self.finished = 0
        self.expected = self.left = 0.0
        self.begun = self.said = 0.0

    def columns(self) -> list[ProgressColumn]:
        """The piece at work, the bar, and how many are done."""
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
            heard()
            value.add_note(f"{self.finished} of {self.count} pieces are kept; the same command goes on from there")

    def listener(self) -> ReproductionListener:
        """What `reproduce` tells."""
        return ReproductionListener(self._begin, self._piece, self._done)

    def _begin(self, pieces: list[Piece], done: list[Piece]) -> None:
        self.count, self.finished = len(pieces), len(done)
        self.left = sum(piece.seconds for piece in pieces) - sum(piece.seconds for piece in done)
        self.begun = self.said = time.monotonic()
        if self.bars is not None:
            self.task = self.bars.add_task("starting", total=self.left or 1.0, note="")
        elif done:
            self.line(f"reproduce: {self.count} pieces, {self.finished} of them done before")
        else:
            self.line(f"reproduce: {self.count} pieces")

    def _piece(self, piece: Piece) -> None:
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, description=piece.key, note=self._note())
        elif time.monotonic() - self.said > LINE_EVERY:
            self.said = time.monotonic()
            self.line(f"  {piece.key}: {self._note()}")

    def _done(self, piece: Piece) -> None:
        self.finished += 1
        self.expected += piece.seconds
        self.left -= piece.seconds
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, completed=self.expected, note=self._note())

    def _note(self) -> str:
        note = f"{self.finished} of {self.count} pieces"
        if self.expected == 0.0:
            return note
        seconds = (time.monotonic() - self.begun) / self.expected * max(0.0, self.left)
        return f"{note}, about {_span(seconds)} left"


def _span(seconds: float) -> str:
    """A time as people say it.

    >>> _span(42.4), _span(150.0)
    ('42 s', '2 min 30 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
