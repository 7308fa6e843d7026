"""Rules for what is read off grids: best cells, the regret printed for them, and what other cells cost.

A set of values "among the best" holds those of the cells that can't be told from the lowest one.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import combinations

from studies.reproduction.rules import Measured, Word, judge_cost

Cell = tuple[float, float]
"""α₀ and β₀."""


def judge_costs(costs: Sequence[Measured]) -> Word:
    """Whether none of several shares of regret is dear: each has to be cheap, and one dear one decides.

    >>> judge_costs([Measured(0.01, 0.0, 0.02), Measured(0.3, 0.25, 0.35)])
    'does not stand'
    """
    words = [judge_cost(cost) for cost in costs]
    if "does not stand" in words:
        return "does not stand"
    return "stands" if all(word == "stands" for word in words) else "not decidable"


def judge_smallest(printed: float, ours: Measured, low: float, high: float) -> Word:
    """Whether the regret printed for a best cell is that cell's, given where the smallest of the means would lie.

    >>> judge_smallest(6.55, Measured(16.9, 16.1, 17.8), low=3.7, high=14.9)
    'within noise'
    """
    if ours.low <= printed <= ours.high:
        return "stands"
    return "within noise" if low <= printed <= high else "does not stand"


def judge_same(played: Sequence[str]) -> Word | None:
    """What is to be said of problems that are said to differ, given hashes of all regrets played in each.

    None where they are not the same: then the other rules say.

    >>> judge_same(["3f9a", "3f9a", "3f9a"])
    'does not stand'
    """
    return "does not stand" if len(set(played)) == 1 else None


def judge_different(best: Sequence[Set[Cell]]) -> Word:
    """Whether problems have different best cells, given those among the best in each.

    >>> judge_different([{(1.0, 0.5), (1.0, 1.0)}, {(1.0, 1.0)}])
    'does not stand'
    """
    if set.intersection(*map(set, best)):
        return "does not stand"
    return "stands" if all(not (one & other) for one, other in combinations(best, 2)) else "not decidable"


def judge_rises(best: Sequence[tuple[Set[float], Set[float]]]) -> Word:
    """Whether the best value grows, given those among the best at the shorter and the longer horizon.

    >>> judge_rises([({1.0}, {5.0}), ({1.0}, {1.0})])
    'does not stand'
    """
    if any(max(longer) <= min(shorter) for shorter, longer in best):
        return "does not stand"
    return "stands" if all(min(longer) > max(shorter) for shorter, longer in best) else "not decidable"


def judge_range(best: Sequence[Set[float]], ranges: Sequence[tuple[float, float]]) -> Word:
    """Whether the best values lie where they are said to.

    >>> judge_range([{0.5, 1.0}, {1.0, 5.0}], [(0.5, 1.0), (5.0, 10.0)])
    'not decidable'
    """
    inside = [[low <= value <= high for value in values] for values, (low, high) in zip(best, ranges, strict=True)]
    if not all(any(each) for each in inside):
        return "does not stand"
    return "stands" if all(all(each) for each in inside) else "not decidable"
