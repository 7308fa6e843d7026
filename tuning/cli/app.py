"""The command line: commands, exit codes and error messages."""

import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from ravenlab.common.errors import ExternalError, InputError, closest_name
from ravenlab.studies.storage.urls import mask_passwords
from ravenlab.studies.symbols import use_ascii_where_needed
from ravenlab.tuning.cli.completion import join_bash_words
from ravenlab.tuning.cli.fields import option_names, with_options
from ravenlab.tuning.cli.help import CONTEXT_SETTINGS, Command, Group
from ravenlab.tuning.cli.options import OptionValueError
from ravenlab.tuning.cli.output import print_message
from ravenlab.tuning.interrupts import Interrupted, handle_interrupts

DONE = 0
FAULT = 1
REFUSED = 2
INTERRUPTED = 130

HEADINGS = {
    "Get started": "list init diagnose",
    "Run": "tune grid compare simulate play reproduce",
    "View results": "recommend report dashboard studies show",
    "Manage studies": "export copy delete",
    "Check": "validate doctor",
}
"""Names of commands as `ravenlab --help` lists them. The module of a command has its name, and so has the function."""


def _load_command(name: str) -> Callable[..., None] | typer.Typer:
    module = import_module(f"ravenlab.tuning.cli.{name}")
    command: Callable[..., None] | typer.Typer = getattr(module, name, None) or module.app
    return command


GROUPS = {heading: {name: _load_command(name) for name in names.split()} for heading, names in HEADINGS.items()}
"""Commands by heading."""

COMMANDS: dict[str, Callable[..., None]] = {
    name: command
    for commands in GROUPS.values()
    for name, command in commands.items()
    if not isinstance(command, typer.Typer)
}

EPILOG = """\
To begin: ravenlab tune blips
Help for a command: ravenlab COMMAND --help, or ravenlab help COMMAND
Exit codes: 0 success, 1 failure, 2 invalid input, 130 interrupted"""

MAX_MESSAGE = 2000  # characters of an error message
NO_MEMORY = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""Signs of a lack of memory in the messages of other errors: a library or a thread that could not be loaded."""
COMPLETION = "_RAVENLAB_COMPLETE"  # environment variable that a shell sets to request completions
COMPLETED_LINE = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Environment variables with the command line to be completed."""


def _version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"ravenlab {version('ravenlab')}")
        raise typer.Exit


def ravenlab(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Tune and study RAVEN-UCB, a bandit policy for rewards that change over time."""


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the application; only commands named in the arguments have their options.

    Declaring the options of all commands takes as long as the rest of `ravenlab --help`, which shows none of them.

    >>> len(app_for(["--help"]).registered_commands) == len(COMMANDS)
    True
    """
    app = typer.Typer(
        name="ravenlab",
        cls=Group,
        help=ravenlab.__doc__,
        epilog=EPILOG,
        context_settings=CONTEXT_SETTINGS,
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(ravenlab)
    typed = {*arguments, *(word for name in COMPLETED_LINE for word in os.environ.get(name, "").split())}
    for heading, commands in GROUPS.items():
        for name, command in commands.items():
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name, cls=Group, context_settings=CONTEXT_SETTINGS, rich_help_panel=heading)
            else:
                declared = with_options(command) if name in typed else _without_options(command)
                app.command(name, cls=Command, context_settings=CONTEXT_SETTINGS, rich_help_panel=heading)(declared)
    return app


def _without_options(command: Callable[..., None]) -> Callable[[], None]:
    """Return a stand-in for a command that has its help but no options."""

    def stand_in() -> None:
        raise AssertionError("only commands named in the arguments are run")

    stand_in.__doc__ = command.__doc__
    return stand_in


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; an error is printed as one line to stderr.

    >>> run(["list", "scenario"])
    2
    """
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    app = typer.main.get_command(app_for(arguments))
    try:
        code = app.main(arguments, prog_name="ravenlab", standalone_mode=False)
    except InputError as error:
        command = app
        for word in arguments:
            command = getattr(command, "commands", {}).get(word, command)
        return _print_error(describe_input_error(error, command), REFUSED)
    except typer.TyperException as error:
        return _print_error(describe_usage_error(error, arguments), REFUSED)
    except ExternalError as error:
        return _print_error(str(error), FAULT)
    except (MemoryError, ImportError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not any(sign in str(error) for sign in NO_MEMORY):
            raise
        return _print_error(f"out of memory: {str(error) or 'reduce the size of the problem'}", FAULT)
    except SystemExit as end:  # shell completion ends like this
        return end.code if isinstance(end.code, int) else DONE
    except (Interrupted, KeyboardInterrupt, typer.Abort) as stop:
        return _print_error(str(stop) if isinstance(stop, Interrupted) else str(Interrupted()), INTERRUPTED)
    except BrokenPipeError:
        return FAULT
    except OSError as error:
        parts = (error.strerror or error, error.filename)
        return _print_error(": ".join(str(part) for part in parts if part), FAULT)
    if code == INTERRUPTED:
        return _print_error(str(Interrupted()), INTERRUPTED)
    return code if isinstance(code, int) else DONE


def describe_input_error(error: InputError, command: Any) -> str:
    """Return the message of an error with the command's option for its field.

    A message that begins with the field begins with the option instead; otherwise the option follows in parentheses.

    >>> from types import SimpleNamespace
    >>> tune = SimpleNamespace(params=[SimpleNamespace(opts=["--name", "--range"])])
    >>> describe_input_error(InputError("study 'mine' is a grid; choose another name.", field="name"), tune)
    "study 'mine' is a grid; choose another name (--name)."
    >>> describe_input_error(InputError("space.alpha0: low must be below high.", field="space.alpha0"), tune)
    '--range alpha0: low must be below high.'
    """
    message = str(error)
    if error.field is None:
        return message
    field, _, key = error.field.partition(".")
    options = {name for param in command.params for name in param.opts}
    option = next((name for name in option_names(field) if name in options), None)
    if option is None:
        return message
    rest = message.removeprefix(error.field)
    if rest != message and rest[:1] in (" ", ":"):
        return f"{option} {key}".strip() + rest
    return f"{message.rstrip('.')} ({option})."


def describe_usage_error(error: Any, arguments: Sequence[str] = ()) -> str:
    """Return the message of an error in the use of options, with the nearest option or a pointer to the help.

    >>> describe_usage_error(typer.BadParameter("no"), ["tune"])
    'Invalid value: no; see ravenlab tune --help.'
    """
    ctx = getattr(error, "ctx", None)
    if isinstance(error, OptionValueError) and error.param is not None:
        return f"{max(error.param.opts, key=len)} {error.message}"
    command = next((f"ravenlab {word}" for word in arguments if word in COMMANDS), "ravenlab")
    help_command = f"{command if ctx is None else ctx.command_path} --help"
    if ctx is None or not hasattr(error, "possibilities"):
        return f"{error.format_message().rstrip('.')}; see {help_command}."
    options = [name[2:] for param in ctx.command.get_params(ctx) for name in param.opts if name.startswith("--")]
    near = closest_name(error.option_name.lstrip("-"), options)
    advice = f"see {help_command}." if near is None else f"did you mean --{near}?"
    return f"unknown option {error.option_name}; {advice}"


def _print_error(message: str, code: int) -> int:
    """Print a message to stderr as one line of limited length without passwords, and return the exit code."""
    line = mask_passwords(" ".join(message.split()))
    if len(line) > MAX_MESSAGE:
        line = f"{line[: MAX_MESSAGE // 2]} … {line[-MAX_MESSAGE // 2 :]}"
    print_message(f"ravenlab: {line}")
    return code


class _ForgivingFile(io.FileIO):
    """A file for messages; those that cannot be written are dropped, so that they do not end a command."""

    def write(self, message: Any, /) -> int:
        try:
            return super().write(message)
        except OSError:
            return len(message)


class _StandardOutput(io.FileIO):
    """Standard output; its first error names it, as those of other files do, and the rest is dropped."""

    failed = False

    def write(self, data: Any, /) -> int:
        if self.failed:  # Python writes what is buffered once more when it ends
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.failed = True
            error.filename = "standard output"
            raise


def open_standard_streams() -> None:
    """Open standard streams that the caller has closed; name stdout in errors; ignore errors of stderr: a full disk.

    Python sets closed streams to None, which many libraries do not expect. Files that are opened later would get their
    numbers, and messages would be written into them.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    plain = sys.__stdout__
    if plain is not None and sys.stdout is plain and os.name == "posix":  # Windows has another class for its console
        named = io.BufferedWriter(_StandardOutput(1, "w", closefd=False))
        sys.stdout = io.TextIOWrapper(named, plain.encoding, plain.errors, line_buffering=plain.line_buffering)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        encoding = sys.stderr.encoding if sys.stderr else "utf-8"
        unbuffered: Any = _ForgivingFile(2, "w", closefd=False)
        sys.stderr = io.TextIOWrapper(unbuffered, encoding, errors="backslashreplace", write_through=True)


def _format_warning(message: Warning | str, *_: Any, **__: Any) -> str:
    """Return a warning as one line, without the line of the source that issued it."""
    return f"ravenlab: warning: {' '.join(str(message).split())}\n"


def main() -> None:
    """Run the command line of this process."""
    open_standard_streams()
    warnings.formatwarning = _format_warning
    use_ascii_where_needed()
    if COMPLETION in os.environ:
        join_bash_words()
    try:
        with handle_interrupts():
            code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _print_error(str(Interrupted()), INTERRUPTED)
    sys.exit(code)
