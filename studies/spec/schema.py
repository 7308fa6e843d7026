"""The JSON Schema of study files, made from the models; `python -m studies.spec.schema` writes the shipped copy anew.

Editors complete and check with it. It says what a file may look like; whether a study makes sense (a
range's order, a scenario's settings) is for `ravenlab validate`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from environments.noise import NOISES
from studies.registry import robust_samplers
from studies.spec.parse import STUDY_FIELDS
from studies.spec.robust import MAX_SCENARIOS, RobustSpec
from studies.spec.space import Range
from studies.spec.study import StudySpec

PATH = Path(__file__).parent / "schemas" / "study-file.json"

ONE_SCENARIO = ("scenario", "objective", "pruner", "trace", "log", "minimize")
"""Fields of a study that a search over several scenarios does not have."""

PLAIN = {"type": ["number", "string"]}


def study_file_schema() -> dict[str, Any]:
    """The schema as plain JSON.

    >>> list(study_file_schema()["properties"])
    ['study', 'robust']
    """
    model = StudySpec.model_json_schema()
    fields: dict[str, Any] = {
        key: _without_null(field) for key, field in model["properties"].items() if key in STUDY_FIELDS
    }
    horizon = {key: value for key, value in fields["horizon"].items() if key not in ("description", "title")}
    fields["horizon"] = {
        "description": "Steps T, or a list of them; the scenario's own if absent.",
        "anyOf": [horizon, {"type": "array", "items": horizon, "minItems": 1}],
    }
    one = [{"type": "string"}, {"$ref": "#/$defs/Scenario"}]
    fields["scenario"] = {
        "description": "A name, effects joined by '+', a table, or a list of these.",
        "anyOf": [*one, {"type": "array", "items": {"anyOf": one}, "minItems": 1}],
    }
    fields["noise"] = {"type": "string", "enum": list(NOISES), "description": "Short for the setting of that name."}
    fields["settings"]["additionalProperties"] = PLAIN
    fields["fixed"]["additionalProperties"] = PLAIN
    fields["space"] = {
        "type": "object",
        "description": "Where each parameter is searched; a plain value fixes it.",
        "additionalProperties": {
            "anyOf": [
                PLAIN,
                {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                {"$ref": "#/$defs/Range"},
            ]
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A ravenlab study file",
        "type": "object",
        "anyOf": [{"required": ["study"]}, {"required": ["robust"]}],
        "additionalProperties": False,
        "properties": {
            "study": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Study"}},
            "robust": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Robust"}},
        },
        "$defs": {
            "Study": {
                "description": "One search; lists of scenarios and horizons make a product.",
                "type": "object",
                "anyOf": [{"required": ["scenario"]}, {"required": ["trace"]}, {"required": ["log"]}],
                "additionalProperties": False,
                "properties": dict(sorted(fields.items(), key=lambda item: _place(item[0]))),
            },
            "Robust": {
                "description": "One setting for several scenarios, when nobody knows which it will be.",
                "type": "object",
                "required": ["scenarios"],
                "additionalProperties": False,
                "properties": _robust(fields),
            },
            "Scenario": {
                "description": "A scenario by its name or its effects, its parameters beside it.",
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "A scenario's name; its parameters stand beside it."},
                    "effects": {
                        "type": "array",
                        "items": {"type": "string"},
                        "minItems": 1,
                        "description": "Several effects on one world; their parameters stand beside them.",
                    },
                    "trace": {"type": "string", "description": "A CSV or Parquet file beside the study file."},
                    "log": {"type": "string", "description": "A CSV or Parquet file of events beside the study file."},
                    "window": {"type": "integer", "minimum": 1, "description": "Rows of a window of the trace."},
                    "minimize": {"type": "boolean", "description": "What the file holds are costs."},
                },
                "oneOf": [{"required": [key]} for key in ("name", "effects", "trace", "log")],
                "additionalProperties": {"anyOf": [PLAIN, {"type": "object", "additionalProperties": PLAIN}]},
            },
            "Range": _range(),
        },
    }


def _robust(fields: dict[str, Any]) -> dict[str, Any]:
    """A study's fields with scenarios in place of one, and what counts of their regrets."""
    own = RobustSpec.model_json_schema()["properties"]
    shared = {key: field for key, field in fields.items() if key not in ONE_SCENARIO}
    shared["sampler"] = {**fields["sampler"], "enum": robust_samplers()}
    names = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": MAX_SCENARIOS}
    return {
        "scenarios": {**names, "description": "Two or more names; effects may be joined by '+'."},
        **{key: _without_null(own[key]) for key in ("measure", "pareto")},
        **dict(sorted(shared.items(), key=lambda item: _place(item[0]))),
    }


def schema_text() -> str:
    """The schema as it is shipped."""
    return json.dumps(study_file_schema(), indent=2, ensure_ascii=False) + "\n"


def _range() -> dict[str, Any]:
    schema = Range.model_json_schema()
    schema["properties"] = {key: _without_null(field) for key, field in schema["properties"].items()}
    schema["properties"]["scale"].pop("default")
    schema["properties"]["scale"]["description"] = "How it is searched; the policy's own way if absent."
    return {key: value for key, value in schema.items() if key != "title"}


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """TOML has no null: what may be None may be left out."""
    out = {key: value for key, value in field.items() if key != "title" and not (key == "default" and value is None)}
    if "anyOf" in out:
        (only,) = [option for option in out.pop("anyOf") if option != {"type": "null"}]
        out |= only
    return out


def _place(key: str) -> int:
    order = list(StudySpec.model_fields)
    return order.index("settings" if key == "noise" else key)


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
