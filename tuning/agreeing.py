"""Going on with a study that is there already: what was stored must agree with what is asked for now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from environments.errors import InputError
from studies.spec import BUDGET, StudySpec
from studies.storage import holds

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage

Direction = Literal["minimize", "maximize"]

VALIDATED = ("candidates", "selection", "report")
"""Budgets that a recommendation hangs on, but no trial."""


def open_study(
    storage: RDBStorage, name: str, directions: Sequence[Direction], sign: Callable[[optuna.Study], None]
) -> optuna.Study:
    """The study of a name; where there is none, a new one that `sign` writes its specification to.

    A kill between the two leaves one without, which whoever goes on signs then.
    """
    import optuna

    if holds(storage, name):
        return optuna.load_study(storage=storage, study_name=name)
    study = optuna.create_study(storage=storage, study_name=name, directions=list(directions))
    sign(study)
    return study


def refuse_differences(what: str, parts: str, differences: Sequence[str]) -> None:
    """Raise InputError where specifications differ in what would mix parts that can't be compared.

    >>> refuse_differences("grid 'mine'", "cells", ["seed 1 instead of 0"])
    Traceback (most recent call last):
    ...
    environments.errors.InputError: grid 'mine' is there already and its cells would not be comparable: seed 1 instead \
of 0. Give another --name, or delete it.
    """
    if differences:
        raise InputError(
            f"{what} is there already and its {parts} would not be comparable: "
            f"{'; '.join(differences)}. Give another --name, or delete it."
        )


def take_budget(
    asked: StudySpec, stored: StudySpec, landed: int, forget: Callable[[], None], write: Callable[[], None]
) -> None:
    """Write a budget that is not the stored one; forget what was recommended if it could come out otherwise."""
    if _differ(asked, stored, BUDGET):
        if _differ(asked, stored, VALIDATED) or asked.trials > landed:
            forget()
        write()


def _differ(asked: StudySpec, stored: StudySpec, fields: Sequence[str]) -> bool:
    return any(getattr(asked, field) != getattr(stored, field) for field in fields)
