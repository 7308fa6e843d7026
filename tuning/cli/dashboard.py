"""`ravenlab dashboard`: serve the Optuna dashboard, with notes and figures attached to studies."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ravenlab.common.errors import ExternalError, InputError
from ravenlab.studies.storage.urls import storage_url
from ravenlab.tuning.cli.options import AllOption, StorageOption, integer_option, option
from ravenlab.tuning.cli.output import print_message

if TYPE_CHECKING:
    from optuna.storages import RDBStorage


REFRESH_SECONDS = 5.0  # between searches for studies that have finished while the dashboard runs


def dashboard(
    storage: StorageOption = None,
    port: Annotated[int, integer_option("--port", "N", "Port; 0 selects a free one.")] = 8080,
    host: Annotated[str, option("--host", "Address to listen on.")] = "127.0.0.1",
    names: Annotated[
        list[str] | None,
        option(
            "--allow-host",
            "Host name to accept in requests, besides those of this machine; can be repeated.",
            metavar="NAME",
        ),
    ] = None,
    open_browser: Annotated[bool, option("--open", "Open the dashboard in a browser.")] = False,
    writable: Annotated[bool, option("--writable", "Allow the dashboard to change and delete studies.")] = False,
    show_all: AllOption = False,
) -> None:
    """Serve the Optuna dashboard with figures and notes.

    By default it is read-only and reachable from this machine only. Press Ctrl-C to stop it.

    Examples:
        # serve at http://127.0.0.1:8080 and open a browser
        ravenlab dashboard --open
        # serve another storage at a free port
        ravenlab dashboard --storage sqlite:///archive.sqlite3 --port 0
    """
    from ravenlab.dashboards.optuna_dashboard.server import describe_exposure, make_server
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.tuning.attachments import attach_to_studies

    url = storage_url(storage)
    with (
        use_storage(storage) as store,
        make_server(store, host, port, writable=writable, names=names or (), internal=show_all) as server,
    ):
        attached = read_results(store)
        attach_to_studies(url, internal=show_all)
        warning = describe_exposure(host, writable)
        if warning is not None:
            print_message(warning)
        typer.echo(f"{server.url} ({'writable' if writable else 'read-only'}; press Ctrl-C to stop)")
        typer.echo("The first figure of a study states the recommendation. The best trial is optimistically biased.")
        if open_browser:
            import webbrowser

            webbrowser.open(server.url)
        with attaching_new_results(url, store, attached):
            server.serve_forever()


Results = dict[str, list[Any]]  # attributes with results, by study


def read_results(storage: RDBStorage) -> Results:
    """Return the results of all studies that the dashboard shows."""
    from ravenlab.studies.kinds import KINDS
    from ravenlab.studies.storage import keys

    attributes = [*(kind.result_key for kind in KINDS), keys.FRONT]
    return {study.study_name: [study.user_attrs.get(key) for key in attributes] for study in storage.get_all_studies()}


@contextmanager
def attaching_new_results(url: str, storage: RDBStorage, attached: Results) -> Iterator[None]:
    """Attach notes and figures, in a thread, to studies that finish during a block.

    A new result is left alone until it is seen again: its driver may still hold the lock of the study.
    """
    from ravenlab.studies.storage.faults import translate_errors
    from ravenlab.tuning.attachments import attach_to_studies

    end = threading.Event()

    def watch() -> None:
        previous = attached
        while not end.wait(REFRESH_SECONDS):
            try:
                with translate_errors(url):
                    current = read_results(storage)
            except (ExternalError, InputError):  # requests of the browser show the same error
                continue
            for name, result in current.items():
                finished = any(value is not None for value in result)
                if finished and result == previous.get(name) != attached.get(name):
                    with suppress(ExternalError):  # deleted in the meantime
                        attach_to_studies(url, [name])
                    attached[name] = result
            previous = current

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join(timeout=REFRESH_SECONDS)
