"""`ravenlab init`: write a commented study file, or an example of a trace or a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ravenlab.tuning.cli.options import argument, option

STUDY_FILE = Path("study.toml")


def init(
    file: Annotated[Path, argument("FILE", "File to write. [default: study.toml]")] = STUDY_FILE,
    force: Annotated[bool, option("--force", "Overwrite an existing file.")] = False,
    trace: Annotated[bool, option("--trace", "Write an example of a trace instead (trace.csv).")] = False,
    log: Annotated[bool, option("--log", "Write an example of a log instead (log.csv).")] = False,
) -> None:
    """Write a study file with a comment on every setting.

    With --trace or --log, writes example data instead.

    Examples:
        # study.toml in this folder
        ravenlab init
        # an example of a trace: response times of five servers in milliseconds
        ravenlab init latency.csv --trace
    """
    from ravenlab.common.errors import InputError
    from ravenlab.environments.recorded import examples
    from ravenlab.studies.spec.files import study_template
    from ravenlab.tuning.cli.output import command_name, print_line
    from ravenlab.tuning.files import atomic_write

    if trace and log:
        raise InputError("--trace and --log can't be combined.")
    if (trace or log) and file == STUDY_FILE:
        file = Path("trace.csv" if trace else "log.csv")
    if not force and (file.is_symlink() or file.exists()) and not file.is_dir():
        raise InputError(f"{file} already exists; pass --force to overwrite it.")
    command = command_name()
    if trace:
        text = examples.trace_to_csv(examples.example_trace())
        hint = f": response times of five servers in milliseconds. Next: {command} tune --trace {file} --minimize"
    elif log:
        text = examples.log_to_csv(examples.example_log())
        hint = f": clicks on five banners. Next: {command} tune --log {file}"
    else:
        text = study_template()
        hint = f". Edit it, then run {command} validate {file}"
    with atomic_write(file) as out:
        out.write(text)
    print_line(f"Wrote {file}{hint}")
