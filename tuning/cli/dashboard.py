"""Note and figures into studies that are there: after a run, and before the dashboard is served."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from tuning.cli.options import StorageOption

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


def attach_to(url: str, names: Sequence[str] | None = None) -> None:
    """Attach to the named studies, or to all of ours. What stands in the way is a line on stderr, never the end.

    A study that another process writes is left to it: it attaches when it is done.
    """
    import optuna

    from dashboards.optuna_dashboard.attach import attach
    from environments.errors import ExternalError, InputError
    from studies.storage.keys import GRID, ROBUST, SPEC
    from studies.storage.lock import run_as_driver

    def wanting(storage: RDBStorage) -> list[str]:
        there = [
            study.study_name for study in storage.get_all_studies() if {SPEC, GRID, ROBUST} & study.user_attrs.keys()
        ]
        asked = sorted(there if names is None else set(there).intersection(names))
        return [name for name in asked if _lacks(optuna.load_study(study_name=name, storage=storage))]

    def attach_here(storage: RDBStorage, name: str) -> int:
        return attach(optuna.load_study(study_name=name, storage=storage), missing=True)

    said = set()
    try:
        wanted = run_as_driver(url, None, wanting)
    except (InputError, ExternalError) as error:
        _say(error)
        return
    for name in wanted:
        try:
            run_as_driver(url, name, partial(attach_here, name=name))
        except (InputError, ExternalError) as error:
            if str(error) not in said:  # a storage that can't be written says so once
                _say(error)
            said.add(str(error))
        except KeyError:  # deleted meanwhile
            continue


def _lacks(study: optuna.Study) -> bool:
    """Whether there is something to attach; of a study that can't be read that is said when it is tried."""
    from dashboards.optuna_dashboard.attach import is_attached
    from environments.errors import InputError

    try:
        return not is_attached(study)
    except InputError:
        return True


def _say(error: Exception) -> None:
    line = " ".join(str(error).split())
    typer.echo(f"ravenlab: note and figures for the dashboard were not attached: {line}", err=True)


def dashboard(
    storage: StorageOption = None,
    port: Annotated[str, typer.Option(metavar="N", help="Port that it listens at; 0 takes a free one.")] = "8080",
    host: Annotated[str, typer.Option(help="An address of this machine; others than this one reach it.")] = "127.0.0.1",
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name that it may be asked by, besides those of this machine; may be given again.",
            show_default=False,
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    writable: Annotated[bool, typer.Option("--writable", help="Let its pages change and delete studies.")] = False,
) -> None:
    """Serve Optuna's dashboard with our figures and notes.

    To this machine alone and read-only, unless told otherwise. Ctrl-C ends it.

    Examples:
        # serve it at http://127.0.0.1:8080 and open it
        ravenlab dashboard --open
        # serve another storage at a free port
        ravenlab dashboard --storage sqlite:///archive.sqlite3 --port 0
    """
    from dashboards.optuna_dashboard.server import describe_exposure, make_server
    from studies.storage.database import use_storage
    from studies.storage.urls import storage_url
    from tuning.cli.options import whole_number

    number = whole_number("--port", port)
    with (
        use_storage(storage) as there,
        make_server(there, host, number, writable=writable, names=names or ()) as server,
    ):
        attach_to(storage_url(storage))
        danger = describe_exposure(host, writable)
        if danger is not None:
            typer.echo(danger, err=True)
        typer.echo(f"{server.url} ({'writable' if writable else 'read-only'}; Ctrl-C ends it)")
        typer.echo(
            "What to use stands in the note of a study, behind the last icon on its left;"
            " its best trial is only what the search saw."
        )
        if open_browser:
            import webbrowser

            webbrowser.open(server.url)
        server.serve_forever()
