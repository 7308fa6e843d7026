"""Progress of studies, grids and comparisons."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ravenlab.common.kernel_cache import is_cached
from ravenlab.common.text import format_duration, format_number
from ravenlab.policies.engine.plugins import POLICY_PLUGINS
from ravenlab.studies.kinds import kind_of
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.tuning.listener import Listener
from ravenlab.tuning.screen import ProgressScreen
from ravenlab.tuning.search.loop import Progress

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, TaskID

    from ravenlab.studies.spec.fields import Specification


LINE_INTERVAL = 10.0  # minimum number of seconds between plain lines


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


BAR_WIDTH = 10
NOTE_WIDTH = 26

OTHER_COLUMNS = BAR_WIDTH + NOTE_WIDTH + 9 + 9 + 4
"""Width of all columns but the name: bar, note, count, time left, and a blank before each."""

COMPILING = "compiling (first run only)"


@dataclass
class Pace:
    """Estimate of the time left from the work done; recent work counts more. Work is a number of steps or trials."""

    total: float
    done: float = 0.0
    speed: float | None = None
    """Work per second; None before any was done."""
    updated: float = field(default_factory=time.monotonic)

    def add(self, work: float) -> None:
        """Add work that was done since the last call."""
        now = time.monotonic()
        speed = work / max(now - self.updated, 1e-9)
        self.speed = speed if self.speed is None else 0.5 * (self.speed + speed)
        self.done = self.done + work
        self.updated = now

    def seconds_left(self) -> float | None:
        """Return the estimate of the time left; None before any work was done.

        >>> pace = Pace(total=100.0, done=60.0, speed=20.0)
        >>> pace.seconds_left()
        2.0
        """
        return None if not self.speed else max(0.0, self.total - self.done) / self.speed


def format_speed(speed: float) -> str:
    """Format a number of steps per second.

    >>> format_speed(123_456_789.0), format_speed(456_789.0)
    ('123 M steps/s', '457 k steps/s')
    """
    return f"{speed / 1e6:.0f} M steps/s" if speed >= 1e6 else f"{speed / 1e3:.0f} k steps/s"


def format_left(seconds: float | None) -> str:
    """Format a time left; empty if it is unknown.

    >>> format_left(12.3), format_left(0.2), format_left(None)
    ('13 s', '1 s', '')
    """
    if seconds is None:
        return ""
    whole = max(1, math.ceil(seconds))
    return f"{whole} s" if whole < 60 else format_duration(whole)


@dataclass
class StartedStudy:
    """A started study, grid or comparison, and how much of it was stored at the last update."""

    name: str
    total: int
    unit: str
    stored: int = 0


class Reporter(ProgressScreen, Listener):
    """Progress of the studies of a plan.

    Args:
        quiet: Whether nothing is printed.
        many: Whether several studies run at the same time.
        steps: Simulated steps of each study by its name; with several, the time left for all of them is shown.
    """

    def __init__(self, quiet: bool = False, many: bool = False, steps: Mapping[str, float] | None = None) -> None:
        super().__init__(quiet)
        self.many = many
        self.started_studies: dict[str, StartedStudy] = {}
        self.steps = dict(steps or {})
        self.overall = Pace(sum(self.steps.values()))
        self.overall_task: TaskID | None = None
        self.finished: set[str] = set()
        self.lock = threading.Lock()

    def columns(self) -> list[ProgressColumn]:
        """Return the columns: name, bar, count, note and time left."""
        from rich.progress import BarColumn, TextColumn
        from rich.table import Column

        def text(field: str, width: int | None = None) -> TextColumn:
            column = Column(no_wrap=True, overflow="ellipsis", min_width=width)
            return TextColumn(f"{{task.{field}}}", markup=False, table_column=column)

        return [
            text("description"),
            BarColumn(bar_width=BAR_WIDTH),
            text("fields[count]", 7),
            text("fields[note]", NOTE_WIDTH),
            text("fields[left]", 7),
        ]

    def add_bar(self, name: str, total: float, completed: float, count: str, note: str = "") -> TaskID | None:
        """Add a bar, if there are any; the name is shortened to fit, because Rich would shorten all columns."""
        if self.bars is None:
            return None
        width = self.bars.console.width - OTHER_COLUMNS
        task = self.bars.add_task(shorten_name(name, width), total=total, count=count, note=note, left="")
        self.bars.update(task, completed=completed)
        return task

    def update(self, task: TaskID | None, **changes: Any) -> bool:
        """Update a bar; return whether there is one."""
        if self.bars is None or task is None:
            return False
        self.bars.update(task, **changes)
        return True

    def add_steps(self, name: str, steps: float, done: bool = False) -> None:
        """Add simulated steps of a study to the progress of all studies; with `done`, all that it still lacks."""
        if len(self.steps) < 2 or name not in self.steps:
            return
        with self.lock:
            counted = self.steps[name] if done else min(steps, self.steps[name])
            self.steps[name] -= counted
            if done:
                self.finished.add(name)
            if steps > 0:
                self.overall.add(counted)
            else:
                self.overall.done += counted
        count = f"{len(self.finished)}/{len(self.steps)}"
        if self.overall_task is None:
            self.overall_task = self.add_bar("all studies", self.overall.total, 0.0, count)
        left = "" if len(self.finished) == len(self.steps) else format_left(self.overall.seconds_left())
        self.update(self.overall_task, completed=self.overall.done, count=count, left=left)

    def describe_left(self, seconds: float | None) -> str:
        """Return the time left for a study and, if there are several, for all of them; empty if it is unknown."""
        if not seconds:
            return ""
        left = format_left(self.overall.seconds_left())
        end = f", {left} for all studies" if left and len(self.steps) > 1 else ""
        return f", about {format_left(seconds)} left{end}"

    def child(self, spec: Specification) -> Listener:
        return ComparisonProgress(self) if isinstance(spec, ComparisonSpec) else StudyProgress(self)


class StudyProgress(Listener):
    """Progress of one study or grid.

    The time left is that of the whole study: of the remaining trials, at their recent speed, and of the validation.
    """

    counted = True
    """Whether the message after an interrupt includes it."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.task: TaskID | None = None
        self.started = self.printed = 0.0
        self.steps = 0.0
        self.compiling = False
        self.study = StartedStudy("", 0, "trials")
        self.search, self.validation = Pace(0.0), Pace(0.0)

    def child(self, spec: Specification) -> Listener:
        return StudyProgress(self.reporter)

    def begin(self, spec: Specification, stored: int) -> None:
        policy = spec.summary()["policy"]
        self.compiling = not is_cached(policy) and policy not in POLICY_PLUGINS.names()
        size = f"{spec.planned:,} {kind_of(spec).unit} × {spec.worlds():,} replications"
        note = COMPILING if self.compiling else "starting"
        self._start(spec, stored, Pace(float(spec.planned), float(stored)), size, note)
        if self.task is None and self.compiling:
            self._print(COMPILING)

    def _start(self, spec: Specification, stored: int, search: Pace, size: str, note: str) -> None:
        """Add a bar, or print the size of a study."""
        self.study = StartedStudy(spec.study_name(), spec.planned, kind_of(spec).unit, stored)
        self.steps = 0.0
        self.search = search
        self.validation = Pace(float(spec.validation_steps()))
        self.started = self.printed = time.monotonic()
        if self.counted:
            self.reporter.started_studies[self.study.name] = self.study
        if self.task is None:
            count = f"{stored:,}/{spec.planned:,}"
            self.task = self.reporter.add_bar(self.study.name, search.total, search.done, count, note)
        if self.task is None:
            resuming = f", resuming after {stored:,}" if stored else ""
            self.reporter.line(f"{self.study.name}: {size}{resuming}")

    def batch(self, progress: Progress) -> None:
        """Show the state after a batch. Speed and time left do not count a first batch that includes compilation."""
        if self.compiling:
            self.search.done, self.search.updated = float(progress.trials), time.monotonic()
            self.started = time.monotonic()
        else:
            self.steps += progress.steps
            self.search.add(progress.trials - self.study.stored)
        self.study.stored = progress.trials
        self.reporter.add_steps(self.study.name, progress.steps)
        speed = self.steps / max(time.monotonic() - self.started, 1e-9)
        note = f"best {'none yet' if progress.best is None else format_number(progress.best)}"
        if not self.compiling:
            note += f", {format_speed(speed)}"
        left = self.search.seconds_left()
        if left is not None:
            left = None if speed <= 0.0 else left + self.validation.total / speed
        self.compiling = False
        total = self.study.total
        amount = f"{progress.trials:,} of {total:,} {self.study.unit}"
        self._update(progress.trials, f"{progress.trials:,}/{total:,}", note, left, f"{amount}, {note}")

    def _update(self, done: float, count: str, note: str, left: float | None, line: str, always: bool = False) -> None:
        """Update the bar or, unless that happened just before, print a line."""
        if self.reporter.update(self.task, completed=done, count=count, note=note, left=format_left(left)):
            return
        if always or time.monotonic() - self.printed > LINE_INTERVAL:
            self.printed = time.monotonic()
            self._print(f"{line}{self.reporter.describe_left(left)}")

    def validate(self, replayed: int = 0) -> None:
        """Show that the validation starts, which has a bar of its own, or the comparison of the cells of a grid."""
        if not self.validation.total:
            self.reporter.add_steps(self.study.name, 0.0, done=True)
            replaying = f"replaying {replayed:,} stored cells to compare" if replayed else "comparing the cells"
            self._note("comparing", replaying)
            return
        self.validation.updated = time.monotonic()
        self._note("done", "validating on held-out worlds")
        self.task = self.reporter.add_bar("  validation", self.validation.total, 0.0, "0 %", "held-out worlds")

    def validated(self, steps: float) -> None:
        pace = self.validation
        pace.add(min(steps, pace.total - pace.done))
        self.reporter.add_steps(self.study.name, steps)
        adding = pace.done >= pace.total  # a close race needs more worlds than planned; their number is not known
        count = f"{100 * pace.done / pace.total:.0f} %"
        note = "adding worlds" if adding else "held-out worlds"
        self._update(pace.done, count, note, None if adding else pace.seconds_left(), f"{count}, {note}")

    def finish(self) -> None:
        """Show on the bar that the result was stored; otherwise the result is printed anyway."""
        self.reporter.add_steps(self.study.name, 0.0, done=True)
        if self.validation.total:
            self.reporter.update(self.task, completed=self.validation.total, count="100 %", note="validated", left="")
        else:
            self.reporter.update(self.task, note="done", left="")

    def complete(self, spec: Specification) -> None:
        self.reporter.add_steps(spec.study_name(), 0.0, done=True)
        self.reporter.line(f"{spec.study_name()}: already complete.")

    def _note(self, word: str, line: str) -> None:
        """Show a word beside the bar, or print a line."""
        if not self.reporter.update(self.task, note=word, left=""):
            self._print(line)

    def _print(self, text: str) -> None:
        """Print a line about this study, with its name if several run at the same time."""
        self.reporter.line(f"  {self.study.name}: {text}" if self.reporter.many else f"  {text}")


class ComparisonProgress(StudyProgress):
    """Progress of a comparison, with more bars for the current search.

    An entry counts with the steps that it simulates, so that the time left is right: tuned entries take much longer.
    """

    def __init__(self, reporter: Reporter) -> None:
        super().__init__(reporter)
        self.label = ""
        self.searches = _SearchProgress(reporter)

    def child(self, spec: Specification) -> Listener:
        """Return the progress of the searches, which share their bars."""
        return self.searches

    def begin(self, spec: Specification, stored: int) -> None:
        assert isinstance(spec, ComparisonSpec)
        costs = [float(spec.entry_steps(policy, setting)) for policy, setting in spec.entries()]
        budget = f", {spec.tune:,} trials × {spec.search_replications:,} worlds each" if spec.tune else ""
        size = f"{spec.planned} entries × {spec.replications:,} worlds{budget}"
        self._start(spec, stored, Pace(sum(costs), sum(costs[:stored])), size, "starting")
        self.printed = -LINE_INTERVAL

    def entry(self, label: str) -> None:
        self.label = label
        self.reporter.update(self.task, note=label)

    def batch(self, progress: Progress) -> None:
        count = progress.trials
        total = self.study.total
        self.study.stored = count
        self.search.add(progress.steps)
        left = self.search.seconds_left() if count < total else None
        note = f"{self.label}: {'–' if progress.best is None else format_number(progress.best)}"
        line = f"{count} of {total} entries; {note}"
        self._update(self.search.done, f"{count}/{total}", note, left, line, always=count == total)


class _SearchProgress(StudyProgress):
    """Progress of the searches of a comparison, one after the other. Without bars, some of them are shown."""

    counted = False
    announced = 0.0
    shown = False

    def __init__(self, reporter: Reporter) -> None:
        super().__init__(reporter)
        self.tasks: list[TaskID] = []

    def complete(self, spec: Specification) -> None:
        """Show nothing: another comparison ran the search."""

    def begin(self, spec: Specification, stored: int) -> None:
        """Replace the bars of the previous search."""
        bars = self.reporter.bars
        if bars is not None:
            for task in self.tasks:
                bars.remove_task(task)
            self.task = None
            self.tasks = []
        self.shown = bars is not None or time.monotonic() - self.announced > LINE_INTERVAL
        if self.shown:
            self.announced = time.monotonic()
            super().begin(spec, stored)
        if self.task is not None:
            self.tasks.append(self.task)

    def batch(self, progress: Progress) -> None:
        """Show it if the search was announced."""
        if self.shown:
            super().batch(progress)

    def validate(self, replayed: int = 0) -> None:
        """Show it on a bar only: there are many searches."""
        if self.reporter.bars is not None:
            super().validate(replayed)
            if self.task is not None:
                self.tasks.append(self.task)

    def validated(self, steps: float) -> None:
        if self.reporter.bars is not None:
            super().validated(steps)
