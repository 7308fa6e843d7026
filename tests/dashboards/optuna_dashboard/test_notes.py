"""Notes in a storage: whatever a name is, it is shown as it is."""

from __future__ import annotations

from dashboards.optuna_dashboard.notes import code, escape, study_note
from studies.spec.study import StudySpec
from tests.studies.examples import LINES, WILD, make_recommendation


def test_wild_names_are_shown_as_they_are() -> None:
    assert escape("a_b*c|d <script>&amp;\n#") == "a\\_b\\*c\\|d \\<script\\>\\&amp; \\#"
    assert code("``") == "``` `` ```"
    for name in (WILD, LINES):
        spec = StudySpec(scenario="blips", horizon=100, settings={"noise": "laplace"})
        note = study_note(spec, make_recommendation(study=name, scenario=name, settings={name: name}), 3)
        assert all(line.startswith(("#", "-", "`")) for line in note.splitlines() if line)
        assert "\n<" not in note
        assert "\x1b" not in note
