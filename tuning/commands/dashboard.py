"""`ravenlab dashboard`: look at the studies in Optuna's dashboard."""

from __future__ import annotations

from typing import Annotated

import typer

from tuning.commands.options import StorageOption


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
    from dashboards.server import exposure, make_server
    from studies.storage import opened
    from studies.urls import storage_url
    from tuning.commands.attaching import attach_to
    from tuning.commands.words import whole_number

    number = whole_number("--port", port)
    with opened(storage) as there, make_server(there, host, number, writable=writable, names=names or ()) as server:
        attach_to(storage_url(storage))
        danger = exposure(host, writable)
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
