"""`ravenlab report`: everything on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tuning.cli.options import SomeStudiesArgument, StorageOption


def report(
    studies: SomeStudiesArgument = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where it is written.")] = Path(
        "report.html"
    ),
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            metavar="DIR",
            help="Also write each figure as HTML and, with kaleido and a browser, SVG or PNG.",
            show_default=False,
        ),
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Write one HTML page that works offline, with everything on it.

    Summary, parameters, scenarios, grids, search and methods of all studies, or of those named.

    Examples:
        # report.html in this folder
        ravenlab report
        # some studies, and each figure as a file of its own
        ravenlab report 'raven-ucb/*' -o raven.html --figures pictures
    """
    from environments.text import format_bytes, plural
    from tuning.cli.output import say
    from tuning.page_files import write_report

    made = write_report(studies or None, output, pictures, storage)
    for line in made.warnings:
        typer.echo(f"ravenlab: {line}", err=True)
    held = [plural(made.recommendations, "recommendation"), plural(made.figures, "figure"), format_bytes(made.size)]
    say(f"{output} is written: {', '.join(held)}.")
    if pictures is not None:
        say(f"{pictures} holds {made.figure_files} files of figures.")
