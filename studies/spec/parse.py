"""Parsing of specifications from plain data, with one-line error messages."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ravenlab.common.checks import LARGEST_NUMBER
from ravenlab.common.errors import InputError, did_you_mean
from ravenlab.common.text import shorten_value
from ravenlab.policies.engine.parameters import Param
from ravenlab.studies.registry import StudyDefaults
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.space import Range, find_parameters
from ravenlab.studies.spec.study import StudySpec

# Length of the path to a field as users write it; Pydantic appends parts of its own.
PATH_LENGTHS = {"settings": 2, "fixed": 2, "space": 3}

LIMITS = {
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_long": "must not be longer than {max_length}",
    "too_long": "must not be longer than {max_length}",
}

WHOLE_NUMBER = "a whole number such as 10000, 1e4 or '10k'"
EXPECTED = {
    "int_type": WHOLE_NUMBER,
    "int_from_float": WHOLE_NUMBER,
    "float_type": "a number",
    "string_type": "text",
    "dict_type": "a table of names and values",
    "model_type": "[low, high], a table with low and high, or a plain value",
    "finite_number": "a finite number",
}


@contextmanager
def prefix_errors(where: str) -> Iterator[None]:
    """Prefix the message of an InputError with a location, such as a file and one of its tables.

    >>> with prefix_errors("mine.toml: study 2"):
    ...     raise InputError("horizon must be at least 1 but got 0.")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: mine.toml: study 2: horizon must be at least 1 but got 0.
    """
    try:
        yield
    except InputError as error:
        if not where:
            raise
        field = error.field if error.field == "plugin" else None  # the caller sets plugins; the file sets the rest
        raise InputError(f"{where}: {error}", field=field) from None


def to_input_error(error: ValidationError) -> InputError:
    """Convert the first validation error to an InputError that names the field, the value and what is allowed."""
    first = error.errors(include_url=False)[0]
    parts = [str(part) for part in first["loc"]]
    parts = parts[: PATH_LENGTHS.get(parts[0], 1)] if parts else []
    cause = first.get("ctx", {}).get("error")
    field = cause.field if isinstance(cause, InputError) else None
    return InputError(_format_error(first, parts), field=field or ".".join(parts) or None)


def _format_error(first: ErrorDetails, parts: list[str]) -> str:
    kind = first["type"]
    context = first.get("ctx", {})
    place = format_path(parts)
    got = f"but got {shorten_value(first['input'])}."
    if kind == "value_error":
        message = f"{str(context['error']).rstrip('.')}."
        return f"{place}: {message}" if parts and parts[0] == "space" else message
    if kind == "missing":
        return f"{place} must be given."
    if kind == "extra_forbidden":
        return f"{format_path(parts[:-1])}: {unknown_key_error(parts[-1], Range.model_fields)}"
    if kind == "string_too_short":
        return f"{place} must not be empty."
    if kind in LIMITS:
        return f"{place} {LIMITS[kind].format(**context)} {got}"
    if parts and parts[0] in ("settings", "fixed") and len(parts) == 2:
        return f"{place} must be a number or text {got}"
    return f"{place} must be {EXPECTED[kind]} {got}" if kind in EXPECTED else f"{place}: {first['msg']}, {got}"


def unknown_key_error(key: object, known: Sequence[str] | Mapping[str, Any]) -> InputError:
    """Make the error for an unknown key, which lists the known keys.

    >>> print(unknown_key_error("horzon", ["horizon", "arms"]))
    unknown key 'horzon'; did you mean 'horizon'? Known: horizon, arms.
    """
    return InputError(f"unknown key {shorten_value(key)}{did_you_mean(key, list(known))} Known: {', '.join(known)}.")


def format_path(parts: Sequence[str]) -> str:
    """Format the path of a field.

    >>> format_path(["space", "alpha0"])
    'space.alpha0'
    """
    short = [part if part.isprintable() and 0 < len(part) <= 60 else shorten_value(part) for part in parts]
    return ".".join(short) or "the study"


Spec = TypeVar("Spec", bound=BaseModel)

# Fields that users may give; `noise` is short for the setting of the same name.
STUDY_FIELDS = (*(name for name in StudySpec.model_fields if name not in ("digest", "scale")), "noise")

MAX_TEXT_LENGTH = 1000
MAX_DEPTH = 6


def parse_study_spec(fields: Mapping[str, Any], where: str = "") -> StudySpec:
    """Parse the fields of a study. Error messages begin with `where`.

    A range is ``[low, high]`` or a table; its scale defaults to the policy's. A single value fixes the parameter.

    >>> parse_study_spec({"scenario": "blips", "space": {"alpha0": [0.1, 5.0], "epsilon": 0.1}}).fixed
    {'epsilon': 0.1}
    >>> parse_study_spec({"scenario": "blips", "space": {"alpha0": [5, 1]}}, "study 2")
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: study 2: space.alpha0: low must be below high but got 5 and 1.
    """
    with prefix_errors(where):
        return _parse(StudySpec, fields, STUDY_FIELDS, _expand_ranges)


def parse_grid_spec(fields: Mapping[str, Any]) -> GridSpec:
    """Parse the fields of a sensitivity grid.

    >>> parse_grid_spec({"scenario": "blips", "alpha0": [0.5, 1]}).alpha0
    (0.5, 1.0)
    >>> parse_grid_spec({"scenario": "blips", "alpha0": [1, 0.5]})
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: alpha0 must be strictly increasing but got 1, 0.5.
    """
    return _parse(GridSpec, fields, (*GridSpec.model_fields, "noise"))


def parse_comparison_spec(fields: Mapping[str, Any]) -> ComparisonSpec:
    """Parse the fields of a comparison.

    >>> parse_comparison_spec({"scenario": "blips", "policies": ["ucb1", "ucb1"]})
    Traceback (most recent call last):
    ...
    ravenlab.common.errors.InputError: policies must be distinct but ucb1 was given twice.
    """
    return _parse(ComparisonSpec, fields, (*ComparisonSpec.model_fields, "noise"))


def _parse(
    model: type[Spec],
    fields: Mapping[str, Any],
    known: Sequence[str],
    expand: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Spec:
    """Validate fields, after `expand` has replaced short forms."""
    check_plain_data(fields)
    for key in fields:
        if key not in known:
            raise unknown_key_error(key, known)
    try:
        return model.model_validate(expand(_expand_noise(fields)))
    except ValidationError as error:
        raise to_input_error(error) from None


def check_plain_data(value: Any, parts: Sequence[str] = ()) -> None:
    """Raise InputError for values that no field can hold: infinities, huge values, dates, deep nesting."""
    place = format_path(parts)
    field = ".".join(parts)
    if len(parts) > MAX_DEPTH:
        raise InputError(f"{place} is nested too deeply.", field=field)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_plain_data(inner, [*parts, str(key)])
    elif isinstance(value, list | tuple):
        for inner in value:
            check_plain_data(inner, parts)
    elif isinstance(value, str):
        if len(value) > MAX_TEXT_LENGTH:
            raise InputError(
                f"{place} must be shorter than {MAX_TEXT_LENGTH} characters but got {len(value)}.", field=field
            )
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place} must be a finite number but got {value!r}.", field=field)
    elif isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise InputError(f"{place} must be below {LARGEST_NUMBER:g} but got a larger number.", field=field)
    elif value is not None and not isinstance(value, int | float | Range):
        raise InputError(f"{place} must be a number, text, list or table but got {shorten_value(value)}.", field=field)


def _expand_noise(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Move `noise` into the settings."""
    out = dict(fields)
    noise = out.pop("noise", None)
    if noise is None:
        return out
    settings = out.get("settings", {})
    if isinstance(settings, Mapping):
        if "noise" in settings:
            raise InputError("noise is given twice: as a field and in settings.")
        out["settings"] = {**settings, "noise": noise}
    return out


def _expand_ranges(fields: dict[str, Any]) -> dict[str, Any]:
    """Write ranges as tables with a scale, and move single values from `space` to `fixed`."""
    space = fields.get("space", {})
    fixed = fields.get("fixed", {})
    if not isinstance(space, Mapping) or not isinstance(fixed, Mapping):
        return fields
    params = {param.name: param for param in find_parameters(fields.get("policy", StudyDefaults.policy))}
    ranges = {}
    values = dict(fixed)
    for name, value in space.items():
        if name in fixed:
            raise InputError(f"{format_path([name])} is both searched and fixed.")
        if isinstance(value, str) or _is_number(value):
            values[name] = value
        else:
            ranges[name] = _expand_range(value, params.get(name), format_path(["space", str(name)]))
    return {**fields, "space": ranges, "fixed": values}


def _expand_range(value: Any, param: Param | None, place: str) -> Any:
    """Write a range as a table with its scale. Anything else is returned unchanged for Pydantic to reject."""
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise InputError(f"{place} must be [low, high] but got {shorten_value(value)}.", field=place)
        value = {"low": value[0], "high": value[1]}
    if param is None or param.choices or not isinstance(value, Mapping) or "scale" in value:
        return value
    low = value.get("low")
    high = value.get("high")
    if param.scale != "one-minus" or not _is_number(low) or not _is_number(high):
        return {**value, "scale": param.scale}
    if not low < high < 1:
        rule = "low must be below high" if high < 1 else "high must be below 1 on a one-minus scale"
        raise InputError(f"{place}: {rule} but got {low} and {high}.", field=place)
    return {**value, "low": round(1 - high, 15), "high": round(1 - low, 15), "scale": param.scale}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
