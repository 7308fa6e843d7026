"""Attaching notes and figures for the Optuna dashboard to stored studies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ravenlab.common.errors import ExternalError, InputError
from ravenlab.common.text import escape_unprintable
from ravenlab.studies.kinds import find_kind
from ravenlab.studies.storage.faults import StorageReplaced, StorageUnreachable, reading_study
from ravenlab.studies.storage.library import select_studies
from ravenlab.studies.storage.lock import log, run_as_driver

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage


def attach_to_studies(
    url: str, names: Sequence[str] | None = None, internal: bool = False, figures: bool = True
) -> None:
    """Attach missing notes and figures to the named studies, or to all; failures are warnings.

    Without `internal`, searches of comparisons are skipped. Without `figures`, only notes are attached: drawing the
    figures of a study takes about a second, and only the dashboard shows them.

    A study that another process is running is skipped.

    Raises:
        StorageReplaced: The storage does not hold the named studies, which have just been stored.
    """
    import optuna

    from ravenlab.dashboards.optuna_dashboard.attach import attach

    opened = False

    def find_incomplete(storage: RDBStorage) -> list[str]:
        nonlocal opened
        opened = True
        studies = select_studies(storage, None, internal or names is not None)
        ours = {study.study_name for study in studies if find_kind(study) is not None}
        if not ours.issuperset(names or ()):
            raise StorageReplaced(url)
        selected = sorted(ours if names is None else names)
        return [name for name in selected if _is_incomplete(optuna.load_study(study_name=name, storage=storage))]

    def attach_missing(storage: RDBStorage, name: str) -> int:
        study = optuna.load_study(study_name=name, storage=storage)
        with reading_study(name):
            return attach(study, missing=True, figures=figures)

    reported = set()
    try:
        incomplete = run_as_driver(url, None, find_incomplete)
    except StorageReplaced:
        raise
    except (InputError, ExternalError) as error:
        lost = isinstance(error, InputError) and not isinstance(error, StorageUnreachable)
        if names is not None and lost and not opened:
            raise StorageReplaced(url) from None  # the file is missing or unreadable
        _report_failure(error)
        return
    for name in incomplete:
        try:
            run_as_driver(url, name, partial(attach_missing, name=name))
        except StorageReplaced:
            raise
        except (InputError, ExternalError) as error:
            if str(error) not in reported:  # a read-only storage fails in the same way for all studies
                _report_failure(error)
            reported.add(str(error))
        except KeyError:  # deleted in the meantime
            continue


def _is_incomplete(study: optuna.Study) -> bool:
    """Return whether something is to be attached; true for an unreadable study, whose error attaching reports."""
    from ravenlab.dashboards.optuna_dashboard.attach import is_attached

    try:
        with reading_study(study.study_name):
            return not is_attached(study)
    except InputError:
        return True


def _report_failure(error: Exception) -> None:
    message = escape_unprintable(" ".join(str(error).split()))
    log.warning("ravenlab: could not attach notes and figures for the dashboard: %s", message)
