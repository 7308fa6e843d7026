"""What a person sees while the paper is run again: the piece at work, how many are done, and the time left."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tuning.interrupts import heard
from tuning.progress import LINE_EVERY, has_bars
from tuning.reproduction.context import Piece
from tuning.reproduction.running import ReproductionListener

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class ReproductionReporter:
    """One bar on stderr, or plain lines where that is no terminal; `quiet` shows nothing.

    Pieces say about how long they take on a usual machine and at the usual precision; what those done so far really
    took tells how this machine and precision compare.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.terminal = has_bars() and not quiet
        self.bars: Bars | None = None
        self.task: TaskID | None = None
        self.count = self.finished = 0
        self.expected = self.left = 0.0
        self.begun = self.said = 0.0

    def __enter__(self) -> Self:
        if self.terminal:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bars
            from rich.table import Column

            self.bars = Bars(
                TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True, min_width=32)),
                console=Console(stderr=True),
            )
            self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bars is not None:
            self.bars.stop()
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
            self._line(f"reproduce: {self.count} pieces, {self.finished} of them done before")
        else:
            self._line(f"reproduce: {self.count} pieces")

    def _piece(self, piece: Piece) -> None:
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, description=piece.key, note=self._note())
        elif time.monotonic() - self.said > LINE_EVERY:
            self.said = time.monotonic()
            self._line(f"  {piece.key}: {self._note()}")

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

    def _line(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)


def _span(seconds: float) -> str:
    """A time as people say it.

    >>> _span(42.4), _span(150.0)
    ('42 s', '2 min 30 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
