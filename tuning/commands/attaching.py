"""Note and figures into studies that are there: after a run, and before the dashboard is served."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


def attach_to(url: str, names: Sequence[str] | None = None) -> None:
    """Attach to the named studies, or to all of ours. What stands in the way is a line on stderr, never the end.

    A study that another process writes is left to it: it attaches when it is done.
    """
    import optuna

    from dashboards.attach import attach
    from environments.errors import Fault, InputError
    from studies.driver import driving
    from studies.keys import GRID, ROBUST, SPEC

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
        wanted = driving(url, None, wanting)
    except (InputError, Fault) as error:
        _say(error)
        return
    for name in wanted:
        try:
            driving(url, name, partial(attach_here, name=name))
        except (InputError, Fault) as error:
            if str(error) not in said:  # a storage that can't be written says so once
                _say(error)
            said.add(str(error))
        except KeyError:  # deleted meanwhile
            continue


def _lacks(study: optuna.Study) -> bool:
    """Whether there is something to attach; of a study that can't be read that is said when it is tried."""
    from dashboards.stamps import is_attached
    from environments.errors import InputError

    try:
        return not is_attached(study)
    except InputError:
        return True


def _say(error: Exception) -> None:
    line = " ".join(str(error).split())
    typer.echo(f"ravenlab: note and figures for the dashboard were not attached: {line}", err=True)
