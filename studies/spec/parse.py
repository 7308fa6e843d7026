"""What is wrong with what people wrote, in one line that names the field, what it was and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from environments.checks import LARGEST_NUMBER
from environments.errors import InputError, did_you_mean
from environments.text import shorten_value
from studies.registry import StudyDefaults
from studies.spec.comparison import ComparisonSpec
from studies.spec.grid import GridSpec
from studies.spec.space import Range, find_parameters
from studies.spec.study import StudySpec

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from policies.engine.base import Param


DEPTH = {"settings": 2, "fixed": 2, "space": 3}
"""How many parts of a place people wrote themselves; what follows is Pydantic's own."""

WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "dict_type": "a table of names with values",
    "model_type": "[low, high], a table with low and high, or a plain value",
    "finite_number": "a finite number",
}


@contextmanager
def prefix_errors(where: str) -> Iterator[None]:
    """Have the line of what is wrong begin with where it stands, such as a file and a table of it.

    >>> with prefix_errors("mine.toml: study 2"):
    ...     raise InputError("horizon must be at least 1 but got 0.")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: mine.toml: study 2: horizon must be at least 1 but got 0.
    """
    try:
        yield
    except InputError as error:
        if not where:
            raise
        field = error.field if error.field == "plugin" else None  # the caller sets plugins; the file sets the rest
        raise InputError(f"{where}: {error}", field=field) from None


def to_input_error(error: ValidationError) -> InputError:
    """The first validation error as an InputError: one line with the field, the value and what is allowed."""
    first = error.errors(include_url=False)[0]
    parts = [str(part) for part in first["loc"]]
    parts = parts[: DEPTH.get(parts[0], 1)] if parts else []
    cause = first.get("ctx", {}).get("error")
    field = cause.field if isinstance(cause, InputError) else None
    return InputError(_first_line(first, parts), field=field or ".".join(parts) or None)


def _first_line(first: ErrorDetails, parts: list[str]) -> str:
    kind, context = first["type"], first.get("ctx", {})
    place, got = format_path(parts), f"but got {shorten_value(first['input'])}."
    if kind == "value_error":
        said = f"{str(context['error']).rstrip('.')}."
        return f"{place}: {said}" if parts and parts[0] == "space" else said
    if kind == "missing":
        return f"{place} must be given."
    if kind == "extra_forbidden":
        return f"{format_path(parts[:-1])}: {unknown_key_error(parts[-1], Range.model_fields)}"
    if kind == "literal_error":
        return f"{place} must be {context['expected']} {got}"
    if kind == "greater_than_equal":
        return f"{place} must be at least {context['ge']} {got}"
    if kind == "less_than_equal":
        return f"{place} must be at most {context['le']} {got}"
    if kind == "string_too_short":
        return f"{place} must not be empty."
    if kind in ("string_too_long", "too_long"):
        return f"{place} must not be longer than {context['max_length']} {got}"
    if parts and parts[0] in ("settings", "fixed") and len(parts) == 2:
        return f"{place} must be a number or text {got}"
    return f"{place} must be {WANTED[kind]} {got}" if kind in WANTED else f"{place}: {first['msg']}, {got}"


def unknown_key_error(key: object, known: Sequence[str] | Mapping[str, Any]) -> InputError:
    """An error for a key that nothing goes by, with those that there are in the order of their table.

    >>> print(unknown_key_error("horzon", ["horizon", "arms"]))
    unknown key 'horzon'; did you mean 'horizon'? Known: horizon, arms.
    """
    return InputError(f"unknown key {shorten_value(key)}{did_you_mean(key, list(known))} Known: {', '.join(known)}.")


def format_path(parts: Sequence[str]) -> str:
    """The path of a field.

    >>> format_path(["space", "alpha0"])
    'space.alpha0'
    """
    shown = [part if part.isprintable() and 0 < len(part) <= 60 else shorten_value(part) for part in parts]
    return ".".join(shown) or "the study"


Spec = TypeVar("Spec", bound=BaseModel)

STUDY_FIELDS = (*(name for name in StudySpec.model_fields if name not in ("digest", "scale")), "noise")
"""What a study may say; `noise` is short for the setting of that name."""

LONGEST_TEXT = 1000
DEEPEST = 6


def parse_study_spec(fields: Mapping[str, Any], where: str = "") -> StudySpec:
    """The specification of fields as people write them; what is wrong is one line that begins with `where`.

    A range is ``[low, high]`` or a table, searched on the policy's own scale unless it names one; a
    plain value there fixes the parameter.

    >>> parse_study_spec({"scenario": "blips", "space": {"alpha0": [0.1, 5.0], "epsilon": 0.1}}).fixed
    {'epsilon': 0.1}
    >>> parse_study_spec({"scenario": "blips", "space": {"alpha0": [5, 1]}}, "study 2")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: study 2: space.alpha0: low must be below high but got 5 and 1.
    """
    with prefix_errors(where):
        return _read(StudySpec, fields, STUDY_FIELDS, _with_ranges)


def parse_grid_spec(fields: Mapping[str, Any]) -> GridSpec:
    """The specification of a grid of fields as people write them; what is wrong is one line.

    >>> parse_grid_spec({"scenario": "blips", "alpha0": [0.5, 1]}).alpha0
    (0.5, 1.0)
    >>> parse_grid_spec({"scenario": "blips", "alpha0": [1, 0.5]})
    Traceback (most recent call last):
    ...
    environments.errors.InputError: alpha0 must rise without repeating but got 1, 0.5.
    """
    return _read(GridSpec, fields, (*GridSpec.model_fields, "noise"))


def parse_comparison_spec(fields: Mapping[str, Any]) -> ComparisonSpec:
    """The same for a comparison.

    >>> parse_comparison_spec({"scenario": "blips", "policies": ["ucb1", "ucb1"]})
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
    check_plain_data(fields)
    for key in fields:
        if key not in known:
            raise unknown_key_error(key, known)
    try:
        return kind.model_validate(spelled_out(_with_noise(fields)))
    except ValidationError as error:
        raise to_input_error(error) from None


def check_plain_data(value: Any, parts: Sequence[str] = ()) -> None:
    """Refuse what no field can hold, wherever it stands: infinities, absurd sizes, dates, deep nesting."""
    place, field = format_path(parts), ".".join(parts)
    if len(parts) > DEEPEST:
        raise InputError(f"{place} is nested too deeply.", field=field)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_plain_data(inner, [*parts, str(key)])
    elif isinstance(value, list | tuple):
        for inner in value:
            check_plain_data(inner, parts)
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise InputError(
                f"{place} must be shorter than {LONGEST_TEXT} characters but got {len(value)}.", field=field
            )
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place} must be a finite number but got {value!r}.", field=field)
    elif isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise InputError(f"{place} must be a number below {LARGEST_NUMBER:g} but got a larger one.", field=field)
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
    params = {param.name: param for param in find_parameters(fields.get("policy", StudyDefaults.policy))}
    ranges, values = {}, dict(fixed)
    for name, given in space.items():
        if name in fixed:
            raise InputError(f"{format_path([name])} is both searched and fixed.")
        if isinstance(given, str) or _is_number(given):
            values[name] = given
        else:
            ranges[name] = _range(given, params.get(name), format_path(["space", str(name)]))
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
