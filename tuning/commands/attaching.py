"""Note and figures into studies that are there: after a run, and before the dashboard is served."""

from __future__ import annotations

from collections.abc import Sequence

import typer


def attach_to(url: str, names: Sequence[str] | None = None) -> None:
    """Attach to the named studies, or to all of ours. What stands in the way is a line on stderr, never the end.

    A study that another process writes is left to it: it attaches when it is done.
    """
    from environments.errors import Fault, InputError
    from studies import keys
    from studies.storage import clear_faults, only_driver, open_storage

    said = set()
    try:
        storage = open_storage(url, create=False)
        with clear_faults(url):
            ours = [
                study.study_name
                for study in storage.get_all_studies()
                if {keys.SPEC, keys.GRID, keys.ROBUST} & study.user_attrs.keys()
                and (names is None or study.study_name in names)
            ]
    except (InputError, Fault) as error:
        _say(error)
        return
    import optuna

    from dashboards.attach import attach

    try:
        for name in sorted(ours):
            try:
                with only_driver(url, name), clear_faults(url):
                    attach(optuna.load_study(study_name=name, storage=storage), missing=True)
            except (InputError, Fault) as error:
                if str(error) not in said:  # a storage that can't be written says so once
                    _say(error)
                said.add(str(error))
            except KeyError:  # deleted meanwhile
                continue
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _say(error: Exception) -> None:
    line = " ".join(str(error).split())
    typer.echo(f"ravenlab: note and figures for the dashboard were not attached: {line}", err=True)
