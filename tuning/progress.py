"""Progress on stderr: bars on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import logging
import os
import sys
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from environments.text import format_number
from studies.results.comparison import ComparisonEntry
from studies.spec.comparison import ComparisonSpec, SettingKind
from studies.spec.grid import GridSpec
from studies.spec.study import StudySpec
from studies.storage.lock import log
from tuning.comparison.run import ComparisonListener
from tuning.grid_run import GridListener
from tuning.search.loop import Progress
from tuning.study_run import StudyListener

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn, TaskID


LINE_INTERVAL = 10.0  # minimum number of seconds between plain lines


def supports_bars() -> bool:
    """Whether stderr is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def shorten_name(name: str, width: int) -> str:
    """Shorten a name in its middle.

    >>> shorten_name("raven-ucb/incremental-drift/T10000/K10", 26)
    'raven-ucb/in…ft/T10000/K10'
    >>> shorten_name("blips", 26)
    'blips'
    """
    if len(name) <= width:
        return name
    end = max(width, 3) // 2
    return f"{name[: max(width, 3) - 1 - end]}…{name[-end:]}"


class ProgressScreen(ABC):
    """Context manager for progress on stderr; subclasses define the columns of a bar."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.level = logging.NOTSET
        self.terminal = supports_bars() and not quiet
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
            self.bars.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


BAR_WIDTH, NOTE_WIDTH = 10, 25

OTHER_COLUMNS = BAR_WIDTH + NOTE_WIDTH + 8 + 7 + 4
"""Width of all columns but the name: bar, note, count, time left, and a blank before each."""


@dataclass
class StartedStudy:
    """A started study, grid or comparison, and how much of it was stored at the last update."""

    name: str
    total: int
    unit: str
    stored: int = 0


class Reporter(ProgressScreen):
    """Progress of studies and grids; `many` means that several run at the same time."""

    def __init__(self, quiet: bool = False, many: bool = False) -> None:
        super().__init__(quiet)
        self.many = many
        self.started_studies: dict[str, StartedStudy] = {}

    def columns(self) -> list[ProgressColumn]:
        """Return the columns: name, bar, count, note and time left."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.table import Column

        unwrapped = Column(no_wrap=True, min_width=7)
        return [
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(bar_width=BAR_WIDTH),
            MofNCompleteColumn(table_column=unwrapped),
            TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True, min_width=NOTE_WIDTH)),
            TimeRemainingColumn(table_column=unwrapped),
        ]

    def add_bar(self, bars: Bars, name: str, total: int, stored: int) -> TaskID:
        """Add a bar; the name is shortened to fit, because Rich would shorten all columns."""
        width = bars.console.width - OTHER_COLUMNS
        return bars.add_task(shorten_name(name, width), total=total, completed=stored, note="starting")

    def listener(self) -> StudyListener:
        """Return new callbacks for `run_study`; every study needs its own."""
        return StudyProgress(self).listener()

    def grid_listener(self) -> GridListener:
        """Return new callbacks for `run_grid`."""
        progress = StudyProgress(self)
        return GridListener(progress.begin_grid, progress.batch, progress.compare, progress.complete)


class StudyProgress:
    """Progress of one study or grid."""

    counted = True
    """Whether the message after an interrupt includes it."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.task: TaskID | None = None
        self.name = ""
        self.total = 0
        self.unit = "trials"
        self.started = self.printed = 0.0
        self.before = 0
        self.steps = 0.0

    def listener(self) -> StudyListener:
        """Return the callbacks for `run_study`."""
        return StudyListener(self.begin, self.batch, self.validate, self.finish)

    def begin(self, spec: StudySpec, stored: int) -> None:
        """Show that a study starts or resumes."""
        self._start(spec.study_name(), spec.trials, "trials", spec.replications, stored)

    def begin_grid(self, spec: GridSpec, stored: int) -> None:
        """Show that a grid starts or resumes."""
        self._start(spec.study_name(), len(spec.cells()), "cells", spec.replications, stored)

    def _start(self, name: str, total: int, unit: str, replications: int, stored: int) -> None:
        self.name, self.total, self.unit, self.before, self.steps = name, total, unit, stored, 0.0
        self.started = self.printed = time.monotonic()
        if self.counted:
            self.reporter.started_studies[name] = StartedStudy(name, total, unit, stored)
        bars = self.reporter.bars
        if bars is not None and self.task is None:
            self.task = self.reporter.add_bar(bars, name, total, stored)
        elif bars is None:
            resuming = f", resuming after {stored:,}" if stored else ""
            self.reporter.line(f"{name}: {total:,} {unit} × {replications:,} replications{resuming}")

    def batch(self, progress: Progress) -> None:
        """Show the state after a batch."""
        self.steps += progress.steps
        if self.counted:
            self.reporter.started_studies[self.name].stored = progress.trials
        seconds = max(time.monotonic() - self.started, 1e-9)
        best = "none yet" if progress.best is None else format_number(progress.best)
        note = f"best {best}, {self.steps / seconds / 1e6:.0f} M steps/s"
        if self.reporter.bars is not None and self.task is not None:
            self.reporter.bars.update(self.task, completed=progress.trials, note=note)
        elif time.monotonic() - self.printed > LINE_INTERVAL:
            self.printed = time.monotonic()
            left = seconds / max(1, progress.trials - self.before) * (self.total - progress.trials)
            self._print(f"{progress.trials:,} of {self.total:,} {self.unit}, {note}, about {left:.0f} s left")

    def validate(self) -> None:
        """Show that the validation starts."""
        self._note("validating", "validating on held-out worlds")

    def finish(self) -> None:
        """Show on the bar that there is a recommendation; otherwise the result is printed anyway."""
        if self.reporter.bars is not None and self.task is not None:
            self.reporter.bars.update(self.task, note="validated")

    def compare(self, replayed: int) -> None:
        """Show that the comparison of the cells starts."""
        self._note(
            "comparing", f"replaying {replayed:,} stored cells to compare" if replayed else "comparing the cells"
        )

    def complete(self, spec: GridSpec) -> None:
        """Show that there was nothing to do."""
        self.reporter.line(f"{spec.study_name()}: already complete.")

    def _note(self, word: str, line: str) -> None:
        """Show a word beside the bar, or print a line."""
        if self.reporter.bars is not None and self.task is not None:
            self.reporter.bars.update(self.task, note=word)
        else:
            self._print(line)

    def _print(self, text: str) -> None:
        """Print a line about this study, with its name if several run at the same time."""
        self.reporter.line(f"  {self.name}: {text}" if self.reporter.many else f"  {text}")


class ComparisonReporter(Reporter):
    """Progress of comparisons, with a second bar for the current search."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet)
        self.task: TaskID | None = None
        self.current: StartedStudy | None = None
        self.entries = 0
        self.printed = 0.0

    def comparison_listener(self) -> ComparisonListener:
        """Return the callbacks for `run_comparison`."""
        return ComparisonListener(
            self._begin_comparison, self._play_entry, self._store_entry, _SearchProgress(self).listener()
        )

    def _begin_comparison(self, spec: ComparisonSpec, stored: int) -> None:
        name, self.entries = spec.study_name(), len(spec.entries())
        self.started_studies[name] = self.current = StartedStudy(name, self.entries, "entries", stored)
        if stored == self.entries:
            self.line(f"{name}: already complete.")
        elif self.bars is not None:
            self.task = self.add_bar(self.bars, name, self.entries, stored)
        else:
            resuming = f", resuming after {stored:,}" if stored else ""
            budget = f", {spec.tune:,} trials × {spec.search_replications:,} worlds each" if spec.tune else ""
            self.line(f"{name}: {self.entries} entries × {spec.replications:,} worlds{budget}{resuming}")

    def _play_entry(self, policy: str, setting: SettingKind) -> None:
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, note=f"{policy}, {setting}")

    def _store_entry(self, count: int, entry: ComparisonEntry) -> None:
        mean = format_number(float(entry.regret.mean()))
        if self.current is not None:
            self.current.stored = count
        if self.bars is not None and self.task is not None:
            self.bars.update(self.task, completed=count, note=f"{entry.policy} {mean}")
        elif count == self.entries or time.monotonic() - self.printed > LINE_INTERVAL:
            self.printed = time.monotonic()
            self.line(f"  {count} of {self.entries} entries; {entry.policy}, {entry.setting}: {mean}")


class _SearchProgress(StudyProgress):
    """Progress of the searches of a comparison, one after the other."""

    counted = False
    announced = 0.0

    def begin(self, spec: StudySpec, stored: int) -> None:
        """Replace the bar of the previous search; without bars, print some of the searches."""
        bars = self.reporter.bars
        if bars is not None and self.task is not None:
            bars.remove_task(self.task)
            self.task = None
        if bars is not None or time.monotonic() - self.announced > LINE_INTERVAL:
            self.announced = time.monotonic()
            super().begin(spec, stored)

    def validate(self) -> None:
        """Show it on the bar only: there are many searches."""
        if self.reporter.bars is not None:
            super().validate()
