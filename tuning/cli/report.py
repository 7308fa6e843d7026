"""`ravenlab report`: all results on one HTML page."""

from pathlib import Path
from typing import Annotated

from ravenlab.common.terminal import print_line
from ravenlab.common.text import format_bytes, plural
from ravenlab.tuning.cli.options import AllOption, OptionalStudiesArgument, StorageOption, option
from ravenlab.tuning.cli.output import print_message


def report(
    studies: OptionalStudiesArgument = None,
    output: Annotated[Path, option("--output", "Output file.", short="-o", metavar="FILE")] = Path("report.html"),
    figures: Annotated[
        Path | None,
        option(
            "--figures",
            "Also write each figure as HTML and, if kaleido and a browser are installed, as SVG or PNG.",
            metavar="DIR",
        ),
    ] = None,
    show_all: AllOption = False,
    storage: StorageOption = None,
) -> None:
    """Write all results to one HTML page that works offline.

    Shows recommendations, parameters, scenarios, grids, searches and methods of all studies, or of those named.

    Examples:
        # report.html in this folder
        ravenlab report
        # the studies of one policy, and each figure as a separate file
        ravenlab report 'raven-ucb/*' -o raven.html --figures pictures
    """
    from ravenlab.tuning.page_files import write_report

    page = write_report(studies or None, output, figures, storage, internal=show_all)
    for line in page.warnings:
        print_message(f"ravenlab: {line}")
    parts = [plural(page.recommendations, "recommendation"), plural(page.figures, "figure"), format_bytes(page.size)]
    print_line(f"Wrote {output}: {', '.join(parts)}.")
    if figures is not None:
        print_line(f"Wrote {plural(page.figure_files, 'figure file')} to {figures}.")
