"""From what people write to a specification, and from what is wrong with it to one line that names the field."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from pydantic import BaseModel, ValidationError

from environments.checks import LARGEST
from environments.errors import InputError
from policies import find_policy, policy_names
from studies.comparison.spec import ComparisonSpec
from studies.grid import GridSpec
from studies.spec import Range, StudySpec

if TYPE_CHECKING:
    from policies.base import Param

Spec = TypeVar("Spec", bound=BaseModel)

FIELDS = (*(name for name in StudySpec.model_fields if name not in ("digest", "scale")), "noise")
"""What a study may say; `noise` is short for the setting of that name."""

DEPTH = {"settings": 2, "fixed": 2, "space": 3}
"""How many parts of a place people wrote themselves; what follows is Pydantic's own."""

LONGEST_TEXT = 1000
DEEPEST = 6

WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "dict_type": "a table of names with values",
    "model_type": "[low, high], a table with low and high, or a plain value",
    "finite_number": "a finite number",
}


def spec_from(fields: Mapping[str, Any], where: str = "", names: Mapping[str, str] | None = None) -> StudySpec:
    """The specification of fields as people write them; what is wrong is one line that begins with `where`.

    A range is ``[low, high]`` or a table, searched on the policy's own scale unless it names one; a
    plain value there fixes the parameter. `names` says how a field is called where it was written,
    such as ``{"space": "--range"}``.

    >>> spec_from({"scenario": "blips", "space": {"alpha0": [0.1, 5.0], "epsilon": 0.1}}).fixed
    {'epsilon': 0.1}
    >>> spec_from({"scenario": "blips", "space": {"alpha0": [5, 1]}}, "study 2")
    Traceback (most recent call last):
    ...
    environments.errors.InputError: study 2: space.alpha0: low must be below high but got 5 and 1.
    """
    names = names or {}
    try:
        check_plain(fields, names)
        for key in fields:
            if key not in FIELDS:
                raise unknown_key(key, FIELDS)
        try:
            return StudySpec.model_validate(_with_ranges(_with_noise(fields), names))
        except ValidationError as error:
            raise InputError(explain(error, names)) from None
    except InputError as error:
        raise InputError(f"{where}: {error}" if where else str(error)) from None


def grid_spec_from(fields: Mapping[str, Any], names: Mapping[str, str] | None = None) -> GridSpec:
    """The specification of a grid of fields as people write them; what is wrong is one line.

    >>> grid_spec_from({"scenario": "blips", "alpha0": [0.5, 1]}).alpha0
    (0.5, 1.0)
    >>> grid_spec_from({"scenario": "blips", "alpha0": [1, 0.5]})
    Traceback (most recent call last):
    ...
    environments.errors.InputError: alpha0 must rise without repeating but got 1, 0.5.
    """
    return _read(GridSpec, fields, names or {})


def comparison_spec_from(fields: Mapping[str, Any], names: Mapping[str, str] | None = None) -> ComparisonSpec:
    """The same for a comparison.

    >>> comparison_spec_from({"scenario": "blips", "policies": ["ucb1", "ucb1"]})
    Traceback (most recent call last):
    ...
    environments.errors.InputError: policies must differ but ucb1 was given twice.
    """
    return _read(ComparisonSpec, fields, names or {})


def _read(kind: type[Spec], fields: Mapping[str, Any], names: Mapping[str, str]) -> Spec:
    check_plain(fields, names)
    known = (*kind.model_fields, "noise")
    for key in fields:
        if key not in known:
            raise unknown_key(key, known)
    try:
        return kind.model_validate(_with_noise(fields))
    except ValidationError as error:
        raise InputError(explain(error, names)) from None


def explain(error: ValidationError, names: Mapping[str, str] | None = None) -> str:
    """The first thing that is wrong, in one line that names the field, what it was and what is allowed."""
    first = error.errors(include_url=False)[0]
    kind, parts, context = first["type"], [str(part) for part in first["loc"]], first.get("ctx", {})
    parts = parts[: DEPTH.get(parts[0], 1)] if parts else []
    place, got = spell(parts, names or {}), f"but got {brief(first['input'])}."
    if kind == "value_error":
        said = f"{str(context['error']).rstrip('.')}."
        return f"{place}: {said}" if parts and parts[0] == "space" else said
    if kind == "missing":
        return f"{place} must be given."
    if kind == "extra_forbidden":
        return f"{spell(parts[:-1], names or {})}: {unknown_key(parts[-1], Range.model_fields)}"
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


def check_plain(value: Any, names: Mapping[str, str], parts: Sequence[str] = ()) -> None:
    """Refuse what no field can hold, wherever it stands: infinities, absurd sizes, dates, deep nesting."""
    place = spell(parts, names)
    if len(parts) > DEEPEST:
        raise InputError(f"{place} is nested too deeply.")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_plain(inner, names, [*parts, str(key)])
    elif isinstance(value, list | tuple):
        for inner in value:
            check_plain(inner, names, parts)
    elif isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise InputError(f"{place} must be shorter than {LONGEST_TEXT} characters but got {len(value)}.")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place} must be a finite number but got {value!r}.")
    elif isinstance(value, int) and abs(value) > LARGEST:
        raise InputError(f"{place} must be a number below {LARGEST:g} but got a larger one.")
    elif value is not None and not isinstance(value, int | float | Range):
        raise InputError(f"{place} must be a number, text, list or table but got {brief(value)}.")


def unknown_key(key: object, known: Sequence[str] | Mapping[str, Any]) -> InputError:
    """An error for a key that nothing goes by, with the nearest one that exists.

    >>> print(unknown_key("horzon", ["horizon", "arms"]))
    unknown key 'horzon'; did you mean 'horizon'? Known: horizon, arms.
    """
    near = difflib.get_close_matches(str(key)[:100], list(known), n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return InputError(f"unknown key {brief(key)}{hint} Known: {', '.join(known)}.")


def spell(parts: Sequence[str], names: Mapping[str, str]) -> str:
    """A place as it was written: space.alpha0, or --range alpha0.

    >>> spell(["space", "alpha0"], {"space": "--range"})
    '--range alpha0'
    """
    shown = [part if part.isprintable() and 0 < len(part) <= 60 else brief(part) for part in parts]
    if not shown:
        return "the study"
    head = names.get(parts[0])
    return ".".join(shown) if head is None else " ".join([head, ".".join(shown[1:])]).strip()


def brief(value: object) -> str:
    """A value in at most 60 characters.

    >>> brief("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:59]}…"


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


def _with_ranges(fields: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Ranges as tables with a scale; plain values of the space among the fixed ones."""
    space, fixed = fields.get("space", {}), fields.get("fixed", {})
    if not isinstance(space, Mapping) or not isinstance(fixed, Mapping):
        return fields
    policy = fields.get("policy", "raven-ucb")
    known = isinstance(policy, str) and policy in policy_names()
    params = {param.name: param for param in find_policy(policy).parameters} if known else {}
    ranges, values = {}, dict(fixed)
    for name, given in space.items():
        if name in fixed:
            raise InputError(f"{spell([name], {})} is both searched and fixed.")
        if isinstance(given, str) or _is_number(given):
            values[name] = given
        else:
            ranges[name] = _range(given, params.get(name), spell(["space", str(name)], names))
    return {**fields, "space": ranges, "fixed": values}


def _range(given: Any, param: Param | None, place: str) -> Any:
    """A range with its scale; what is no range at all is left for Pydantic to refuse."""
    if isinstance(given, list | tuple):
        if len(given) != 2:
            raise InputError(f"{place} must be [low, high] but got {brief(given)}.")
        given = {"low": given[0], "high": given[1]}
    if param is None or param.choices or not isinstance(given, Mapping) or "scale" in given:
        return given
    low, high = given.get("low"), given.get("high")
    if param.scale != "one-minus" or not _is_number(low) or not _is_number(high):
        return {**given, "scale": param.scale}
    if not low < high < 1:
        rule = "low must be below high" if high < 1 else "high must be below 1 where 1 minus it is searched"
        raise InputError(f"{place}: {rule} but got {low} and {high}.")
    return {**given, "low": round(1 - high, 15), "high": round(1 - low, 15), "scale": param.scale}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
