"""From what people write to a specification; what is wrong with it is one line that names the field."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from environments.checks import LARGEST
from environments.errors import InputError
from environments.text import shorten_value
from studies.comparison.spec import ComparisonSpec
from studies.explaining import explain, spell, standing_in, unknown_key
from studies.grid import GridSpec
from studies.ranges import Range, parameters_of
from studies.registry import StudyDefaults
from studies.spec import StudySpec

if TYPE_CHECKING:
    from policies.base import Param

Spec = TypeVar("Spec", bound=BaseModel)

FIELDS = (*(name for name in StudySpec.model_fields if name not in ("digest", "scale")), "noise")
"""What a study may say; `noise` is short for the setting of that name."""

LONGEST_TEXT = 1000
DEEPEST = 6


def spec_from(fields: Mapping[str, Any], where: str = "") -> StudySpec:
    """The specification of fields as people write them; what is wrong is one line that begins with `where`.

    A range is ``[low, high]`` or a table, searched on the policy's own scale unless it names one; a
    plain value there fixes the parameter.

    >>> spec_from({"scenario": "blips", "space": {"alpha0": [0.1, 5.0], "epsilon": 0.1}}).fixed
    {'epsilon': 0.1}
    >>> spec_from({"scenario": "blips", "space": {"alpha0": [5, 1]}}, "study 2")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: study 2: space.alpha0: low must be below high but got 5 and 1.
    """
    with standing_in(where):
        return _read(StudySpec, fields, FIELDS, _with_ranges)


def grid_spec_from(fields: Mapping[str, Any]) -> GridSpec:
    """The specification of a grid of fields as people write them; what is wrong is one line.

    >>> grid_spec_from({"scenario": "blips", "alpha0": [0.5, 1]}).alpha0
    (0.5, 1.0)
    >>> grid_spec_from({"scenario": "blips", "alpha0": [1, 0.5]})
    Traceback (most recent call last):
    ...
    environments.errors.InputError: alpha0 must rise without repeating but got 1, 0.5.
    """
    return _read(GridSpec, fields, (*GridSpec.model_fields, "noise"))


def comparison_spec_from(fields: Mapping[str, Any]) -> ComparisonSpec:
    """The same for a comparison.

    >>> comparison_spec_from({"scenario": "blips", "policies": ["ucb1", "ucb1"]})
    Traceback (most recent call last):
    ...
    environments.errors.InputError: policies must differ but ucb1 was given twice.
    """
    return _read(ComparisonSpec, fields, (*ComparisonSpec.model_fields, "noise"))


def _read(
    kind: type[Spec],
    fields: Mapping[str, Any],
    known: Sequence[str],
    spelled_out: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Spec:
    """A specification of its known fields, once what people write in short is spelled out."""
    check_plain(fields)
    for key in fields:
        if key not in known:
            raise unknown_key(key, known)
    try:
        return kind.model_validate(spelled_out(_with_noise(fields)))
    except ValidationError as error:
        raise explain(error) from None


def check_plain(value: Any, parts: Sequence[str] = ()) -> None:
    """Refuse what no field can hold, wherever it stands: infinities, absurd sizes, dates, deep nesting."""
    place, field = spell(parts), ".".join(parts)
    if len(parts) > DEEPEST:
        raise InputError(f"{place} is nested too deeply.", field=field)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_plain(inner, [*parts, str(key)])
    elif isinstance(value, list | tuple):
        for inner in value:
            check_plain(inner, parts)
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise InputError(
                f"{place} must be shorter than {LONGEST_TEXT} characters but got {len(value)}.", field=field
            )
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place} must be a finite number but got {value!r}.", field=field)
    elif isinstance(value, int) and abs(value) > LARGEST:
        raise InputError(f"{place} must be a number below {LARGEST:g} but got a larger one.", field=field)
    elif value is not None and not isinstance(value, int | float | Range):
        raise InputError(f"{place} must be a number, text, list or table but got {shorten_value(value)}.", field=field)


def _with_noise(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The noise among the settings."""
    out = dict(fields)
    noise = out.pop("noise", None)
    if noise is None:
        return out
    settings = out.get("settings", {})
    if isinstance(settings, Mapping):
        if "noise" in settings:
            raise InputError("noise is given twice, once among the scenario's settings.")
        out["settings"] = {**settings, "noise": noise}
    return out


def _with_ranges(fields: dict[str, Any]) -> dict[str, Any]:
    """Ranges as tables with a scale; plain values of the space among the fixed ones."""
    space, fixed = fields.get("space", {}), fields.get("fixed", {})
    if not isinstance(space, Mapping) or not isinstance(fixed, Mapping):
        return fields
    params = {param.name: param for param in parameters_of(fields.get("policy", StudyDefaults.policy))}
    ranges, values = {}, dict(fixed)
    for name, given in space.items():
        if name in fixed:
            raise InputError(f"{spell([name])} is both searched and fixed.")
        if isinstance(given, str) or _is_number(given):
            values[name] = given
        else:
            ranges[name] = _range(given, params.get(name), spell(["space", str(name)]))
    return {**fields, "space": ranges, "fixed": values}


def _range(given: Any, param: Param | None, place: str) -> Any:
    """A range with its scale; what is no range at all is left for Pydantic to refuse."""
    if isinstance(given, list | tuple):
        if len(given) != 2:
            raise InputError(f"{place} must be [low, high] but got {shorten_value(given)}.", field=place)
        given = {"low": given[0], "high": given[1]}
    if param is None or param.choices or not isinstance(given, Mapping) or "scale" in given:
        return given
    low, high = given.get("low"), given.get("high")
    if param.scale != "one-minus" or not _is_number(low) or not _is_number(high):
        return {**given, "scale": param.scale}
    if not low < high < 1:
        rule = "low must be below high" if high < 1 else "high must be below 1 where 1 minus it is searched"
        raise InputError(f"{place}: {rule} but got {low} and {high}.", field=place)
    return {**given, "low": round(1 - high, 15), "high": round(1 - low, 15), "scale": param.scale}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
