"""`ravenlab copy`: studies into another storage, or under another name."""

from __future__ import annotations

from typing import Annotated

import typer

from tuning.cli.options import StorageOption, StudiesArgument

LONGEST = 400
"""Letters of a name, as in a study file."""


def copy(
    studies: StudiesArgument,
    to: Annotated[str, typer.Option("--to", metavar="URL", help="Where to.", show_default=False)],
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Under another name; one study.", show_default=False)
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Copy studies whole into another storage, or under another name.

    Trials, attributes and recommendations go along. A name that exists there is refused.

    Examples:
        # all studies of a policy into an archive, which is made
        ravenlab copy 'raven-ucb/*' --to sqlite:///archive.sqlite3
        # one study under another name in the same storage
        ravenlab copy raven-ucb/blips/T1000/K10 --to sqlite:///studies.sqlite3 --as before
    """
    from environments.errors import InputError
    from studies.storage.copy import read_study_rows, write_study_rows
    from studies.storage.database import use_storage
    from studies.storage.faults import translate_errors
    from studies.storage.library import find_studies
    from studies.storage.lock import lock_studies
    from studies.storage.urls import mask_url, storage_url
    from tuning.cli.output import say

    if name is not None and (not 1 <= len(name) <= LONGEST or not name.isprintable() or name != name.strip()):
        raise InputError(f"--as must be 1 to {LONGEST} printable letters without space around but got {name[:50]!r}.")
    url = storage_url(storage)
    with use_storage(storage) as source:
        found = find_studies(source, studies)
        if name is not None and len(found) > 1:
            raise InputError(f"--as names one study, but {len(found)} are to be copied.")
        names = [each.study_name for each in found]
        there = names if name is None else [name]
        with lock_studies(url, *names):
            with use_storage(to, create=True) as target:
                taken = {each.study_name for each in target.get_all_studies()}.intersection(there)
            if taken:
                raise InputError(f"study {min(taken)!r} exists in {mask_url(to)} already.")
            with lock_studies(to, *there) as target:
                for each, under in zip(found, there, strict=True):
                    with translate_errors(url):
                        rows = read_study_rows(source, each._study_id)
                    count = write_study_rows(rows, target, under)
                    say(f"Copied {each.study_name} to {mask_url(to)}: {count} trials.")
