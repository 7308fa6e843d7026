"""The sections of Table 3 and Figures 4 and 5: figures with alt texts, and words whose numbers are the tables'."""

from __future__ import annotations

import re

import pytest

from dashboards.figures import explain
from dashboards.pages.reproduction.page import ReproductionSection
from studies.paper.results import ExperimentResult, ReproductionResult
from studies.tables import select_row
from tests.dashboards.drawn import check
from tests.tuning.reproduction.made_logistics import context, made
from tuning.reproduction import find_experiment
from tuning.reproduction.logistics import LINE_STYLES, NAMES

BOTH = ("published", "defined")


def shown(name: str, protocols: tuple[str, ...] = BOTH) -> tuple[ReproductionSection, ExperimentResult]:
    experiment = find_experiment(name)
    where = context(protocols, worlds=10)
    outcome = experiment.assemble(where, made(where))
    return experiment.section(outcome, ReproductionResult(1, 10, protocols, {name: outcome})), outcome


@pytest.mark.parametrize("protocols", [("published",), ("defined",), BOTH])
@pytest.mark.parametrize(("name", "figures"), [("table3", (3, 3, 4)), ("figure4", (2, 2, 4)), ("figure5", (1, 2, 3))])
def test_every_figure_stands(name: str, figures: tuple[int, int, int], protocols: tuple[str, ...]) -> None:
    section, _ = shown(name, protocols)
    assert len(section.figures) == figures[2 if len(protocols) == 2 else ("published", "defined").index(protocols[0])]
    keys = [key for key, _ in section.figures]
    assert len(set(keys)) == len(keys)
    for key, figure in section.figures:
        assert re.fullmatch(r"[a-z0-9-]+", key)
        check(figure, most=70_000, title=())
        assert len(explain(figure)) > 100
    assert section.claims
    assert section.methods
    assert section.results


def test_lines_can_be_told_apart() -> None:
    assert set(LINE_STYLES) == set(NAMES)
    assert len({(line["color"], line["dash"]) for line in LINE_STYLES.values()}) == len(LINE_STYLES)


def test_words_have_the_numbers_of_the_tables() -> None:
    section, outcome = shown("table3")
    scores = outcome.tables["scores"]
    words = " ".join(section.results)
    for comparison in ("published", "defaults", "tuned"):
        measure = "regret_constant" if comparison == "published" else "regret"
        mean = select_row(scores, comparison=comparison, measure=measure, policy="raven-ucb")["mean"]
        assert f"has a mean regret of {mean:,.0f} and ranks 1 of 9" in words
    search = outcome.facts["search"]
    assert f"{search['trials']} trials × {search['replications']} replications" in " ".join(section.methods)
    regret = section.tables[0]
    paper = regret.columns.index("paper")
    assert [row[paper] for row in regret.rows][:2] == ["1,717.8", "5,446.1"]
    tuned = select_row(scores, comparison="tuned", measure="regret", policy="ccb")
    assert regret.rows[7][-1].startswith(f"{tuned['mean']:,.0f} ± {tuned['error']:,.0f}")
    assert all(len(row) == len(table.columns) for table in section.tables for row in table.rows)


def test_curves_carry_the_papers_ends_and_follow_the_order_of_the_lines() -> None:
    section, _ = shown("figure4")
    first = dict(section.figures)["figure4-published-regret-constant-reward"]
    (ends,) = [trace for trace in first.data if trace.name == "printed in the paper" and trace.showlegend]
    assert 1717.8 in ends.y
    legend = [
        trace.name for trace in first.data if trace.mode == "lines" and trace.showlegend and trace.x[0] is not None
    ]
    assert legend[0] == "UCB-Imp"
    assert legend[-1] == "RAVEN-UCB"


def test_boxes_mark_the_papers_means_beside_ours() -> None:
    section, outcome = shown("figure5")
    published = dict(section.figures)["figure5-published"]
    marked = [trace for trace in published.data if trace.name == "printed in the paper"]
    assert [trace.x[0] for trace in marked] == [1717.8, 38276.8, 40824.2]
    assert not [trace for trace in dict(section.figures)["figure5-tuned"].data if trace.name == "printed in the paper"]
    box = select_row(outcome.tables["boxes"], comparison="published", measure="regret", policy="raven-ucb")
    assert f"{box['low']:,.0f} to {box['high']:,.0f} in 90 % of the worlds" in section.results[0]
