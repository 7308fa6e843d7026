"""What a search in the same world recommends, to be marked in the heat map of a grid."""

from __future__ import annotations

from collections.abc import Iterable

from studies.grid import POLICY, GridSpec
from studies.recommendation import Recommendation


def recommended_in(grid: GridSpec, found: Iterable[Recommendation]) -> Recommendation | None:
    """The recommendation for the world of a grid, by mean regret as a grid measures it; the first by name if several.

    >>> recommended_in(GridSpec(scenario="blips"), []) is None
    True
    """
    spec = grid.resolved()
    wanted = (POLICY, spec.scenario, dict(spec.settings), spec.horizon, spec.arms, "mean")
    fitting = [
        each
        for each in found
        if (each.policy, each.scenario, dict(each.settings), each.horizon, each.arms, each.objective) == wanted
    ]
    return min(fitting, key=lambda each: each.study, default=None)
