"""The sections of Figure 3 and of the advice: figures with alt texts, words with the tables' numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboards.figures import get_alt_text
from dashboards.pages.reproduction import ReproductionSection
from environments.text import format_number
from studies.paper.results import ReproductionResult
from studies.tables import to_records
from tests.dashboards.drawn import check, shown_text
from tuning.reproduction import find_experiment
from tuning.reproduction.context import RunContext
from tuning.reproduction.runner import reproduce
from tuning.workers.local import LocalWorkers


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> ReproductionResult:
    folder: Path = tmp_path_factory.mktemp("sections")
    context = RunContext(0, 2, ("published",), LocalWorkers(2), f"sqlite:///{folder}/searches.sqlite3")
    return reproduce(["figure3", "advice"], context, folder)


def _checked(section: ReproductionSection) -> ReproductionSection:
    for name, figure in section.figures:
        check(figure, most=60_000, title=("K = 10", "R = "))
        assert get_alt_text(figure), name
    for table in section.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert section.claims
    assert section.methods
    assert section.results
    return section


def test_the_section_of_figure_3(document: ReproductionResult) -> None:
    outcome = document.experiments["figure3"]
    section = _checked(find_experiment("figure3").section(outcome, document))
    figures = dict(section.figures)
    assert len(figures) == 6
    for row in to_records(outcome.tables["optima"]):
        assert any(
            f"{row['printed_regret']:g}" in cells and row["scenario"] in cells for cells in section.tables[0].rows
        )
        assert f"printed {row['printed_regret']:g}, here {format_number(row['regret'])}" in get_alt_text(
            figures["figure3-lines-published"]
        )
    stars = [trace for trace in figures["figure3-lines-published"].data if trace.name == "printed optimum"]
    assert [star.y[0] for star in stars] == outcome.tables["optima"]["printed_regret"].tolist()
    assert [star.showlegend for star in stars] == [True] + [False] * 5
    assert "are the same problem" in " ".join(section.results)
    among = sum(outcome.tables["optima"]["among_best"].tolist())
    assert f"{among} of the 6 printed cells" in " ".join(section.results)


def test_the_heat_maps_show_every_cell(document: ReproductionResult) -> None:
    cells = document.experiments["figure3"].tables["cells"]
    section = find_experiment("figure3").section(document.experiments["figure3"], document)
    text = shown_text(check(dict(section.figures)["figure3-heat-maps-published"], most=60_000, title=()))
    assert all(f"{value:.3g}" in text for value in cells["regret"].tolist())


def test_the_section_of_the_advice(document: ReproductionResult) -> None:
    costs = document.experiments["advice"].tables["costs"]
    section = _checked(find_experiment("advice").section(document.experiments["advice"], document))
    ((_, figure),) = section.figures
    assert list(figure.data[0].x) == pytest.approx([100 * value for value in costs["cost"].tolist()], rel=1e-4)
    assert len(section.tables[0].rows) == len(costs) == 4
    dearest = max(costs["cost"].tolist())
    assert f"{100 * dearest:.1f} %" in section.results[0]
