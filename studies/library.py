"""What is stored, found again: studies by name, and all recommendations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from environments.errors import InputError, did_you_mean
from studies.keys import ROBUST, SPEC, read_recommendation, read_robust
from studies.recommendation import Recommendation
from studies.robust_recommendation import Front, RobustRecommendation

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy

SHOWN = 5
"""How many names an error lists."""


def find_studies(storage: RDBStorage, names: Sequence[str], *, prefixes: bool = True) -> list[FrozenStudy]:
    """Studies by exact name, by pattern ('raven-ucb/*'), or by the beginning of one name alone; by name, each once.

    Without `prefixes` a beginning is not enough.

    >>> import optuna
    >>> storage = optuna.storages.RDBStorage("sqlite:///:memory:")
    >>> study = optuna.create_study(study_name="raven-ucb/blips", storage=storage)
    >>> [study.study_name for study in find_studies(storage, ["raven"])]
    ['raven-ucb/blips']
    """
    known = {study.study_name: study for study in storage.get_all_studies()}
    found = {name for wanted in names for name in _matches(wanted, sorted(known), prefixes)}
    return [known[name] for name in sorted(found)]


def _matches(wanted: str, known: list[str], prefixes: bool) -> list[str]:
    if wanted in known:
        return [wanted]
    if any(sign in wanted for sign in "*?["):
        fitting = [name for name in known if fnmatchcase(name, wanted)]
        if fitting:
            return fitting
    elif prefixes and wanted:
        fitting = [name for name in known if name.startswith(wanted)]
        whole_parts = [name for name in fitting if name.startswith(f"{wanted}/")]
        for few in (fitting, whole_parts):
            if len(few) == 1:
                return few
        if fitting:
            hint = f"say {wanted + '*'!r} for all"
            raise InputError(f"study {wanted!r} fits {len(fitting)} studies: {_some(fitting)}; {hint}.")
    raise InputError(f"unknown study {wanted!r}{did_you_mean(wanted, known)} Stored: {_some(known) or 'none'}.")


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def recommendations(storage: RDBStorage, names: Sequence[str] | None = None) -> list[Recommendation]:
    """What the named studies recommend, or all of ours, in an order that depends on nothing else."""
    return split_by_recommendation(storage, names)[0]


def split_by_recommendation(
    storage: RDBStorage, names: Sequence[str] | None = None
) -> tuple[list[Recommendation], list[str]]:
    """What the named studies (or all of ours) recommend, and the names of those that recommend nothing yet."""
    if names is None:
        studies = [study for study in storage.get_all_studies() if study.user_attrs.get(SPEC) is not None]
    else:
        studies = find_studies(storage, names)
    found, without = [], []
    for study in studies:
        each = read_recommendation(study)
        if each is None:
            without.append(study.study_name)
        else:
            found.append(each)
    found.sort(key=lambda each: (each.policy, each.scenario, each.arms, each.horizon, each.study))
    return found, sorted(without)


def robust_findings(storage: RDBStorage, names: Sequence[str] | None = None) -> list[RobustRecommendation | Front]:
    """What searches over several scenarios found, among the named studies or all, by name."""
    studies = storage.get_all_studies() if names is None else find_studies(storage, names)
    found = [read_robust(study) for study in studies if ROBUST in study.user_attrs]
    return sorted((each for each in found if each is not None), key=lambda each: each.study)
