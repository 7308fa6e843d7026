"""`ravenlab reproduce`: every figure, table and claim of the paper, run again; rerun it to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuning.commands.crews import BackendOption, ClusterOption, JobsOption, hire


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="figure1, table1, figure2, figure3, advice, table3, figure4, figure5, bounds, all. [default: all]",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="published (what the scripts did), defined (what the paper defines), or both.")
    ] = "both",
    replications: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Replications of the logistics table; all other counts go with it. [default: 50]"
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where everything is written and kept.")
    ] = Path("reproduction"),
    seed: Annotated[str | None, typer.Option(metavar="S", help="Names the worlds and searches. [default: 0]")] = None,
    jobs: JobsOption = None,
    backend: BackendOption = "threads",
    cluster: ClusterOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print reproduction.json as well.")] = False,
) -> None:
    """Run the paper again, as published and as defined, and say of each claim whether it stands.

    Writes reproduction.html, reproduction.json and a CSV file for all that is drawn. What is done is kept: a rerun of
    the same command goes on where it stopped.

    Example: `ravenlab reproduce figure2 figure3 -o paper`
    """
    from dataclasses import replace

    from tuning.commands.reproduction_files import print_verdicts, write_reproduction
    from tuning.commands.reproduction_progress import ReproductionReporter
    from tuning.commands.words import whole_number
    from tuning.files import check_folder, make_folder
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
        typer.echo(document.as_json(), nl=False)
    else:
        print_verdicts(document, written)
