"""`ravenlab reproduce`: every figure, table and claim of the paper, run again; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from environments.text import join_words
from tuning.commands import completing, options
from tuning.commands.crews import hire
from tuning.crew import DEFAULT_BACKEND

if TYPE_CHECKING:
    from studies.reproduction.document import Document

NAMES = ("figure1", "table1", "figure2", "figure3", "advice", "table3", "figure4", "figure5", "bounds", "all")
"""What of the paper can be run again."""


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=completing.words(*NAMES),
            rich_help_panel=options.PROBLEM,
            help=f"{join_words(NAMES)}. [default: all]",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="published (what the scripts did), defined (what the paper defines), or both.",
            autocompletion=completing.words("published", "defined", "both"),
            rich_help_panel=options.PROBLEM,
        ),
    ] = "both",
    replications: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help="Replications of the logistics table; all other counts go with it. [default: 50]",
            rich_help_panel=options.PROBLEM,
        ),
    ] = None,
    seed: options.SeedOption = None,
    jobs: options.JobsOption = None,
    backend: options.BackendOption = DEFAULT_BACKEND,
    cluster: options.ClusterOption = None,
    output: options.FolderOption = Path("reproduction"),
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Run the paper again and say of each claim whether it stands.

    Writes reproduction.html, reproduction.json and a CSV file for all that is drawn. What is done is kept: a rerun of
    the same command goes on where it stopped.

    Examples:
        # everything, as published and as defined
        ravenlab reproduce
        # two figures, in a folder of their own
        ravenlab reproduce figure2 figure3 -o paper
    """
    from dataclasses import replace

    from tuning.commands.reproduction_progress import ReproductionReporter
    from tuning.commands.tables import put
    from tuning.commands.words import whole_number
    from tuning.files import check_folder, make_folder
    from tuning.page_files import write_reproduction
    from tuning.reproduction.asking import context_of
    from tuning.reproduction.experiments import chosen
    from tuning.reproduction.running import reproduce as run

    wanted = chosen(names or [])
    asked = context_of(
        output,
        protocol=protocol,
        replications=None if replications is None else whole_number("--replications", replications),
        seed=0 if seed is None else whole_number("--seed", seed),
    )
    crews = hire(jobs, backend, cluster)
    check_folder(output)
    make_folder(output)  # what is done is kept here from the first piece on
    with crews as crew, ReproductionReporter(quiet) as reporter:
        context = replace(asked, crew=crew)
        document = run(wanted, context, output, reporter.listener())
    written = write_reproduction(document, output)
    if as_json:
        put(document.as_json())
    else:
        _print_verdicts(document, written)


def _print_verdicts(document: Document, written: list[Path]) -> None:
    """Print the verdicts on single claims, a summary of each group of claims, and the files written."""
    from dashboards.reproduction.verdict_table import groups
    from tuning.commands.tables import print_table, say

    found = groups(document.verdicts())
    rows = []
    for claim in [claim for group in found if not group.title for claim in group.claims]:
        for place, row in enumerate(claim.verdicts):
            ours = f"{row.ours} ({row.interval})" if row.interval else row.ours
            first = (claim.text, claim.printed) if place == 0 else ("", "")
            rows.append([first[0], row.protocol, first[1], ours, f"{row.sign} {row.word}"])
    if rows:
        print_table("Verdicts", ["The paper's claim", "Run", "Paper", "Ours (95 %)", "Verdict"], rows)
    for group in found:
        if group.title:
            say(f"{group.title}: {group.summary}.")
    page = next(path for path in written if path.suffix == ".html")
    tables = sum(path.suffix == ".csv" for path in written)
    say(f"{page} is written, with reproduction.json and {tables} CSV files beside it.")
