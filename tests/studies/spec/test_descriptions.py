"""Fields have one description: in models, in the options of the command line and in the template of study files."""

from collections.abc import Mapping

import pytest

from ravenlab.studies.spec import descriptions
from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.spec.fields import Specification
from ravenlab.studies.spec.files import study_template
from ravenlab.studies.spec.grid import GridSpec
from ravenlab.studies.spec.robust import RobustSpec
from ravenlab.studies.spec.study import StudySpec
from tools.docs.commands import list_commands

GRID = {**descriptions.STUDY, **descriptions.GRID}
COMPARISON = {**descriptions.STUDY, **descriptions.COMPARISON}
TUNE = {**descriptions.STUDY, **descriptions.ROBUST}
OPTIONS = {"settings": "set", "space": "range", "fixed": "fix"}
"""Fields whose option has another name."""


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (StudySpec, descriptions.STUDY),
        (RobustSpec, descriptions.ROBUST),
        (GridSpec, GRID),
        (ComparisonSpec, COMPARISON),
    ],
)
def test_models_take_their_descriptions_from_the_table(model: type[Specification], table: Mapping[str, str]) -> None:
    for name, field in model.model_fields.items():
        assert name == "base" or (field.description or "").startswith(table[name].removesuffix(".")), name


@pytest.mark.parametrize(("command", "table"), [("tune", TUNE), ("grid", GRID), ("compare", COMPARISON)])
def test_options_take_their_descriptions_from_the_table(command: str, table: Mapping[str, str]) -> None:
    helps = {param.opts[0]: param.help for param in list_commands()[command][0].params if param.opts[0][:2] == "--"}
    names = {field: f"--{OPTIONS.get(field, field).replace('_', '-')}" for field in table}
    given = {field: helps[name] for field, name in names.items() if name in helps}
    assert len(given) > 8
    for field, text in given.items():
        assert text.startswith(table[field].removesuffix(".")), field


def test_template_describes_its_fields() -> None:
    template = study_template()
    for field in ("policy", "horizon", "arms", "trials", "batch", "selection", "report", "seed", "name"):
        assert f"# {descriptions.STUDY[field]}" in template
