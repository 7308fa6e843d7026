"""Where progress is shown: bars on stderr where that is a terminal, plain lines elsewhere, nothing where quiet."""

from __future__ import annotations

import logging
import os
import sys
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

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


LINE_INTERVAL = 10.0
"""Seconds between plain lines."""


def supports_bars() -> bool:
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


class ProgressScreen(ABC):
    """Stderr while something runs; what a bar shows beside itself, a subclass says."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.level = logging.NOTSET
        self.terminal = supports_bars() and not quiet
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


BAR, NOTE = 10, 25
"""Letters of the bar, and of what is known so far."""

BESIDE = BAR + NOTE + 8 + 7 + 4
"""Letters of all columns but the name: with them go the count, the time left, and a blank before each."""


@dataclass
class StartedStudy:
    """A study, grid or comparison that was begun, and how much of it had landed when it was last heard of."""

    name: str
    total: int
    unit: str
    landed: int = 0


class Reporter(ProgressScreen):
    """Shows studies on stderr, `many` of them at a time or one after the other; `quiet` shows nothing."""

    def __init__(self, quiet: bool = False, many: bool = False) -> None:
        super().__init__(quiet)
        self.many = many
        self.begun: dict[str, StartedStudy] = {}

    def columns(self) -> list[ProgressColumn]:
        """The name, the bar, how much has landed, what is known so far, and the time left."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.table import Column

        whole = Column(no_wrap=True, min_width=7)
        return [
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(bar_width=BAR),
            MofNCompleteColumn(table_column=whole),
            TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True, min_width=NOTE)),
            TimeRemainingColumn(table_column=whole),
        ]

    def add(self, name: str, total: int, landed: int) -> TaskID:
        """A bar; its name is cut to what the other columns leave, as Rich would rather cut all of them a little."""
        assert self.bars is not None
        room = self.bars.console.width - BESIDE
        return self.bars.add_task(fitted(name, room), total=total, completed=landed, note="starting")

    def listener(self) -> StudyListener:
        """What `run_study` tells; one a study, since several may run at a time."""
        return StudyProgress(self).listener()

    def grid_listener(self) -> GridListener:
        """What `run_grid` tells."""
        shown = StudyProgress(self)
        return GridListener(shown.begin_grid, shown.batch, shown.compare, shown.complete)


class StudyProgress:
    """One study or grid while it runs."""

    counted = True
    """Whether an interrupt tells how much of it is kept."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.task: TaskID | None = None
        self.name = ""
        self.total = 0
        self.unit = "trials"
        self.begun = self.said = 0.0
        self.before = 0
        self.steps = 0.0

    def listener(self) -> StudyListener:
        """What `run_study` tells."""
        return StudyListener(self.begin, self.batch, self.validate, self.found)

    def begin(self, spec: StudySpec, landed: int) -> None:
        """A study starts, or goes on."""
        self._start(spec.study_name(), spec.trials, "trials", spec.replications, landed)

    def begin_grid(self, spec: GridSpec, landed: int) -> None:
        """A grid starts, or goes on."""
        self._start(spec.study_name(), len(spec.cells()), "cells", spec.replications, landed)

    def _start(self, name: str, total: int, unit: str, replications: int, landed: int) -> None:
        self.name, self.total, self.unit, self.before, self.steps = name, total, unit, landed, 0.0
        self.begun = self.said = time.monotonic()
        if self.counted:
            self.reporter.begun[name] = StartedStudy(name, total, unit, landed)
        bars = self.reporter.bars
        if bars is not None and self.task is None:
            self.task = self.reporter.add(name, total, landed)
        elif bars is None:
            going_on = f", going on after {landed}" if landed else ""
            self.reporter.line(f"{name}: {total} {unit} × {replications} replications{going_on}")

    def batch(self, progress: Progress) -> None:
        """A batch landed."""
        self.steps += progress.steps
        if self.counted:
            self.reporter.begun[self.name].landed = progress.trials
        spent = max(time.monotonic() - self.begun, 1e-9)
        best = "none yet" if progress.best is None else f"{progress.best:.4g}"
        note = f"best {best}, {self.steps / spent / 1e6:.0f} M steps/s"
        if self.reporter.bars is not None and self.task is not None:
            self.reporter.bars.update(self.task, completed=progress.trials, note=note)
        elif time.monotonic() - self.said > LINE_INTERVAL:
            self.said = time.monotonic()
            left = spent / max(1, progress.trials - self.before) * (self.total - progress.trials)
            self._say(f"{progress.trials} of {self.total} {self.unit}, {note}, about {left:.0f} s left")

    def validate(self) -> None:
        """The search is over."""
        self._note("validating", "validating on fresh worlds")

    def found(self) -> None:
        """There is a recommendation; a line for it would say no more than what follows."""
        if self.reporter.bars is not None and self.task is not None:
            self.reporter.bars.update(self.task, note="validated")

    def compare(self, again: int) -> None:
        """All cells have landed."""
        self._note("comparing", f"playing {again} cells again to compare them" if again else "comparing the cells")

    def complete(self, spec: GridSpec) -> None:
        """There was nothing to do."""
        self.reporter.line(f"{spec.study_name()}: already complete.")

    def _note(self, word: str, line: str) -> None:
        """A word where there is a bar, a line elsewhere."""
        if self.reporter.bars is not None and self.task is not None:
            self.reporter.bars.update(self.task, note=word)
        else:
            self._say(line)

    def _say(self, text: str) -> None:
        """A line about this study; its name is needed where several run at a time."""
        self.reporter.line(f"  {self.name}: {text}" if self.reporter.many else f"  {text}")


class ComparisonReporter(Reporter):
    """Shows comparisons one after the other; a search's bar goes when the next one comes."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet)
        self.whole: TaskID | None = None
        self.now: StartedStudy | None = None
        self.entries = 0
        self.said = 0.0

    def comparison_listener(self) -> ComparisonListener:
        """What `run_comparison` tells."""
        return ComparisonListener(self._begin_comparison, self._playing, self._landed, _Searches(self).listener())

    def _begin_comparison(self, spec: ComparisonSpec, landed: int) -> None:
        name, self.entries = spec.study_name(), len(spec.entries())
        self.begun[name] = self.now = StartedStudy(name, self.entries, "entries", landed)
        if landed == self.entries:
            self.line(f"{name}: already complete.")
        elif self.bars is not None:
            self.whole = self.add(name, self.entries, landed)
        else:
            going_on = f", going on after {landed}" if landed else ""
            budget = f", {spec.tune} trials × {spec.search_replications} each" if spec.tune else ""
            self.line(f"{name}: {self.entries} entries in {spec.replications:,} worlds{budget}{going_on}")

    def _playing(self, policy: str, setting: SettingKind) -> None:
        if self.bars is not None and self.whole is not None:
            self.bars.update(self.whole, note=f"{policy}, {setting}")

    def _landed(self, count: int, entry: ComparisonEntry) -> None:
        mean = float(entry.regret.mean())
        if self.now is not None:
            self.now.landed = count
        if self.bars is not None and self.whole is not None:
            self.bars.update(self.whole, completed=count, note=f"{entry.policy} {mean:.4g}")
        elif count == self.entries or time.monotonic() - self.said > LINE_INTERVAL:
            self.said = time.monotonic()
            self.line(f"  {count} of {self.entries} entries; {entry.policy}, {entry.setting}: {mean:.4g}")


class _Searches(StudyProgress):
    """One search after the other."""

    counted = False
    told = 0.0

    def begin(self, spec: StudySpec, landed: int) -> None:
        """The next search takes the place of the last."""
        bars = self.reporter.bars
        if bars is not None and self.task is not None:
            bars.remove_task(self.task)
            self.task = None
        if bars is not None or time.monotonic() - self.told > LINE_INTERVAL:
            self.told = time.monotonic()
            super().begin(spec, landed)

    def validate(self) -> None:
        """Hardly worth a line: there are many searches."""
        if self.reporter.bars is not None:
            super().validate()
