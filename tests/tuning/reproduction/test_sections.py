"""The sections of Figure 1, Table 1 and the bounds: figures are whole, and words say what the tables hold."""

from __future__ import annotations

import re

import pytest

from dashboards.pages.reproduction.page import ReproductionSection
from environments.text import format_approximate, format_number
from studies.tables import select_row, to_records
from tests.dashboards.drawn import check
from tests.tuning.reproduction.made_pieces import document, made_bounds, run, small
from tuning.reproduction import find_experiment

PROTOCOLS = [("published",), ("defined",), ("published", "defined")]


def whole(section: ReproductionSection, figures: int, most: int = 60_000) -> str:
    """All words of a section whose figures and tables are as they must be."""
    assert len(section.figures) == figures
    for _, figure in section.figures:
        check(figure, most=most, title=())
    for table in section.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
    words = " ".join([*section.claims, *section.methods, *section.results])
    assert not re.search(r"\b(nan|None|inf)\b", words)
    return words


@pytest.mark.parametrize("protocols", PROTOCOLS, ids="+".join)
def test_figure1(protocols: tuple[str, ...]) -> None:
    context = small(protocols)
    outcome = run("figure1", context)
    words = whole(find_experiment("figure1").section(outcome, document(context, "figure1", outcome)), figures=3)
    for statistic in ("mean", "variance"):
        row = select_row(outcome.tables["spreads"], protocol=protocols[-1], statistic=statistic, n=1000)
        assert format_number(row["spread"]) in words
    share = select_row(outcome.tables["below"], protocol=protocols[-1], n=5)["share"]
    assert f"above the true variance in {100 * (1 - share):.1f} %" in words


@pytest.mark.parametrize("protocols", PROTOCOLS[1:], ids="+".join)
def test_table1(protocols: tuple[str, ...]) -> None:
    context = small(protocols)
    outcome = run("table1", context)
    section = find_experiment("table1").section(outcome, document(context, "table1", outcome))
    words = whole(section, figures=10 if "published" in protocols else 7)
    for row in to_records(outcome.tables["checks"]):
        assert f"In {row['violations']} of {row['worlds']} worlds of 10,000 steps {row['violation']}" in words
    assert [row[0] for row in section.tables[0].rows][:2] == ["Incremental Drift", "Variance Drift"]


@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize("protocols", PROTOCOLS, ids="+".join)
def test_bounds(protocols: tuple[str, ...], tail: bool) -> None:
    context = small(protocols)
    outcome = made_bounds(context, tail=tail)
    words = whole(find_experiment("bounds").section(outcome, document(context, "bounds", outcome)), figures=5)
    assert ("a linear tail from T = 10" in words) is tail
    assert ("no linear tail" in words) is not tail
    assert format_approximate(1_000_000) in words
    for protocol in protocols:
        regret = select_row(outcome.tables["regret"], problem="gaussian", player=f"raven-{protocol}", T=1_000_000)[
            "regret"
        ]
        assert f"a final regret of {format_number(regret)}" in words
