"""Shipped study files and the template of `ravenlab init`."""

import tomllib
from pathlib import Path

import pytest

from ravenlab.common.errors import InputError
from ravenlab.studies.spec.files import FOLDER, find_study_file, load_study_file, shipped_studies, study_template
from ravenlab.studies.spec.parse import STUDY_FIELDS
from ravenlab.studies.spec.study import StudySpec
from tests.messages import raises_naming


def test_quick_studies_are_short() -> None:
    assert sum(spec.simulated_steps() for spec in load_study_file(find_study_file("quick"))) < 6e8


def test_shipped_studies_with_the_same_name_are_comparable() -> None:
    specs_by_name: dict[str, StudySpec] = {}
    for name in shipped_studies():
        for spec in load_study_file(find_study_file(name)):
            other = specs_by_name.setdefault(spec.study_name(), spec)
            assert spec.differences(other) == []


def test_study_files_are_found_by_name_or_path(here: Path) -> None:
    Path("quick").write_text("")
    assert find_study_file("quick") == FOLDER / "quick.toml"
    assert find_study_file("./quick") == Path("quick")
    assert find_study_file(Path("quick")) == Path("quick")
    for name, expected in [
        ("quik", ["'quik'", "'quick'"]),
        ("none.toml", ["none.toml"]),
        ("no/where", ["no/where"]),
        ("x" * 5000, []),
    ]:
        with raises_naming(InputError, *expected):
            find_study_file(name)
    with pytest.raises(InputError):
        load_study_file(find_study_file(""))


def test_the_template_mentions_every_field() -> None:
    text = study_template()
    for field in (*STUDY_FIELDS, "effects", "low", "high", "scale", "window"):
        assert f"{field} = " in text or f"[study.{field}]" in text, field


def test_commented_lines_of_the_template_are_the_defaults() -> None:
    lines = study_template().splitlines()
    shown = [line.removeprefix("# ") for line in lines if line.startswith("# ") and " = " in line]
    tables = tomllib.loads("\n".join(line for line in shown if line.split(" = ")[0].isidentifier()))
    examples = {"name", "settings", "arms", "noise", "epsilon", "variance"}
    defaults = {key: field.default for key, field in StudySpec.model_fields.items()}
    assert {key: value for key, value in tables.items() if key not in examples} == {
        key: defaults[key] for key in tables if key not in examples
    }
    assert len(tables) >= 10
