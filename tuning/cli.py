"""The command line. Exit codes: 0 done, 1 a fault, 2 bad input or refused, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from environments.errors import Fault, InputError
from tuning.commands import (
    compare,
    copying,
    dashboard,
    deleting,
    diagnosing,
    doctor,
    exporting,
    grid,
    init,
    listing,
    recommending,
    report,
    reproduce,
    showing,
    simulation,
    studies,
    tune,
    validate,
)
from tuning.interrupts import interruptible

DONE, FAULT, REFUSED, INTERRUPTED = 0, 1, 2, 130

COMMANDS: dict[str, Callable[..., None]] = {
    "tune": tune.tune,
    "grid": grid.grid,
    "compare": compare.compare,
    "diagnose": diagnosing.diagnose,
    "simulate": simulation.simulate,
    "init": init.init,
    "validate": validate.validate,
    "recommend": recommending.recommend,
    "export": exporting.export,
    "report": report.report,
    "reproduce": reproduce.reproduce,
    "studies": studies.studies,
    "show": showing.show,
    "copy": copying.copy,
    "delete": deleting.delete,
    "dashboard": dashboard.dashboard,
    "doctor": doctor.doctor,
}

LONGEST = 2000
"""Letters of a line on stderr."""

COMPLETION = "_RAVENLAB_COMPLETE"
"""Set by the shell where it asks what could be typed next."""


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
        help=ravenlab.__doc__,
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(ravenlab)
    for name, command in COMMANDS.items():
        app.command(name)(command if name in arguments or COMPLETION in os.environ else _in_name(command))
        if name == "validate":
            app.add_typer(listing.app, name="list")
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
    try:
        code = typer.main.get_command(app_for(arguments)).main(arguments, prog_name="ravenlab", standalone_mode=False)
    except InputError as error:
        return _say(str(error), REFUSED)
    except typer.TyperException as error:
        message = getattr(error, "format_message", error.__str__)()
        return _say(message or "see ravenlab --help.", REFUSED)
    except Fault as error:
        return _say(str(error), FAULT)
    except MemoryError as error:
        return _say(f"out of memory: {error or 'ask for less at a time'}", FAULT)
    except SystemExit as end:  # what completes a shell's line ends so
        return end.code if isinstance(end.code, int) else DONE
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted.", INTERRUPTED)
    except BrokenPipeError:
        return FAULT
    except OSError as error:
        return _say(f"{error.strerror or error}: {error.filename or 'no file named'}", FAULT)
    if code == INTERRUPTED:
        return _say("interrupted.", INTERRUPTED)
    return code if isinstance(code, int) else DONE


def _say(message: str, code: int) -> int:
    """One line on stderr, whatever the message was: no password in it, nor more than anyone would read."""
    from studies.urls import without_passwords

    line = without_passwords(" ".join(message.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    print(f"ravenlab: {line}", file=sys.stderr)
    return code


def main() -> None:
    """Entry point of the command `ravenlab`."""
    try:
        with interruptible():
            code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
