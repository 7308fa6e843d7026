"""The JSON Schema of study files."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ravenlab.studies.spec.files import FOLDER, load_study_file, study_template
from ravenlab.studies.spec.schema import PATH, schema_text, study_file_schema


def test_the_schema_is_current() -> None:
    assert PATH.read_text(encoding="utf-8") == schema_text(), "run python -m ravenlab.studies.spec.schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_files_are_valid_for_the_schema(path: Path) -> None:
    assert load_study_file(path)
    jsonschema.validate(tomllib.loads(path.read_text(encoding="utf-8")), study_file_schema())


def test_the_template_is_valid_for_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(study_template(), encoding="utf-8")
    assert load_study_file(path)
    jsonschema.validate(tomllib.loads(study_template()), study_file_schema())


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"study": []},
        {"study": [{}]},
        {"study": [{"scenario": "blips", "horzon": 5}]},
        {"study": [{"scenario": []}]},
        {"study": [{"scenario": {"every": 5}}]},
        {"study": [{"scenario": {"name": "blips", "effects": ["blips"]}}]},
        {"study": [{"scenario": "blips", "horizon": 0}]},
        {"study": [{"scenario": "blips", "trials": "many"}]},
        {"study": [{"scenario": "blips", "space": {"alpha0": [1]}}]},
        {"study": [{"scenario": "blips", "space": {"alpha0": {"low": 1}}}]},
    ],
)
def test_invalid_documents_are_rejected(document: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, study_file_schema())
