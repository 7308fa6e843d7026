"""Generated tables of docs/reference/study-files.md, from the JSON Schema of the Pydantic models."""

from collections.abc import Mapping
from typing import Any

from ravenlab.studies.registry import MEASURES, OBJECTIVES, PRUNERS, SAMPLERS, Choice, format_choices
from ravenlab.studies.spec.schema import study_file_schema
from tools.docs.marks import table

TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "`true` or `false`",
    "object": "table",
}


def parts() -> dict[str, list[str]]:
    """Return the fields of each kind of TOML table, and the registered values."""
    kinds = study_file_schema()["$defs"]
    tables = {name.lower(): _fields(kinds[name]) for name in ("Study", "Scenario", "Range")}
    study = kinds["Study"]["properties"]
    robust = kinds["Robust"]["properties"]
    robust_only = {name: field for name, field in robust.items() if field != study.get(name)}
    missing = ", ".join(f"`{name}`" for name in study if name not in robust)
    tables["robust"] = [
        *_fields({**kinds["Robust"], "properties": robust_only}),
        "",
        f"All other fields are those of a study, except {missing}.",
    ]
    registries: dict[str, Mapping[str, Choice]] = {
        "objectives": OBJECTIVES,
        "samplers": SAMPLERS,
        "pruners": PRUNERS,
        "measures": MEASURES,
    }
    return {**tables, **{name: _choices(registry) for name, registry in registries.items()}}


def _choices(registry: Mapping[str, Choice]) -> list[str]:
    """Return a table with one row per registered value."""
    rows = zip(format_choices(registry), registry.values(), strict=True)
    return table(["value", "meaning"], [[f"`{name}`", choice.description] for name, choice in rows])


def _fields(kind: dict[str, Any]) -> list[str]:
    required = kind.get("required", [])
    rows = []
    for name, field in kind["properties"].items():
        default = f"`{_toml(field['default'])}`" if "default" in field else "required" if name in required else "–"
        rows.append([f"`{name}`", describe(field), default, field.get("description", "")])
    return table(["field", "allowed values", "default", "meaning"], rows)


def describe(field: dict[str, Any]) -> str:
    """Describe the allowed values of a field.

    >>> describe({"type": "integer", "minimum": 2, "maximum": 10000000})
    'whole number, 2 to 10⁷'
    >>> describe({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
    'text, or a list of these'
    """
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"a [{name.lower()} table](#{name.lower()})"
    if "anyOf" in field:
        options = [describe(option) for option in field["anyOf"]]
        several = f"a list of {', or '.join(options[:-1])}"
        return ", or ".join([*options[:-1], "a list of these" if options[-1] == several else options[-1]])
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    kind = field.get("type")
    if kind == ["integer", "string"]:  # text such as "10k" is another form of the same number
        kind = "integer"
    if isinstance(kind, list):
        return " or ".join(TYPES[name] for name in kind)
    if kind == "array":
        if field.get("minItems") == field.get("maxItems") == 2:
            return "`[low, high]`"
        least = f"{field['minItems']} or more of " if field.get("minItems", 1) > 1 else ""
        most = f", at most {field['maxItems']}" if "maxItems" in field else ""
        return f"a list of {least}{describe(field['items'])}{most}"
    if kind == "object":
        values = field.get("additionalProperties")
        return f"names with values ({describe(values)})" if isinstance(values, dict) else "names with values"
    return f"{TYPES[str(kind)]}{_limits(field)}"


def _limits(field: dict[str, Any]) -> str:
    low = field.get("minimum")
    high = field.get("maximum")
    if low is not None and high is not None:
        return f", {_number(low)} to {_number(high)}"
    if low is not None:
        return f", at least {_number(low)}"
    longest = field.get("maxLength")
    return f", at most {longest} characters" if longest else ""


def _number(value: float) -> str:
    """Format a number; powers of ten from one million on have an exponent.

    >>> _number(10), _number(10**9), _number(2**63 - 1)
    ('10', '10⁹', '2⁶³ − 1')
    """
    if value == 2**63 - 1:
        return "2⁶³ − 1"
    text = str(value)
    if value >= 10**6 and set(text[1:]) == {"0"} and text[0] == "1":
        return f"10{str(len(text) - 1).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return text


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
