"""The sections of Figure 3 and of the advice: figures with alt texts, words with the tables' numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboards.figures import explain
from dashboards.reproduction import advice, figure3
from dashboards.reproduction.section import Section
from environments.text import format_number
from studies.reproduction.document import Document
from tests.dashboards.drawn import check, shown_text
from tuning.crew import LocalCrew
from tuning.reproduction.context import Context
from tuning.reproduction.running import reproduce


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    folder: Path = tmp_path_factory.mktemp("sections")
    context = Context(0, 2, ("published",), LocalCrew(2), f"sqlite:///{folder}/searches.sqlite3")
    return reproduce(["figure3", "advice"], context, folder)


def _checked(section: Section) -> Section:
    for name, figure in section.figures:
        check(figure, most=60_000, title=("K = 10", "R = "))
        assert explain(figure), name
    for table in section.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert section.claimed
    assert section.did
    assert section.found
    return section


def test_the_section_of_figure_3(document: Document) -> None:
    outcome = document.outcomes["figure3"]
    section = _checked(figure3.section(outcome, document))
    figures = dict(section.figures)
    assert len(figures) == 6
    for row in outcome.tables["optima"]:
        assert any(
            f"{row['printed_regret']:g}" in cells and row["scenario"] in cells for cells in section.tables[0].rows
        )
        assert f"printed {row['printed_regret']:g}, here {format_number(row['regret'])}" in explain(
            figures["figure3-lines-published"]
        )
    stars = [trace for trace in figures["figure3-lines-published"].data if trace.name == "optimum as printed"]
    assert [star.y[0] for star in stars] == outcome.tables["optima"].column("printed_regret")
    assert [star.showlegend for star in stars] == [True] + [False] * 5
    assert "one and the same" in " ".join(section.found)
    among = sum(outcome.tables["optima"].column("among_best"))
    assert f"{among} of the 6 printed cells" in " ".join(section.found)


def test_the_heat_maps_show_every_cell(document: Document) -> None:
    cells = document.outcomes["figure3"].tables["cells"]
    section = figure3.section(document.outcomes["figure3"], document)
    text = shown_text(check(dict(section.figures)["figure3-heat-maps-published"], most=60_000, title=()))
    assert all(f"{value:.3g}" in text for value in cells.column("regret"))


def test_the_section_of_the_advice(document: Document) -> None:
    costs = document.outcomes["advice"].tables["costs"]
    section = _checked(advice.section(document.outcomes["advice"], document))
    ((_, figure),) = section.figures
    assert list(figure.data[0].x) == pytest.approx([100 * value for value in costs.column("cost")], rel=1e-4)
    assert len(section.tables[0].rows) == len(costs) == 4
    dearest = max(costs.column("cost"))
    assert f"{100 * dearest:.1f} %" in section.found[0]
