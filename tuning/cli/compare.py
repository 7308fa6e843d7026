"""`ravenlab compare`: policies in the same worlds, at their defaults and tuned."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studies.registry import ALL_KEYWORD, PAPER_KEYWORD, ComparisonDefaults
from tuning.cli import completion, options
from tuning.cli.arguments import hire
from tuning.cli.options import default
from tuning.workers.local import DEFAULT_BACKEND

if TYPE_CHECKING:
    from studies.results.comparison import ComparisonResult


def print_results(results: Sequence[ComparisonResult]) -> None:
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
    from tuning.comparison.run import comparison_specs, run_comparisons
    from tuning.files import check_folder
    from tuning.page_files import write_comparison
    from tuning.progress import ComparisonReporter

    counts = {"tune": tune, "replications": replications, "search_replications": search_replications}
    fields: dict[str, Any] = numbers({**counts, "arms": arms, "seed": seed})
    fields["settings"] = settings_of(setting, noise)
    if name is not None:
        fields["name"] = name
    more = [] if scenarios is None else [word.strip() for word in scenarios.split(",")]
    specs = comparison_specs([*(names or []), *more], horizons_of(horizon), policies, fields)
    crews = hire(jobs, backend, cluster)
    check_folder(output)
    url = storage_url(storage)
    with crews as crew, ComparisonReporter(quiet) as reporter, saying_what_is_kept(reporter, url):
        document = run_comparisons(specs, url, crew, reporter.comparison_listener())
    written = write_comparison(document, output)
    if as_json:
        put(document.as_json())
        return
    print_results(document.results)
    endings = ", ".join(path.suffix for path in written[1:])
    say(f"{written[0]} is written, with {endings} beside it.")
