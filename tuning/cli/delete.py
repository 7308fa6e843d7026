"""`ravenlab delete`: delete studies with their trials."""

import sys
from typing import Annotated

import typer

from ravenlab.common.compat.optuna import study_id
from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_line
from ravenlab.common.text import plural
from ravenlab.studies.storage.urls import storage_url
from ravenlab.tuning.cli import completion
from ravenlab.tuning.cli.options import StorageOption, argument, option


def delete(
    studies: Annotated[
        list[str],
        argument("STUDY", "Full names, or patterns such as 'raven-ucb/*'.", complete=completion.studies),
    ],
    yes: Annotated[bool, option("--yes", "Delete without confirmation.")] = False,
    storage: StorageOption = None,
) -> None:
    """Delete studies with all their trials.

    Lists the studies and asks for confirmation. A study that is being run can't be deleted.

    Examples:
        # one study, without confirmation
        ravenlab delete raven-ucb/blips/T1000/K10 --yes
        # all grids, after confirmation
        ravenlab delete 'grid/*'
    """
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.library import find_studies
    from ravenlab.studies.storage.lock import lock_studies

    with use_storage(storage) as store:
        selected = find_studies(store, studies, prefixes=False, internal=True)
        if not yes:
            count = plural(len(selected), "study", "studies")
            if not sys.stdin.isatty():
                raise InputError(f"delete needs confirmation; pass --yes to delete {count}.")
            for study in selected:
                print_line(f"  {study.study_name}")
            if not typer.confirm(f"Delete {count} with all trials?", err=True):
                print_line("Nothing was deleted.")
                return
        with lock_studies(storage_url(storage), *(study.study_name for study in selected)) as locked:
            for study in selected:
                locked.delete_study(study_id(study))
                print_line(f"Deleted {study.study_name}.")
