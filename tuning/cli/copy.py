"""`ravenlab copy`: copy studies to another storage, or under another name."""

from typing import Annotated

from ravenlab.common.compat.optuna import study_id
from ravenlab.common.errors import InputError
from ravenlab.common.terminal import print_line
from ravenlab.common.text import plural
from ravenlab.studies.storage.urls import mask_url, storage_url
from ravenlab.tuning.cli.options import StorageOption, StudiesArgument, option

MAX_NAME = 400  # characters of a name, as in a study file


def copy(
    studies: StudiesArgument,
    to: Annotated[
        str,
        option(
            "--to",
            "Database to copy to. An SQLite file is created if it does not exist; a PostgreSQL database must exist.",
            metavar="URL",
        ),
    ],
    name: Annotated[str | None, option("--as", "New name; only for a single study.", metavar="NAME")] = None,
    skip_existing: Annotated[bool, option("--skip-existing", "Skip studies that exist in the target.")] = False,
    storage: StorageOption = None,
) -> None:
    """Copy studies to another storage, or under another name.

    Copies trials, attributes and recommendations. An existing study is not overwritten. A damaged study is left out,
    and the exit code is then 2.

    Examples:
        # all studies of a policy to an archive, which is created
        ravenlab copy 'raven-ucb/*' --to sqlite:///archive.sqlite3
        # all studies that are not in the archive yet
        ravenlab copy '*' --to sqlite:///archive.sqlite3 --skip-existing
        # one study under another name in the same storage
        ravenlab copy raven-ucb/blips/T1000/K10 --to sqlite:///studies.sqlite3 --as before
    """
    from ravenlab.studies.storage.copy import read_study_rows, write_study_rows
    from ravenlab.studies.storage.database import use_storage
    from ravenlab.studies.storage.faults import translate_errors
    from ravenlab.studies.storage.library import find_studies
    from ravenlab.studies.storage.lock import lock_studies

    if name is not None and (not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip()):
        raise InputError(
            f"--as must be 1 to {MAX_NAME} printable characters without surrounding spaces but got {name[:50]!r}."
        )
    url = storage_url(storage)
    with use_storage(storage) as source:
        selected = find_studies(source, studies, internal=True)
        if name is not None and len(selected) > 1:
            raise InputError(f"--as names a single study but {len(selected)} studies match.")
        new_names = {study.study_name: name or study.study_name for study in selected}
        with lock_studies(url, *new_names):
            with use_storage(to, create=True) as target:
                existing = {study.study_name for study in target.get_all_studies()}.intersection(new_names.values())
            if existing and not skip_existing:
                raise InputError(_describe_existing(existing, len(new_names), mask_url(to)))
            for taken in sorted(existing):
                print_line(f"Skipped {taken}: it already exists in {mask_url(to)}.")
            missing = [study for study in selected if new_names[study.study_name] not in existing]
            with lock_studies(to, *(new_names[study.study_name] for study in missing)) as target:
                damaged: list[InputError] = []
                for study in missing:
                    try:
                        with translate_errors(url):
                            rows = read_study_rows(source, study_id(study))
                    except InputError as error:
                        damaged.append(error)
                        continue
                    count = write_study_rows(rows, target, new_names[study.study_name])
                    print_line(f"Copied {study.study_name} to {mask_url(to)}: {plural(count, 'trial')}.")
            if damaged:
                others = (
                    f" {plural(len(damaged) - 1, 'further study', 'further studies')} not copied."
                    if damaged[1:]
                    else ""
                )
                raise InputError(f"{damaged[0]}{others}")


def _describe_existing(existing: set[str], selected: int, target: str) -> str:
    if selected == 1:
        return f"study {min(existing)!r} already exists in {target}."
    verb = "exists" if len(existing) == 1 else "exist"
    return (
        f"{len(existing):,} of {selected:,} studies already {verb} in {target}, such as {min(existing)!r}; "
        "pass --skip-existing to copy the others."
    )
