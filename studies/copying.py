"""A study as a whole into another storage or under another name.

Trials go first and the attributes last, the specification at the very end: a copy that was cut off is
not taken for a study that can be gone on with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from environments.errors import InputError
from studies.keys import COMPARISON, FRONT, GRID, RECOMMENDATION, ROBUST, ROBUST_RECOMMENDATION, SPEC

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study._frozen import FrozenStudy
    from optuna.trial import FrozenTrial

OF_A_TRIAL = re.compile(r"dashboard:(\d+):(.+)", re.DOTALL)
"""Optuna's dashboard keeps a trial's note with the study, by the trial's id, which is another one in the copy."""


def copy_study(study: FrozenStudy, trials: Sequence[FrozenTrial], target: RDBStorage, name: str) -> None:
    """Copy one study with its trials in their order. On an error nothing of it stays behind."""
    import optuna

    try:
        there = target.create_new_study(study.directions, study_name=name)
    except optuna.exceptions.DuplicatedStudyError:
        raise InputError(f"study {name!r} exists in the target already; delete it there or say --as NAME.") from None
    try:
        ids = {trial._trial_id: target.create_new_trial(there, template_trial=trial) for trial in trials}
        for key, value in study.system_attrs.items():
            target.set_study_system_attr(there, _moved_key(key, ids), value)
        specs = (SPEC, GRID, COMPARISON, ROBUST)
        for key, value in sorted(_renamed(study, name).items(), key=lambda item: item[0] in specs):
            target.set_study_user_attr(there, key, value)
    except BaseException:
        target.delete_study(there)
        raise


def _moved_key(key: str, ids: dict[int, int]) -> str:
    found = OF_A_TRIAL.fullmatch(key)
    if found is None or int(found[1]) not in ids:
        return key
    return f"dashboard:{ids[int(found[1])]}:{found[2]}"


def _renamed(study: FrozenStudy, name: str) -> dict[str, Any]:
    """The user attributes; under a new name, ours say that name."""
    attributes = dict(study.user_attrs)
    if name == study.study_name:
        return attributes
    found = ((key, "study") for key in (RECOMMENDATION, ROBUST_RECOMMENDATION, FRONT))
    for key, field in (*((key, "name") for key in (SPEC, GRID, COMPARISON)), *found):
        if isinstance(attributes.get(key), dict):
            attributes[key] = {**attributes[key], field: name}
    if isinstance(attributes.get(ROBUST), dict):
        attributes[ROBUST] = {**attributes[ROBUST], "base": {**attributes[ROBUST]["base"], "name": name}}
    return attributes
