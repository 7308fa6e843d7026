"""`ravenlab copy`: studies into another storage, or under another name."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from tuning.commands.stored import StorageOption, opened

LONGEST = 400
"""Letters of a name, as in a study file."""


def copy(
    studies: Annotated[list[str], typer.Argument(metavar="STUDY...", help="Names, beginnings or patterns.")],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="Where to.", show_default=False)],
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Under another name; one study.", show_default=False)
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Copy studies whole: trials, attributes and recommendations. A name that exists there is refused.

    Example: `ravenlab copy 'raven-ucb/*' --to sqlite:///archive.sqlite3`
    """
    from environments.errors import InputError
    from studies.copying import copy_study
    from studies.library import find_studies
    from studies.storage import clear_faults, only_driver, shown, storage_url
    from tuning.commands.tables import say

    if name is not None and (not 1 <= len(name) <= LONGEST or not name.isprintable() or name != name.strip()):
        raise InputError(f"--as must be 1 to {LONGEST} printable letters without space around but got {name[:50]!r}.")
    url = storage_url(storage)
    with opened(storage) as source, ExitStack() as stack:
        found = find_studies(source, studies)
        if name is not None and len(found) > 1:
            raise InputError(f"--as names one study, but {len(found)} are to be copied.")
        for each in found:
            stack.enter_context(only_driver(url, each.study_name))
        target = stack.enter_context(opened(to, create=True))
        taken = {each.study_name for each in target.get_all_studies()}
        for each in found:
            if (name or each.study_name) in taken:
                raise InputError(f"study {name or each.study_name!r} exists in {shown(to)} already.")
        for each in found:
            stack.enter_context(only_driver(to, name or each.study_name))
        for each in found:
            with clear_faults(url):
                trials = source.get_all_trials(each._study_id, deepcopy=False)
            copy_study(each, trials, target, name or each.study_name)
            say(f"Copied {each.study_name} to {shown(to)}: {len(trials)} trials.")
