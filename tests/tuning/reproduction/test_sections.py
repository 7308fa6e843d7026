"""Sections of the page: every figure is complete, and the text contains the numbers of the tables."""

import json
import re
from pathlib import Path

import pytest

from ravenlab.common.text import format_approximate, format_number
from ravenlab.dashboards.figures import get_alt_text
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.tables import select_row, to_records
from ravenlab.tuning.reproduction import find_experiment
from ravenlab.tuning.reproduction.context import RunContext
from ravenlab.tuning.reproduction.logistics import LINE_STYLES, NAMES
from ravenlab.tuning.reproduction.measurements import format_measurement, read_measurement
from ravenlab.tuning.reproduction.runner import reproduce
from tests.dashboards.figure_checks import check_figure, legend_names, shown_text
from tests.tuning.reproduction.synthetic import (
    logistics_context,
    make_bounds_result,
    make_figure2_pieces,
    make_logistics_pieces,
    run_experiment,
    small_context,
    to_reproduction,
)

BOTH = ("published", "defined")
PROTOCOLS = [("published",), ("defined",), BOTH]


def make_section(context: RunContext, name: str, result: ExperimentResult) -> ReproductionSection:
    return find_experiment(name).section(result, to_reproduction(context, name, result))


def check_section(section: ReproductionSection, most: int = 70_000, title: tuple[str, ...] = ()) -> str:
    """Check figures and tables; return the text."""
    keys = [key for key, _ in section.figures]
    assert len(set(keys)) == len(keys)
    for key, figure in section.figures:
        assert re.fullmatch(r"[a-z0-9-]+", key)
        check_figure(figure, most=most, title=title)
        assert len(get_alt_text(figure)) > 100
    for table in section.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
    for part in (section.claims, section.methods, section.results):
        assert part
    text = " ".join([*section.claims, *section.methods, *section.results])
    assert not re.search(r"\b(nan|None|inf)\b", text)
    return text


@pytest.mark.parametrize("protocols", PROTOCOLS, ids="+".join)
def test_figure1(protocols: tuple[str, ...]) -> None:
    context = small_context(protocols)
    result = run_experiment("figure1", context)
    section = make_section(context, "figure1", result)
    text = check_section(section)
    assert len(section.figures) == 3
    for statistic in ("mean", "variance"):
        row = select_row(result.tables["spreads"], protocol=protocols[-1], statistic=statistic, n=1000)
        assert format_number(row["spread"]) in text
    share = select_row(result.tables["below"], protocol=protocols[-1], n=5)["share"]
    assert f"above the true variance in {100 * (1 - share):.1f} %" in text


@pytest.mark.parametrize("protocols", PROTOCOLS[1:], ids="+".join)
def test_table1(protocols: tuple[str, ...]) -> None:
    context = small_context(protocols)
    result = run_experiment("table1", context)
    section = make_section(context, "table1", result)
    text = check_section(section)
    assert len(section.figures) == (10 if "published" in protocols else 7)
    for row in to_records(result.tables["checks"]):
        assert f"In {row['violations']} of {row['worlds']} worlds of 10,000 steps {row['violation']}" in text
    assert [row[0] for row in section.tables[0].rows][:2] == ["Incremental Drift", "Variance Drift"]


@pytest.mark.parametrize("protocols", PROTOCOLS, ids="+".join)
def test_figure2(protocols: tuple[str, ...]) -> None:
    context = small_context(protocols, replications=10)
    result = find_experiment("figure2").assemble(context, json.loads(json.dumps(make_figure2_pieces(context))))
    section = make_section(context, "figure2", result)
    text = check_section(section, most=25_000, title=("T = ", "K = 10"))
    reduction = section.figures[0][1]
    assert len(section.figures) == 1 + ("published" in protocols)
    assert len(legend_names(reduction)) == ("published" in protocols) + 2 * ("defined" in protocols) + 2
    for line in protocols:
        row = select_row(result.tables["reduction"], line=line, horizon=5000)
        assert f"at T = 5,000 is {format_measurement(read_measurement(row, 'reduction'))}" in text
    assert bool(reduction.layout.shapes) == ("defined" in protocols)
    assert len(section.tables[0].rows) == (27 if "defined" in protocols else 23)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> ReproductionResult:
    """Figure 3 and the advice as published, at the smallest precision."""
    folder: Path = tmp_path_factory.mktemp("sections")
    context = small_context(("published",), jobs=2, url=f"sqlite:///{folder}/searches.sqlite3")
    return reproduce(["figure3", "advice"], context, folder)


def test_figure3(published: ReproductionResult) -> None:
    result = published.experiments["figure3"]
    section = find_experiment("figure3").section(result, published)
    text = check_section(section, title=("K = 10", "R = "))
    figures = dict(section.figures)
    assert len(figures) == 5
    lines = figures["figure3-lines-published"]
    for row in to_records(result.tables["optima"]):
        assert any(
            f"{row['printed_regret']:g}" in cells and row["scenario"] in cells for cells in section.tables[0].rows
        )
        assert f"printed {row['printed_regret']:g}, here {format_number(row['regret'])}" in get_alt_text(lines)
    stars = [trace for trace in lines.data if trace.name == "printed optimum"]
    assert [star.y[0] for star in stars] == result.tables["optima"]["printed_regret"].tolist()
    assert [star.showlegend for star in stars] == [True] + [False] * 5
    for trace in lines.data:  # all points are inside their panels
        low, high = lines.layout[f"yaxis{(trace.yaxis or 'y')[1:]}"].range
        if trace.mode and "markers" in trace.mode:
            assert all(10**low < y < 10**high for y in trace.y if y is not None)
    assert "are the same stationary problem" in text
    assert f"{sum(result.tables['optima']['among_best'].tolist())} of the 6 printed cells" in text
    heat_maps = shown_text(check_figure(figures["figure3-heat-maps-published"], most=60_000, title=()))
    assert all(f"{value:.3g}" in heat_maps for value in result.tables["cells"]["regret"].tolist())


def test_advice(published: ReproductionResult) -> None:
    costs = published.experiments["advice"].tables["costs"]
    section = find_experiment("advice").section(published.experiments["advice"], published)
    text = check_section(section, title=("K = 10", "R = "))
    ((_, figure),) = section.figures
    assert list(figure.data[0].x) == pytest.approx([100 * value for value in costs["cost"].tolist()], rel=1e-4)
    assert len(section.tables[0].rows) == len(costs) == 4
    assert all(f"{100 * cost:.1f} %" in text for cost in costs["cost"].tolist())


@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize("protocols", PROTOCOLS, ids="+".join)
def test_bounds(protocols: tuple[str, ...], tail: bool) -> None:
    context = small_context(protocols)
    result = make_bounds_result(context, tail=tail)
    section = make_section(context, "bounds", result)
    text = check_section(section)
    assert len(section.figures) == 5
    assert f"a linear tail in {3 if tail else 0} of 3 problems" in text
    assert format_approximate(1_000_000) in text


def make_logistics_section(
    name: str, protocols: tuple[str, ...] = BOTH
) -> tuple[ReproductionSection, ExperimentResult]:
    context = logistics_context(protocols, worlds=10)
    result = find_experiment(name).assemble(context, make_logistics_pieces(context))
    return make_section(context, name, result), result


@pytest.mark.parametrize("protocols", PROTOCOLS, ids="+".join)
@pytest.mark.parametrize(("name", "figures"), [("table3", (3, 3, 4)), ("figure4", (2, 2, 4)), ("figure5", (1, 2, 3))])
def test_logistics(name: str, figures: tuple[int, int, int], protocols: tuple[str, ...]) -> None:
    section, _ = make_logistics_section(name, protocols)
    check_section(section)
    assert len(section.figures) == figures[PROTOCOLS.index(protocols)]


def test_policies_differ_in_color_or_dash() -> None:
    assert set(LINE_STYLES) == set(NAMES)
    assert len({(line["color"], line["dash"]) for line in LINE_STYLES.values()}) == len(LINE_STYLES)


def test_table3_shows_the_numbers_of_its_tables() -> None:
    section, result = make_logistics_section("table3")
    scores = result.tables["scores"]
    reasons = [verdict.reason for verdict in result.verdicts if not verdict.claim.group]
    assert all(reason in " ".join(section.results) for reason in reasons)
    search = result.facts["search"]
    assert f"{search['trials']} trials × {search['replications']} replications" in " ".join(section.methods)
    regret = section.tables[0]
    paper = regret.columns.index("paper")
    assert [row[paper] for row in regret.cells][:2] == ["1,717.8", "5,446.1"]
    tuned = select_row(scores, comparison="tuned", measure="regret", policy="ccb")
    assert regret.cells[7][-1].startswith(f"{tuned['mean']:,.0f} ± {tuned['error']:,.0f}")


def test_figure4_marks_the_printed_ends_and_orders_the_legend_by_regret() -> None:
    section, _ = make_logistics_section("figure4")
    first = dict(section.figures)["figure4-published-regret-constant-reward"]
    (ends,) = [trace for trace in first.data if trace.name == "printed in the paper" and trace.showlegend]
    assert 1717.8 in ends.y
    legend = [
        trace.name for trace in first.data if trace.mode == "lines" and trace.showlegend and trace.x[0] is not None
    ]
    assert legend[0] == "UCB-Imp"
    assert legend[-1] == "RAVEN-UCB"


def test_figure5_marks_the_printed_means() -> None:
    section, result = make_logistics_section("figure5")
    figures = dict(section.figures)
    printed = [trace for trace in figures["figure5-published"].data if trace.name == "printed in the paper"]
    assert [trace.x[0] for trace in printed] == [1717.8, 38276.8, 40824.2]
    assert not [trace for trace in figures["figure5-tuned"].data if trace.name == "printed in the paper"]
    box = select_row(result.tables["boxes"], comparison="published", measure="regret", policy="raven-ucb")
    assert f"{box['low']:,.0f} to {box['high']:,.0f} in 90 % of the worlds" in section.results[0]
