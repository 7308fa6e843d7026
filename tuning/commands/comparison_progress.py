"""What a person sees while policies are compared: a bar for the entries, and one for the search that is at work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from studies.comparison.entries import Entry
from studies.comparison.spec import ComparisonSpec, SettingOf
from studies.spec import StudySpec
from tuning.comparison.running import ComparisonListener
from tuning.progress import Begun, Reporter, StudyProgress
from tuning.screen import LINE_EVERY

if TYPE_CHECKING:
    from rich.progress import TaskID


class ComparisonReporter(Reporter):
    """Shows comparisons one after the other; a search's bar goes when the next one comes."""

    def __init__(self, quiet: bool = False) -> None:
        super().__init__(quiet)
        self.whole: TaskID | None = None
        self.now: Begun | None = None
        self.entries = 0
        self.said = 0.0

    def comparison_listener(self) -> ComparisonListener:
        """What `run_comparison` tells."""
        return ComparisonListener(self._begin_comparison, self._playing, self._landed, _Searches(self).listener())

    def _begin_comparison(self, spec: ComparisonSpec, landed: int) -> None:
        name, self.entries = spec.study_name(), len(spec.entries())
        self.begun[name] = self.now = Begun(name, self.entries, "entries", landed)
        if landed == self.entries:
            self.line(f"{name}: already complete.")
        elif self.bars is not None:
            self.whole = self.add(name, self.entries, landed)
        else:
            going_on = f", going on after {landed}" if landed else ""
            budget = f", {spec.tune} trials × {spec.search_replications} each" if spec.tune else ""
            self.line(f"{name}: {self.entries} entries in {spec.replications:,} worlds{budget}{going_on}")

    def _playing(self, policy: str, setting: SettingOf) -> None:
        if self.bars is not None and self.whole is not None:
            self.bars.update(self.whole, note=f"{policy}, {setting}")

    def _landed(self, count: int, entry: Entry) -> None:
        mean = float(entry.regret.mean())
        if self.now is not None:
            self.now.landed = count
        if self.bars is not None and self.whole is not None:
            self.bars.update(self.whole, completed=count, note=f"{entry.policy} {mean:.4g}")
        elif count == self.entries or time.monotonic() - self.said > LINE_EVERY:
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
        if bars is not None or time.monotonic() - self.told > LINE_EVERY:
            self.told = time.monotonic()
            super().begin(spec, landed)

    def validate(self) -> None:
        """Hardly worth a line: there are many searches."""
        if self.reporter.bars is not None:
            super().validate()
