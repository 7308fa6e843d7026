"""`ravenlab export`: recommendations in a file format for programs or papers."""

from pathlib import Path
from typing import Annotated

from ravenlab.common.errors import unknown_name
from ravenlab.common.terminal import print_line
from ravenlab.common.text import plural
from ravenlab.studies.export import DEFAULT_FORMAT, FORMATS
from ravenlab.studies.export import export as export_text
from ravenlab.tuning.cli.options import AllOption, OptionalStudiesArgument, StorageOption, choice_option, option
from ravenlab.tuning.cli.output import print_exact, print_message


def export(
    studies: OptionalStudiesArgument = None,
    form: Annotated[str, choice_option("--format", "Format", FORMATS)] = DEFAULT_FORMAT,
    output: Annotated[
        Path | None, option("--output", "Output file. [default: stdout]", short="-o", metavar="FILE")
    ] = None,
    show_all: AllOption = False,
    storage: StorageOption = None,
) -> None:
    """Export recommendations for programs or papers.

    Exporting the same studies again gives the same bytes.

    Examples:
        # all recommendations as JSON to stdout
        ravenlab export
        # those of one policy to a file that a service loads
        ravenlab export 'raven-ucb/*' -o recommended.json
        # a table for a paper
        ravenlab export --format latex -o table.tex
    """
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.library import read_exportable
    from ravenlab.tuning.files import write_text

    if form not in FORMATS:
        raise unknown_name("format", form, FORMATS)
    with use_storage(storage) as store:
        exportable = read_exportable(store, studies or None, show_all)
    recommendations = exportable.recommendations
    for note in exportable.notes:
        print_message(f"ravenlab: {note}")
    text = export_text(recommendations, form)
    if output is None:
        print_exact(text)
        return
    write_text(output, text)
    print_line(f"Wrote {output}: {plural(len(recommendations), 'recommendation')}.")
