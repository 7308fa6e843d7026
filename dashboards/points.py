"""Trials as a picture of a search wants them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from studies.space import to_params, trial_name
from studies.spec import StudySpec

if TYPE_CHECKING:
    from dashboards.figures import HistoryPoint


def point_of(
    spec: StudySpec, number: int, value: float, state: str, stderr: float | None, given: Mapping[str, Any]
) -> HistoryPoint:
    """A trial with its parameters under their own names; one that lacks some is no trial of ours and stays as it is.

    >>> point_of(StudySpec(scenario="blips", policy="d-ucb", fixed={"xi": 1}), 0, 9.0, "COMPLETE", 0.5,
    ...          {"one_minus_gamma": 0.25}).params
    {'gamma': 0.75}
    """
    from dashboards.figures import HistoryPoint

    wanted = {trial_name(name, range_) for name, range_ in spec.resolved().space.items()}
    params = to_params(spec, given) if wanted <= given.keys() else dict(given)
    return HistoryPoint(number, value, stderr, state, params)
