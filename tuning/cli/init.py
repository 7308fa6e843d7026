"""`ravenlab init`: a commented study file to begin with, or a trace or a log to try."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where it is written. [default: study.toml]")] = Path(
        "study.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Write an example of a trace (trace.csv) instead.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Write an example of a log (log.csv) instead.")] = False,
) -> None:
    """Write a study file with a comment on everything that can be set.

    Or, to try things out, an example of a trace or a log.

    Examples:
        # study.toml in this folder
        ravenlab init
        # an example of a trace: milliseconds of five servers
        ravenlab init latency.csv --trace
    """
    from environments.errors import InputError
    from studies.spec.files import study_template
    from tuning.cli.output import called, say
    from tuning.files import atomic_write

    if trace and log:
        raise InputError("--trace and --log can't be given together.")
    if (trace or log) and file == Path("study.toml"):
        file = Path("trace.csv" if trace else "log.csv")
    if not force and (file.is_symlink() or file.exists()) and not file.is_dir():
        raise InputError(f"{file} is there already; say --force to overwrite it.")
    if trace:
        from environments.recorded.examples import example_trace, trace_to_csv

        with atomic_write(file) as out:
            out.write(trace_to_csv(example_trace()))
        say(f"{file} is written: milliseconds of five servers. Then: {called()} tune --trace {file} --minimize")
        return
    if log:
        from environments.recorded import examples

        with atomic_write(file) as out:
            out.write(examples.log_to_csv(examples.example_log()))
        say(f"{file} is written: clicks on five banners. Then: {called()} tune --log {file}")
        return
    with atomic_write(file) as out:
        out.write(study_template())
    say(f"{file} is written. Edit it, then: {called()} validate {file}")
