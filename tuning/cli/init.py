"""`ravenlab init`: write a commented study file, or an example of a trace or a log."""

from pathlib import Path
from typing import Annotated

from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_line
from ravenlab.common.text import join_words
from ravenlab.tuning.cli.options import argument, option
from ravenlab.tuning.cli.output import command_name

STUDY_FILE = Path("study.toml")


def init(
    file: Annotated[Path, argument("FILE", "File to write. [default: study.toml]")] = STUDY_FILE,
    force: Annotated[bool, option("--force", "Overwrite an existing file.")] = False,
    trace: Annotated[bool, option("--trace", "Write an example of a trace instead (trace.csv).")] = False,
    log: Annotated[bool, option("--log", "Write an example of a log instead (log.csv).")] = False,
    example: Annotated[
        str | None,
        option("--example", "Write the data and the truth of an example problem: carriers, headlines or regions."),
    ] = None,
) -> None:
    """Write a study file with a comment on every setting.

    With --trace, --log or --example, writes example data instead.

    Examples:
        # study.toml in this folder
        ravenlab init
        # an example of a trace: response times of five servers in milliseconds
        ravenlab init latency.csv --trace
        # minutes of eight carriers: a trace, a log, and the truth behind them
        ravenlab init --example carriers
    """
    from ravenlab.environments.recorded import examples
    from ravenlab.environments.recorded.problems import make_problem
    from ravenlab.studies.spec.files import study_template
    from ravenlab.tuning.files import write_text

    if trace + log + (example is not None) > 1:
        raise InputError("--trace, --log and --example can't be combined.")
    if (trace or log) and file == STUDY_FILE:
        file = Path("trace.csv" if trace else "log.csv")
    if example is not None and file != STUDY_FILE:
        raise InputError("--example names its files itself; leave out FILE.")
    command = command_name()
    if example is not None:
        problem = make_problem(example)
        files = {Path(name): text for name, text in problem.files().items()}
        hint = f": {problem.describe()} Next: {command} diagnose {min(files)}"
    elif trace:
        files = {file: examples.trace_to_csv(examples.example_trace())}
        hint = f": response times of five servers in milliseconds. Next: {command} tune --trace {file} --minimize"
    elif log:
        files = {file: examples.log_to_csv(examples.example_log())}
        hint = f": clicks on five banners. Next: {command} tune --log {file}"
    else:
        files = {file: study_template()}
        hint = f". Edit it, then run {command} validate {file}"
    for path in files:
        if not force and (path.is_symlink() or path.exists()) and not path.is_dir():
            raise InputError(f"{path} already exists; pass --force to overwrite it.")
    for path, text in files.items():
        write_text(path, text)
    print_line(f"Wrote {join_words(sorted(map(str, files)), 'and')}{hint}")
