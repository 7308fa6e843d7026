"""Pareto fronts: settings of which none is beaten by another in every scenario, held to fresh worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from environments.streams import Stream
from environments.world import Floats
from studies.measure import parse_measure
from studies.robust import ResolvedRobustSpec
from studies.robust_recommendation import Front, Member, Tuned
from studies.space import to_params
from tuning.robust.evaluating import ManyWorlds
from tuning.robust.validating import described, measure_contenders, rivals_of
from tuning.validation import Candidate, candidate_of

if TYPE_CHECKING:
    import optuna

MOST_MEMBERS = 200
"""Of a larger front every so many-th, in the order of the first scenario's regret, is measured anew."""


def unbeaten(values: Floats) -> NDArray[np.bool_]:
    """Which rows of [C, S] no other row beats: as good everywhere and better somewhere.

    >>> unbeaten(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [3.0, 1.0]]))
    array([ True,  True, False,  True])
    """
    as_good = (values[:, None, :] <= values[None, :, :]).all(axis=-1)
    better = (values[:, None, :] < values[None, :, :]).any(axis=-1)
    return np.asarray(~(as_good & better).any(axis=0))


def find_front(spec: ResolvedRobustSpec, study: optuna.Study, worlds: ManyWorlds, tuned: Sequence[Tuned]) -> Front:
    """The search's front, the tuned ones and the defaults: selection worlds say who stays, report worlds measure."""
    base = spec.base
    rivals = rivals_of(base, tuned)
    named: dict[str, Candidate] = dict(rivals)
    numbers: dict[str, int] = {}
    for trial in _members(study):
        candidate = candidate_of(base, to_params(base, trial.params))
        first = next((name for name, other in named.items() if other.values == candidate.values), None)
        numbers[first or f"trial {trial.number}"] = trial.number
        if first is None:
            named[f"trial {trial.number}"] = candidate
    played = worlds.play([each.values for each in named.values()], Stream.SELECTION, 0, base.selection)
    kept = unbeaten(played.mean(axis=1))
    measured = measure_contenders(spec, worlds, parse_measure("worst"), named, tuned)
    members: list[Member] = []
    for each, stays in zip(measured, kept, strict=True):
        same = next((place for place, member in enumerate(members) if member.params == each.params), None)
        if same is None:
            members.append(Member(**each.model_dump(), trial=numbers.get(each.name), kept=bool(stays)))
        else:
            members[same] = members[same].model_copy(update={"name": f"{members[same].name}, {each.name}"})
    return Front(
        **described(spec, study, tuned),
        members=sorted(members, key=lambda each: (not each.kept, each.worlds[0].regret.mean, each.name)),
    )


def _members(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    mask = unbeaten(np.array([trial.values for trial in trials], dtype=np.float64))
    front = [trial for trial, stays in zip(trials, mask, strict=True) if stays]
    front.sort(key=lambda trial: (trial.values[0], trial.number))
    return front[:: -(-len(front) // MOST_MEMBERS)]
