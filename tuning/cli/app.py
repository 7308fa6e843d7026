"""The command line. Exit codes: 0 done, 1 a fault, 2 bad input or refused, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from environments.errors import ExternalError, InputError
from studies.symbols import use_ascii_where_needed
from tuning.cli import (
    compare,
    copy,
    dashboard,
    delete,
    diagnose,
    doctor,
    export,
    grid,
    init,
    recommend,
    report,
    reproduce,
    show,
    simulate,
    studies,
    tune,
    validate,
)
from tuning.cli import list as list_
from tuning.cli.completion import joined_by_bash
from tuning.cli.help import NAMES, Command, Group
from tuning.cli.options import in_words, with_option
from tuning.interrupts import Interrupted, handle_interrupts

DONE, FAULT, REFUSED, INTERRUPTED = 0, 1, 2, 130

GROUPS: dict[str, dict[str, Callable[..., None] | typer.Typer]] = {
    "Begin": {"list": list_.app, "init": init.init, "diagnose": diagnose.diagnose},
    "Tune and play": {
        "tune": tune.tune,
        "grid": grid.grid,
        "compare": compare.compare,
        "simulate": simulate.simulate,
        "reproduce": reproduce.reproduce,
    },
    "Look": {
        "recommend": recommend.recommend,
        "report": report.report,
        "dashboard": dashboard.dashboard,
        "studies": studies.studies,
        "show": show.show,
    },
    "Keep": {"export": export.export, "copy": copy.copy, "delete": delete.delete},
    "Check": {"validate": validate.validate, "doctor": doctor.doctor},
}
"""The commands as `ravenlab --help` lists them."""

COMMANDS: dict[str, Callable[..., None]] = {
    name: command
    for commands in GROUPS.values()
    for name, command in commands.items()
    if not isinstance(command, typer.Typer)
}

EPILOG = """\
Begin with: ravenlab tune blips
Help on a command: ravenlab COMMAND --help, or ravenlab help COMMAND
Exit codes: 0 done, 1 a fault, 2 bad input or refused, 130 interrupted."""

LONGEST = 2000
"""Letters of a line on stderr."""

COMPLETION = "_RAVENLAB_COMPLETE"
"""Set by the shell where it asks what could be typed next; what is typed so far is in the variables below."""

TYPED = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ravenlab {version('ravenlab')}")
        raise typer.Exit


def ravenlab(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Tune and study RAVEN-UCB, a bandit policy for rewards that change over time."""


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The commands, of which only those named in the arguments know their options.

    Working out the options of all of them takes as long as the rest of `ravenlab --help`, which shows none.

    >>> len(app_for(["--help"]).registered_commands) == len(COMMANDS)
    True
    """
    app = typer.Typer(
        name="ravenlab",
        cls=Group,
        help=ravenlab.__doc__,
        epilog=EPILOG,
        context_settings=NAMES,
        add_completion=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(ravenlab)
    typed = {*arguments, *(word for name in TYPED for word in os.environ.get(name, "").split())}
    for heading, commands in GROUPS.items():
        for name, command in commands.items():
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name, cls=Group, context_settings=NAMES, rich_help_panel=heading)
            else:
                known = command if name in typed else _in_name(command)
                app.command(name, cls=Command, context_settings=NAMES, rich_help_panel=heading)(known)
    return app


def _in_name(command: Callable[..., None]) -> Callable[[], None]:
    """A command that says what it is for and has no options."""

    def named() -> None:
        raise AssertionError("a command that was not named is not run")

    named.__doc__ = command.__doc__
    return named


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code; what went wrong is one line on stderr.

    >>> run(["list", "scenario"])
    2
    """
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    app = typer.main.get_command(app_for(arguments))
    try:
        code = app.main(arguments, prog_name="ravenlab", standalone_mode=False)
    except InputError as error:
        return _say(with_option(error, _named_command(app, arguments)), REFUSED)
    except typer.TyperException as error:
        return _say(in_words(error, [word for word in arguments if word in COMMANDS]), REFUSED)
    except ExternalError as error:
        return _say(str(error), FAULT)
    except MemoryError as error:
        return _say(f"out of memory: {error or 'ask for less at a time'}", FAULT)
    except SystemExit as end:  # what completes a shell's line ends so
        return end.code if isinstance(end.code, int) else DONE
    except (Interrupted, KeyboardInterrupt, typer.Abort) as stop:
        return _say(str(stop) if isinstance(stop, Interrupted) else str(Interrupted()), INTERRUPTED)
    except BrokenPipeError:
        return FAULT
    except OSError as error:
        return _say(f"{error.strerror or error}: {error.filename or 'no file named'}", FAULT)
    if code == INTERRUPTED:
        return _say(str(Interrupted()), INTERRUPTED)
    return code if isinstance(code, int) else DONE


def _named_command(app: Any, arguments: Sequence[str]) -> Any:
    """The command that the arguments name."""
    command = app
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    return command


def _say(message: str, code: int) -> int:
    """One line on stderr, whatever the message was: no password in it, nor more than anyone would read."""
    from studies.storage.urls import mask_passwords

    line = mask_passwords(" ".join(message.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    print(f"ravenlab: {line}", file=sys.stderr)
    return code


def main() -> None:
    """Entry point of the command `ravenlab`."""
    use_ascii_where_needed()
    if COMPLETION in os.environ:
        joined_by_bash()
    try:
        with handle_interrupts():
            code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _say(str(Interrupted()), INTERRUPTED)
    sys.exit(code)
