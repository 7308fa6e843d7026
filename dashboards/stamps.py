"""What note and figures of a study were made from: a short hash that says when they are due again.

It is told from a study's attributes alone: trials take half a second a thousand to load.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dashboards.grid_marks import recommended_in
from environments.errors import InputError
from studies import keys
from studies.recommendation import Recommendation

if TYPE_CHECKING:
    import optuna


def digest(text: str) -> str:
    """Sixteen letters that stand for a text.

    >>> digest("a"), digest("a") == digest("b")
    ('ca978112ca1bbdca', False)
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def stamp_of(study: optuna.Study) -> str | None:
    """What note and figures of a finished study are to be made from; None while it is not finished."""
    attributes = study.user_attrs
    made_from = [keys.project_version(), *(attributes.get(key) for key in (keys.SPEC, keys.GRID))]
    several = attributes.get(keys.ROBUST_RECOMMENDATION) or attributes.get(keys.FRONT)
    if several is not None:
        made_from.append(several)
    elif attributes.get(keys.RECOMMENDATION) is not None:
        made_from.append(attributes[keys.RECOMMENDATION])
    elif attributes.get(keys.INDISTINGUISHABLE) is not None:
        spec = keys.read_grid_spec(study)
        found = None if spec is None else recommended_in(spec, recommended_beside(study))
        made_from += [attributes[keys.INDISTINGUISHABLE], None if found is None else found.as_object()]
    else:
        return None
    return digest(json.dumps(made_from, sort_keys=True))


def has_stamp(study: optuna.Study, stamp: str | None) -> bool:
    """Whether what is attached was made from just that."""
    system = study._storage.get_study_system_attrs(study._study_id)
    return stamp is not None and system.get(keys.ATTACHED) == stamp


def put_stamp(study: optuna.Study, stamp: str | None) -> None:
    """Say what was attached; an unfinished study gets no stamp."""
    if stamp is not None and not has_stamp(study, stamp):
        study._storage.set_study_system_attr(study._study_id, keys.ATTACHED, stamp)


def is_attached(study: optuna.Study) -> bool:
    """Whether a finished study has its note and figures, made from what it says now.

    >>> import optuna
    >>> is_attached(optuna.create_study(study_name="not ours"))
    False
    """
    return has_stamp(study, stamp_of(study))


def recommended_beside(study: optuna.Study) -> Iterator[Recommendation]:
    """All recommendations in the storage of a study, but for those that this version can't read."""
    for other in study._storage.get_all_studies():
        try:
            found = keys.read_recommendation(other)
        except InputError:
            continue
        if found is not None:
            yield found
