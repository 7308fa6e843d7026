"""The command line. Exit codes: 0 done, 1 a fault, 2 bad input or refused, 130 interrupted."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from environments.errors import Fault, InputError
from tuning.commands import (
    compare,
    copying,
    dashboard,
    deleting,
    diagnosing,
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

app = typer.Typer(
    name="ravenlab",
    help="Tune and study RAVEN-UCB, a bandit policy for rewards that change over time.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("tune")(tune.tune)
app.command("grid")(grid.grid)
app.command("compare")(compare.compare)
app.command("diagnose")(diagnosing.diagnose)
app.command("simulate")(simulation.simulate)
app.command("init")(init.init)
app.command("validate")(validate.validate)
app.add_typer(listing.app, name="list")
app.command("recommend")(recommending.recommend)
app.command("export")(exporting.export)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("studies")(studies.studies)
app.command("show")(showing.show)
app.command("copy")(copying.copy)
app.command("delete")(deleting.delete)
app.command("dashboard")(dashboard.dashboard)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ravenlab {version('ravenlab')}")
        raise typer.Exit


@app.callback()
def ravenlab(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Tune and study RAVEN-UCB, a bandit policy for rewards that change over time."""


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code; what went wrong is one line on stderr.

    >>> run(["list", "scenario"])
    2
    """
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="ravenlab", standalone_mode=False)
    except InputError as error:
        return _say(str(error), REFUSED)
    except typer.TyperException as error:
        message = getattr(error, "format_message", error.__str__)()
        return _say(message or "see ravenlab --help.", REFUSED)
    except Fault as error:
        return _say(str(error), FAULT)
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
    """One line on stderr, whatever the message was."""
    print(f"ravenlab: {' '.join(message.split())}", file=sys.stderr)
    return code


def main() -> None:
    """Entry point of the command `ravenlab`."""
    try:
        with interruptible():
            code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
