"""The section on Figure 2: its words and figures say what its tables hold."""

from __future__ import annotations

import json

import pytest

from studies.paper.results import ReproductionResult
from studies.tables import select_row
from tests.dashboards.drawn import check, names
from tests.tuning.reproduction.made_figure2 import made
from tuning.reproduction import PROTOCOLS
from tuning.reproduction.context import RunContext
from tuning.reproduction.figure2 import EXPERIMENT
from tuning.reproduction.measurements import format_measurement, read_measurement
from tuning.workers.local import LocalCrew


@pytest.mark.parametrize("protocols", [PROTOCOLS, PROTOCOLS[:1], PROTOCOLS[1:]])
def test_words_and_figures_are_those_of_the_tables(protocols: tuple[str, ...]) -> None:
    context = RunContext(0, 10, protocols, LocalCrew(1), "")
    outcome = EXPERIMENT.assemble(context, json.loads(json.dumps(made(context))))
    shown = EXPERIMENT.section(outcome, ReproductionResult(0, 10, protocols, {"figure2": outcome}))
    for _, figure in shown.figures:
        check(figure, title=("T = ", "K = 10"))
    entries = names(shown.figures[0][1])
    assert len(shown.figures) == 1 + ("published" in protocols)
    assert len(entries) == ("published" in protocols) + 2 * ("defined" in protocols) + 2
    text = " ".join(shown.results)
    for line in protocols:
        row = select_row(outcome.tables["reduction"], line=line, horizon=5000)
        assert f"{format_measurement(read_measurement(row, 'reduction'))} at T = 5,000" in text
    assert bool(shown.figures[0][1].layout.shapes) == ("defined" in protocols)
    rows = shown.tables[0].rows
    assert len(rows) == (27 if "defined" in protocols else 23)
    assert all(len(row) == len(shown.tables[0].columns) for row in rows)
