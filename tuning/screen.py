"""Screens for progress: bars on a terminal and in notebooks, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import logging
import os
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ravenlab.studies.storage.lock import log

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn

Screen = TypeVar("Screen", bound="ProgressScreen")


def supports_bars() -> bool:
    """Whether stderr is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook.

    >>> in_notebook()
    False
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class ProgressScreen(ABC):
    """Context manager for progress on stderr; subclasses define the columns of a bar."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.level = logging.NOTSET
        self.terminal = supports_bars() and not quiet
        self.notebook = in_notebook() and not quiet
        self.bars: Bars | None = None

    @abstractmethod
    def columns(self) -> list[ProgressColumn]:
        """Return the columns of a bar."""

    def __enter__(self) -> Self:
        if self.quiet:
            self.level = log.level
            log.setLevel(logging.ERROR)
        if self.terminal:
            from rich.console import Console
            from rich.progress import Progress as Bars

            self.bars = Bars(*self.columns(), console=Console(stderr=True))
        elif self.notebook:
            from ravenlab.tuning.notebook import NotebookBars

            self.bars = NotebookBars(*self.columns())
        if self.bars is not None:
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
        """Print a line, above the bars if there are any."""
        if self.quiet:
            return
        if self.bars is not None:
            for line in textwrap.wrap(
                text, self.bars.console.width, break_long_words=False, break_on_hyphens=False, subsequent_indent="  "
            ):
                self.bars.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)


@contextmanager
def open_screen(screen: type[Screen], progress: bool = True, **options: Any) -> Iterator[Screen | None]:
    """Open a screen if progress is wanted and there is a terminal or a notebook to show it; otherwise yield None."""
    if not progress or not (supports_bars() or in_notebook()):
        yield None
        return
    with screen(**options) as opened:
        yield opened
