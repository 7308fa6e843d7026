"""`ravenlab compare`: the fair fight between policies; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from studies.registry import ALL, PAPER_POLICIES, ComparisonDefaults
from tuning.commands import completing, options
from tuning.commands.crews import hire
from tuning.commands.options import default
from tuning.crew import DEFAULT_BACKEND

FIGHT = "The fight"


def compare(
    names: options.ScenariosArgument = None,
    scenarios: Annotated[
        str | None,
        typer.Option(
            metavar="all|A,B…",
            help="More scenarios; all stands for all of them.",
            autocompletion=completing.scenario_lists,
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
            metavar=f"A,B…|{PAPER_POLICIES}|{ALL}",
            help="Who is compared.",
            autocompletion=completing.policy_lists,
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
    from studies.urls import storage_url
    from tuning.commands.asking import horizons_of, numbers, settings_of
    from tuning.commands.comparison_progress import ComparisonReporter
    from tuning.commands.comparison_tables import print_results
    from tuning.commands.keeping import saying_what_is_kept
    from tuning.commands.tables import put, say
    from tuning.comparison.asking import compare_all, specs_of
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
