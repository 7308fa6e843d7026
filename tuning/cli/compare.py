"""What a person sees while policies are compared: a bar for the entries, and one for the search that is at work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.registry import ALL_KEYWORD, PAPER_KEYWORD, ComparisonDefaults
from studies.results.comparison import Entry
from studies.spec.comparison import ComparisonSpec, SettingKind
from studies.spec.study import StudySpec
from tuning.cli import completion, options
from tuning.cli.arguments import hire
from tuning.cli.options import default
from tuning.comparison.run import ComparisonListener
from tuning.progress import LINE_EVERY, Begun, Reporter, StudyProgress
from tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from rich.progress import TaskID

    from studies.results.comparison import Result


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

    def _playing(self, policy: str, setting: SettingKind) -> None:
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


def print_results(results: Sequence[Result]) -> None:
    """Each board, and where there is more than one world the overview."""
    from studies.export.comparison import board_table, overview_table
    from studies.results.comparison import LEGEND, describe_overview, describe_result, describe_search
    from tuning.cli.output import print_table, say

    for result in results:
        for board in reversed(result.boards):
            table = board_table(result, board, timed=True)
            rows = [row[:-1] for row in table.rows]
            columns = table.columns[:-1]
            print_table(table.caption, columns, rows, numbers=[columns[i] for i in table.numbers], cut=True)
        for line in describe_result(result):
            say(line)
        note = describe_search(result)
        if note is not None:
            say(note)
    if len(results) > 1:
        table = overview_table(results)
        print_table(table.caption, table.columns, table.rows, numbers=[table.columns[i] for i in table.numbers])
        say(describe_overview(results))
    say(LEGEND)


FIGHT = "The fight"


def compare(
    names: options.ScenariosArgument = None,
    scenarios: Annotated[
        str | None,
        typer.Option(
            metavar="all|A,B…",
            help="More scenarios; all stands for all of them.",
            autocompletion=completion.scenario_lists,
            rich_help_panel=options.PROBLEM,
        ),
    ] = None,
    horizon: options.HorizonsOption = None,
    arms: options.ArmsOption = None,
    noise: options.NoiseOption = None,
    setting: options.SettingOption = None,
    seed: options.SeedOption = None,
    policies: Annotated[
        str,
        typer.Option(
            metavar=f"A,B…|{PAPER_KEYWORD}|{ALL_KEYWORD}",
            help="Who is compared.",
            autocompletion=completion.policy_lists,
            rich_help_panel=FIGHT,
        ),
    ] = ComparisonDefaults.policies,
    tune: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help=f"Trials of each policy's search; 0: defaults only. {default(ComparisonDefaults.tune)}",
            rich_help_panel=FIGHT,
        ),
    ] = None,
    replications: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help=f"Fresh worlds, the same for all. {default(ComparisonDefaults.replications)}",
            rich_help_panel=FIGHT,
        ),
    ] = None,
    search_replications: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help=f"Worlds each trial of a search plays. {default(ComparisonDefaults.search_replications)}",
            rich_help_panel=FIGHT,
        ),
    ] = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    output: options.FolderOption = Path("comparison"),
    name: options.NameOption = None,
    storage: options.StorageOption = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Compare policies, at their defaults and tuned, in the same worlds.

    Every policy is tuned by an equal search. Writes compare.html, and the numbers as JSON, CSV, Markdown and LaTeX. A
    rerun of the same command goes on where it stopped.

    Examples:
        # the paper's nine policies in one scenario
        ravenlab compare blips
        # four policies of your choice, in a long run
        ravenlab compare localized-jump --horizon 10000 --policies raven-ucb,sw-raven,sw-ucb,ucb1 --tune 50
        # everybody everywhere, at their defaults
        ravenlab compare --scenarios all --policies all --tune 0
    """
    from studies.storage.urls import storage_url
    from tuning.cli.arguments import horizons_of, numbers, settings_of
    from tuning.cli.output import put, say, saying_what_is_kept
    from tuning.comparison.run import compare_all, specs_of
    from tuning.files import check_folder
    from tuning.page_files import write_comparison

    counts = {"tune": tune, "replications": replications, "search_replications": search_replications}
    fields: dict[str, Any] = numbers({**counts, "arms": arms, "seed": seed})
    fields["settings"] = settings_of(setting, noise)
    if name is not None:
        fields["name"] = name
    more = [] if scenarios is None else [word.strip() for word in scenarios.split(",")]
    specs = specs_of([*(names or []), *more], horizons_of(horizon), policies, fields)
    crews = hire(jobs, backend, cluster)
    check_folder(output)
    url = storage_url(storage)
    with crews as crew, ComparisonReporter(quiet) as reporter, saying_what_is_kept(reporter, url):
        document = compare_all(specs, url, crew, reporter.comparison_listener())
    written = write_comparison(document, output)
    if as_json:
        put(document.as_json())
        return
    print_results(document.results)
    endings = ", ".join(path.suffix for path in written[1:])
    say(f"{written[0]} is written, with {endings} beside it.")
