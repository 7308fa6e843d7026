"""Where progress is shown: bars on stderr where that is a terminal, plain lines elsewhere, nothing where quiet."""

from __future__ import annotations

import logging
import os
import sys
from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Self

from studies.driver import log

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn

LINE_EVERY = 10.0
"""Seconds between plain lines."""


def has_bars() -> bool:
    """Whether stderr is a terminal that can draw over what it has drawn."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def fitted(name: str, room: int) -> str:
    """A name in so many letters: its beginning and its end say most.

    >>> fitted("raven-ucb/incremental-drift/T10000/K10", 26)
    'raven-ucb/in…ft/T10000/K10'
    >>> fitted("blips", 26)
    'blips'
    """
    if len(name) <= room:
        return name
    end = max(room, 3) // 2
    return f"{name[: max(room, 3) - 1 - end]}…{name[-end:]}"


class Screen(ABC):
    """Stderr while something runs; what a bar shows beside itself, a subclass says."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.level = logging.NOTSET
        self.terminal = has_bars() and not quiet
        self.bars: Bars | None = None

    @abstractmethod
    def columns(self) -> list[ProgressColumn]:
        """The parts of a bar's line."""

    def __enter__(self) -> Self:
        if self.quiet:
            self.level = log.level
            log.setLevel(logging.ERROR)
        if self.terminal:
            from rich.console import Console
            from rich.progress import Progress as Bars

            self.bars = Bars(*self.columns(), console=Console(stderr=True))
            self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bars is not None:
            self.bars.stop()
        if self.quiet:
            log.setLevel(self.level)

    def line(self, text: str) -> None:
        """A line for people, above the bars where there are any."""
        if self.quiet:
            return
        if self.bars is not None:
            self.bars.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)
