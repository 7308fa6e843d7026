"""What is wrong with what people wrote, in one line that names the field, what it was and what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from environments.errors import InputError, did_you_mean
from environments.text import shorten_value
from studies.ranges import Range

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
def standing_in(where: str) -> Iterator[None]:
    """Have the line of what is wrong begin with where it stands, such as a file and a table of it.

    >>> with standing_in("mine.toml: study 2"):
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


def explain(error: ValidationError) -> InputError:
    """The first validation error as an InputError: one line with the field, the value and what is allowed."""
    first = error.errors(include_url=False)[0]
    parts = [str(part) for part in first["loc"]]
    parts = parts[: DEPTH.get(parts[0], 1)] if parts else []
    cause = first.get("ctx", {}).get("error")
    field = cause.field if isinstance(cause, InputError) else None
    return InputError(_first_line(first, parts), field=field or ".".join(parts) or None)


def _first_line(first: ErrorDetails, parts: list[str]) -> str:
    kind, context = first["type"], first.get("ctx", {})
    place, got = spell(parts), f"but got {shorten_value(first['input'])}."
    if kind == "value_error":
        said = f"{str(context['error']).rstrip('.')}."
        return f"{place}: {said}" if parts and parts[0] == "space" else said
    if kind == "missing":
        return f"{place} must be given."
    if kind == "extra_forbidden":
        return f"{spell(parts[:-1])}: {unknown_key(parts[-1], Range.model_fields)}"
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


def unknown_key(key: object, known: Sequence[str] | Mapping[str, Any]) -> InputError:
    """An error for a key that nothing goes by, with those that there are in the order of their table.

    >>> print(unknown_key("horzon", ["horizon", "arms"]))
    unknown key 'horzon'; did you mean 'horizon'? Known: horizon, arms.
    """
    return InputError(f"unknown key {shorten_value(key)}{did_you_mean(key, list(known))} Known: {', '.join(known)}.")


def spell(parts: Sequence[str]) -> str:
    """The path of a field.

    >>> spell(["space", "alpha0"])
    'space.alpha0'
    """
    shown = [part if part.isprintable() and 0 < len(part) <= 60 else shorten_value(part) for part in parts]
    return ".".join(shown) or "the study"
