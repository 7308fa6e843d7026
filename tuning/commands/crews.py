"""`--jobs`, `--backend` and `--cluster`: who does the work, the same words for every command that has some."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuning.crew import Crew


def hire(jobs: str | None, backend: str, cluster: str | None) -> AbstractContextManager[Crew]:
    """The crew that the options ask for; everything wrong with them is said at once, before anything is begun."""
    from environments.errors import InputError
    from environments.text import join_words
    from tuning.commands.words import workers
    from tuning.crew import BACKENDS, DEFAULT_BACKEND, hired

    if backend not in BACKENDS:
        raise InputError(f"--backend must be {join_words(list(BACKENDS))} but got {backend!r}.")
    if cluster is not None:
        from tuning.connecting import check_address

        check_address(cluster)
        if backend != DEFAULT_BACKEND:
            raise InputError("--backend is for this machine's workers, so it can't be given beside --cluster.")
        if jobs is not None and cluster != "local":
            raise InputError("--jobs is for this machine's workers; those of a cluster are all used.")
    return hired(workers(jobs), backend, cluster)
