"""A best value on the edge of the box says that the box may be too small: which one, and what range would settle it."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from policies import find_policy
from policies.base import Param, Value
from studies.ranges import Range
from studies.recommendation import Edge
from studies.spec import StudySpec

NEAR = 0.01
"""An end is near within this share of the range, on the scale that was searched."""

BEYOND = 3.0
"""How many times further a log range goes; a linear one goes on by its own width."""


def edges(spec: StudySpec, values: Mapping[str, Value]) -> list[Edge]:
    """The searched parameters whose value lies at an end of its range, or beyond it.

    `low` and `high` are what a study file would say: of 1 − x where 1 − x is searched. An end that can't be moved,
    because the parameter allows no more or because it is the horizon itself, is not an edge.

    >>> spec = StudySpec(scenario="blips", horizon=1000)
    >>> [(edge.param, edge.low, edge.high) for edge in edges(spec, {"alpha0": 9.9, "beta0": 1.0, "epsilon": 0.1})]
    [('alpha0', 0.01, 30.0)]
    """
    space = spec.resolved().space
    out = []
    for param in find_policy(spec.policy).parameters:
        if param.name in space:
            value = float(values[param.name])
            low, high = _settled(param, space[param.name], value)
            if (low, high) != (space[param.name].low, space[param.name].high):
                out.append(Edge(param=param.name, value=value, low=low, high=high))
    return out


def _settled(param: Param, range_: Range, value: float) -> tuple[float, float]:
    """The range, moved outwards where the value is near an end."""
    x = 1.0 - value if range_.scale == "one-minus" else value
    least, most = param.least, param.most
    if range_.scale == "one-minus":
        least, most = max(0.0, 1.0 - param.most), min(1.0, 1.0 - param.least)
    low, high = range_.low, range_.high
    if range_.scale == "linear":
        place = (x - low) / (high - low)
        lower, upper = min(low, x) - (high - low), max(high, x) + (high - low)
    else:
        place = (log(x) - log(low)) / (log(high) - log(low)) if x > 0.0 else 0.0
        lower, upper = min(low, x if x > 0.0 else low) / BEYOND, max(high, x) * BEYOND
    if param.integer:
        lower, upper = float(max(1, round(lower))), float(round(upper))
    if place <= NEAR and not callable(param.low):
        low = min(low, max(lower, least))
    if place >= 1.0 - NEAR and not callable(param.high):
        high = max(high, min(upper, most))
    return low, high
