"""JSON Schema of study files, derived from the models; `python -m ravenlab.studies.spec.schema` rewrites its copy.

Editors use it for completion and checks. It describes the form of a file; `ravenlab validate` also checks the order of
ranges, the settings of scenarios and the like.
"""

import json
from pathlib import Path
from typing import Any

from ravenlab.environments.noise import NOISES
from ravenlab.studies.registry import ESTIMATORS, robust_samplers
from ravenlab.studies.spec.descriptions import STUDY
from ravenlab.studies.spec.fields import COUNT_SCHEMA
from ravenlab.studies.spec.parse import STUDY_FIELDS
from ravenlab.studies.spec.robust import MAX_SCENARIOS, RobustSpec
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec

PATH = Path(__file__).parent / "schemas" / "study-file.json"

# Fields of a study that a robust search does not have.
SINGLE_SCENARIO_FIELDS = (
    *("scenario", "objective", "pruner", "trace", "log", "keep_state", "minimize", "estimator", "columns"),
)

SINGLE_VALUE = {"type": ["number", "string"]}

RANGE_OR_VALUE = {
    "anyOf": [
        SINGLE_VALUE,
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        {"$ref": "#/$defs/Range"},
    ]
}

SCENARIO_TABLE = {
    "description": "A scenario, given by its name, its effects or a file, with its parameters.",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name of a scenario; its parameters are keys of the same table."},
        "effects": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "Combined effects; their parameters are keys of the same table.",
        },
        "trace": {"type": "string", "description": f"{STUDY['trace']} Relative to the study file."},
        "log": {"type": "string", "description": f"{STUDY['log']} Relative to the study file."},
        "window": {**COUNT_SCHEMA, "minimum": 1, "description": STUDY["window"]},
        "keep_state": {"type": "boolean", "description": STUDY["keep_state"]},
        "minimize": {"type": "boolean", "description": STUDY["minimize"]},
        "estimator": {"enum": list(ESTIMATORS), "description": STUDY["estimator"]},
        "columns": {"type": ["object", "string"], "description": STUDY["columns"]},
    },
    "oneOf": [{"required": [key]} for key in ("name", "effects", "trace", "log")],
    "additionalProperties": {"anyOf": [SINGLE_VALUE, {"type": "object", "additionalProperties": SINGLE_VALUE}]},
}


def study_file_schema() -> dict[str, Any]:
    """Return the schema as a JSON object.

    >>> list(study_file_schema()["properties"])
    ['study', 'robust']
    """
    fields = _study_fields()
    shared = {key: field for key, field in fields.items() if key not in SINGLE_SCENARIO_FIELDS}
    robust = RobustSpec.model_json_schema()["properties"]
    names = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": MAX_SCENARIOS}
    ranges = {key: value for key, value in Range.model_json_schema().items() if key != "title"}
    ranges["properties"] = {key: _without_null(field) for key, field in ranges["properties"].items()}
    ranges["properties"]["scale"].pop("default")
    ranges["properties"]["scale"]["description"] = "Scale of the search; the policy's default if absent."
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
                "description": "A study. Lists of scenarios and horizons create one study per combination.",
                "type": "object",
                "anyOf": [{"required": ["scenario"]}, {"required": ["trace"]}, {"required": ["log"]}],
                "additionalProperties": False,
                "properties": fields,
            },
            "Robust": {
                "description": "A search for one setting that works on several scenarios.",
                "type": "object",
                "required": ["scenarios"],
                "additionalProperties": False,
                "properties": {
                    "scenarios": {**names, "description": robust["scenarios"]["description"]},
                    "measure": _without_null(robust["measure"]),
                    **shared,
                    "sampler": {**fields["sampler"], "enum": robust_samplers()},
                },
            },
            "Scenario": SCENARIO_TABLE,
            "Range": ranges,
        },
    }


def _study_fields() -> dict[str, Any]:
    """Return the fields of a study, extended by the short forms and lists that files allow."""
    properties = StudySpec.model_json_schema()["properties"]
    fields: dict[str, Any] = {key: _without_null(properties[key]) for key in properties if key in STUDY_FIELDS}
    horizon = {key: value for key, value in fields["horizon"].items() if key != "description"}
    fields["horizon"] = {
        "description": f"{STUDY['horizon']} A list creates one study per horizon.",
        "anyOf": [horizon, {"type": "array", "items": horizon, "minItems": 1}],
    }
    single = [{"type": "string"}, {"$ref": "#/$defs/Scenario"}]
    fields["scenario"] = {
        "description": "A name, effects joined by '+', a table, or a list of these.",
        "anyOf": [*single, {"type": "array", "items": {"anyOf": single}, "minItems": 1}],
    }
    fields["settings"]["additionalProperties"] = SINGLE_VALUE
    fields["fixed"]["additionalProperties"] = SINGLE_VALUE
    fields["space"] = {
        "type": "object",
        "description": f"{STUDY['space']} A single value fixes the parameter.",
        "additionalProperties": RANGE_OR_VALUE,
    }
    noise = {
        "type": "string",
        "enum": list(NOISES),
        "description": f"{STUDY['noise']} Short for the setting of the same name.",
    }
    names = list(fields)
    names.insert(names.index("settings") + 1, "noise")
    return {name: {**fields, "noise": noise}[name] for name in names}


def schema_text() -> str:
    """Return the schema as it is shipped."""
    return json.dumps(study_file_schema(), indent=2, ensure_ascii=False) + "\n"


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """Remove null from a field: TOML has none, and optional keys are left out."""
    out = {key: value for key, value in field.items() if key != "title" and not (key == "default" and value is None)}
    if "anyOf" in out:
        (only,) = [option for option in out.pop("anyOf") if option != {"type": "null"}]
        out |= only
    return out


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
