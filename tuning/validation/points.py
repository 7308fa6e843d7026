"""Parameters as points on their search scale: conversion, rounding and slightly different copies."""

from collections.abc import Mapping, Sequence

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Values
from ravenlab.studies.spec.study import StudySpec

COPIES = 8  # copies of a candidate in each world at the first look of a race
SPREAD = 0.02  # largest relative difference of a copy's parameters
MAX_DIGITS = 2  # significant digits of recommended values


def to_point(spec: StudySpec, values: Mapping[str, object]) -> Floats:
    """Return the searched parameters on their search scale, in units that do not depend on the scale of the rewards."""
    units = spec.units()
    point = []
    for name, range_ in spec.space.items():
        point.append(range_.to_scale(float(values[name]) / units.get(name, 1.0)))  # type: ignore[arg-type]
    return np.array(point)


def from_point(spec: StudySpec, point: Floats) -> Values:
    """Return the searched parameters of a point on the search scale."""
    units = spec.units()
    values: Values = {}
    for (name, range_), coordinate in zip(spec.space.items(), point.tolist(), strict=True):
        values[name] = clip_value(spec, name, range_.from_scale(coordinate) * units.get(name, 1.0))
    return values


def find_bounds(spec: StudySpec) -> tuple[Floats, Floats]:
    """Return the ends of the search space on the search scale."""
    rows = zip(*(range_.bounds() for range_ in spec.space.values()), strict=True)
    ends = [to_point(spec, dict(zip(spec.space, row, strict=True))) for row in rows]
    return np.minimum(*ends), np.maximum(*ends)


def round_values(spec: StudySpec, values: Values, names: Sequence[str], digits: int) -> Values:
    """Round to significant digits, in units of the scale of the rewards (of 1 − x where that is searched)."""
    units = spec.units()
    rounded: Values = {}
    for name in names:
        unit = units.get(name, 1.0)
        range_ = spec.space[name]
        number = range_.searched(float(values[name]) / unit)
        value = range_.parameter(float(f"{number:.{digits}g}")) * unit
        rounded[name] = clip_value(spec, name, round(value, 15) if range_.scale == "one-minus" else value)
    return rounded


def make_copies(spec: StudySpec, values: Values) -> list[Values]:
    """Return copies whose searched parameters (1 − x where that is searched) differ by up to `SPREAD`.

    The nearest come first.
    """
    copies = []
    factors = np.linspace(1.0 - SPREAD, 1.0 + SPREAD, COPIES)
    for factor in sorted(factors.tolist(), key=lambda factor: abs(factor - 1.0)):
        copy = dict(values)
        for name, range_ in spec.space.items():
            number = range_.searched(float(values[name])) * factor
            copy[name] = clip_value(spec, name, range_.parameter(number))
        copies.append(copy)
    return copies


def clip_value(spec: StudySpec, name: str, value: float) -> float:
    """Return a value that the policy allows: within its limits, and whole if the parameter is."""
    (param,) = (param for param in find_policy(spec.policy).parameters if param.name == name)
    value = min(max(value, param.least), param.most)
    return float(round(value)) if param.integer else value
