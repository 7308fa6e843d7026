"""`ravenlab delete`: studies that are not wanted any more."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tuning.cli import completion
from tuning.cli.options import StorageOption


def delete(
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY",
            help="Whole names, or patterns such as 'raven-ucb/*'.",
            autocompletion=completion.studies,
            show_default=False,
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    storage: StorageOption = None,
) -> None:
    """Delete studies with all their trials.

    Asks first. A study that is being tuned is refused.

    Examples:
        # one study, without being asked
        ravenlab delete raven-ucb/blips/T1000/K10 --yes
        # all that begin so; they are named before you are asked
        ravenlab delete 'grid/*'
    """
    from environments.errors import InputError
    from environments.text import plural
    from studies.storage.database import use_storage
    from studies.storage.library import find_studies
    from studies.storage.lock import lock_studies
    from studies.storage.urls import storage_url
    from tuning.cli.output import say

    with use_storage(storage) as store:
        found = find_studies(store, studies, prefixes=False)
        if not yes:
            studies_found = plural(len(found), "study", "studies")
            if not sys.stdin.isatty():
                raise InputError(f"delete must be confirmed: say --yes to delete {studies_found}.")
            for each in found:
                say(f"  {each.study_name}")
            if not typer.confirm(f"Delete {studies_found} with all trials?", err=True):
                say("Nothing was deleted.")
                return
        with lock_studies(storage_url(storage), *(each.study_name for each in found)) as driven:
            for each in found:
                driven.delete_study(each._study_id)
                say(f"Deleted {each.study_name}.")
