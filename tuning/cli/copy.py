"""`ravenlab copy`: copy studies to another storage, or under another name."""

from __future__ import annotations

from typing import Annotated

from tuning.cli.options import StorageOption, StudiesArgument, option

MAX_NAME = 400  # characters of a name, as in a study file


def copy(
    studies: StudiesArgument,
    to: Annotated[str, option("--to", "Database to copy to; created if it does not exist.", metavar="URL")],
    name: Annotated[str | None, option("--as", "New name; only for a single study.", metavar="NAME")] = None,
    storage: StorageOption = None,
) -> None:
    """Copy studies to another storage, or under another name.

    Copies trials, attributes and recommendations. An existing study is not overwritten.

    Examples:
        # all studies of a policy to an archive, which is created
        ravenlab copy 'raven-ucb/*' --to sqlite:///archive.sqlite3
        # one study under another name in the same storage
        ravenlab copy raven-ucb/blips/T1000/K10 --to sqlite:///studies.sqlite3 --as before
    """
    from environments.errors import InputError
    from environments.text import plural
    from studies.storage.copy import read_study_rows, write_study_rows
    from studies.storage.database import use_storage
    from studies.storage.faults import translate_errors
    from studies.storage.library import find_studies
    from studies.storage.lock import lock_studies
    from studies.storage.urls import mask_url, storage_url
    from tuning.cli.output import print_line

    if name is not None and (not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip()):
        raise InputError(
            f"--as must be 1 to {MAX_NAME} printable characters without surrounding spaces but got {name[:50]!r}."
        )
    url = storage_url(storage)
    with use_storage(storage) as source:
        selected = find_studies(source, studies)
        if name is not None and len(selected) > 1:
            raise InputError(f"--as names a single study but {len(selected)} studies match.")
        names = [study.study_name for study in selected]
        new_names = names if name is None else [name]
        with lock_studies(url, *names):
            with use_storage(to, create=True) as target:
                taken = {study.study_name for study in target.get_all_studies()}.intersection(new_names)
            if taken:
                raise InputError(f"study {min(taken)!r} already exists in {mask_url(to)}.")
            with lock_studies(to, *new_names) as target:
                for study, new_name in zip(selected, new_names, strict=True):
                    with translate_errors(url):
                        rows = read_study_rows(source, study._study_id)
                    count = write_study_rows(rows, target, new_name)
                    print_line(f"Copied {study.study_name} to {mask_url(to)}: {plural(count, 'trial')}.")
