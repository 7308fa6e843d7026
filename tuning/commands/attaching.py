"""Note and figures into studies that are there: after a run, and before the dashboard is served."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from optuna.storages import RDBStorage


def attach_to(url: str, names: Sequence[str] | None = None) -> None:
    """Attach to the named studies, or to all of ours. What stands in the way is a line on stderr, never the end.

    A study that another process writes is left to it: it attaches when it is done.
    """
    from environments.errors import Fault, InputError
    from studies import keys
    from studies.driver import driving
    from studies.faults import clear_faults
    from studies.storage import open_storage

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

    from dashboards.attach import attach, is_attached

    def attach_here(storage: RDBStorage, name: str) -> int:
        return attach(optuna.load_study(study_name=name, storage=storage), missing=True)

    try:
        for name in sorted(ours):
            try:
                with clear_faults(url):
                    if is_attached(optuna.load_study(study_name=name, storage=storage)):
                        continue
                driving(url, name, partial(attach_here, name=name))
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
