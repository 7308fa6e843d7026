"""The comparison page in a browser: every figure is drawn, without network requests or overflow."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from ravenlab.common.interval import ERROR_RATE
from ravenlab.common.text import format_p_value
from ravenlab.dashboards.figures import plot_comparison_curves, plot_ranking
from ravenlab.dashboards.pages.comparison import build_comparison, render_comparison
from ravenlab.studies.export.comparison import ComparisonDocument
from ravenlab.studies.results.comparison import Comparison, ComparisonEntry, RegretCurve
from ravenlab.studies.results.describe_comparison import order_by_relative_regret
from ravenlab.studies.results.ranking import analyze_comparison
from ravenlab.studies.spec.comparison import ComparisonSpec
from tests.dashboards.browser import find_violations
from tests.messages import assert_names

if TYPE_CHECKING:
    from playwright.sync_api import Page


POLICIES = ("raven-ucb", "sw-raven", "ucb1", "thompson", "epsilon-greedy", "ccb", "softmax", "d-ucb", "ucb-v")


def make_comparison(scenario: str, shift: int) -> Comparison:
    """Make a comparison in twelve worlds whose policies differ by a few percent."""
    spec = ComparisonSpec(scenario=scenario, horizon=1000, policies=POLICIES, tune=20, replications=12)
    rng = np.random.default_rng(shift)
    worlds = rng.gamma(9.0, 4.0, size=12)
    entries = []
    for number, (policy, setting) in enumerate(spec.entries()):
        place = (number + shift) % len(POLICIES)
        regret = worlds * (1.0 + 0.1 * place + 0.5 * (setting == "defaults")) + rng.normal(0.0, 1.0, 12)
        steps = list(range(50, 1001, 50))
        curve = RegretCurve.of(steps, regret[:, None] * np.sqrt(np.array(steps) / 1000.0))
        trials, replications = (spec.tune, spec.search_replications) if setting == "tuned" else (0, 0)
        params = spec.resolve_params(policy, {})
        entries.append(
            ComparisonEntry(policy, setting, params, regret, curve, trials, replications, nanoseconds=100.0 + number)
        )
    return Comparison(spec, spec.study_name(), tuple(entries))


@pytest.fixture(scope="module")
def document() -> ComparisonDocument:
    return ComparisonDocument(
        tuple(analyze_comparison(make_comparison(name, i)) for i, name in enumerate(("blips", "periodic", "arm-churn")))
    )


@pytest.fixture(scope="module")
def page_file(document: ComparisonDocument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "compare.html"
    path.write_text(render_comparison(document), encoding="utf-8")
    return path


def test_the_page_is_drawn_offline_and_fits(page_file: Path, document: ComparisonDocument, offline_page: Page) -> None:
    page = offline_page
    page.goto(page_file.as_uri())
    plots = page.locator(".plot")
    assert plots.count() == 1 + 3 * (2 + 2 * 2)
    for i in range(plots.count()):
        assert len(plots.nth(i).get_attribute("aria-label") or "") > 60
    for i in (0, 1, 2, 3):
        plots.nth(i).scroll_into_view_if_needed()
        page.wait_for_function("i => document.querySelectorAll('.plot')[i].querySelector('.main-svg')", arg=i)
    lead = page.locator(".lead").first.inner_text()
    best = [result.main.best.policy for result in document.results]
    assert len(set(best)) == 3
    for policy in best:
        among = sum(result.main.find(policy).among_the_best for result in document.results)
        assert_names(lead, f"{policy} is best in 1 of 3 cases and best or indistinguishable from the best in {among}")
    overview = page.locator("section table").first.locator("tbody tr")
    shown = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in overview.all()}
    assert list(shown) == order_by_relative_regret(document.results)
    for policy, cells in shown.items():
        assert [cell.endswith("★") for cell in cells[-3:]] == [policy == winner for winner in best]
    assert "20 trials × 50 worlds" in page.locator("main").inner_text()
    heading = page.locator("section table").first.locator("thead th").first
    page.emulate_media(media="print")
    assert heading.inner_text() == "Policy"
    assert heading.locator("span").is_visible()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 400")


@pytest.fixture(scope="module")
def single_file(document: ComparisonDocument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "compare.html"
    path.write_text(render_comparison(ComparisonDocument(document.results[:1])), encoding="utf-8")
    return path


def test_one_case_begins_with_its_decision_and_ranking(
    single_file: Path, document: ComparisonDocument, offline_page: Page
) -> None:
    page = offline_page
    page.goto(single_file.as_uri())
    board = document.results[0].main
    (lead,) = page.locator(".lead").all_inner_texts()
    assert_names(lead, *(each.policy for each in board.standings if each.among_the_best))
    assert lead.count(".") == 1
    following = page.locator(".lead + figure .plot")
    assert following.bounding_box()["y"] < 450  # type: ignore[index]
    page.wait_for_function("() => document.querySelector('.plot').dataset.state === 'drawn'")
    texts = following.locator("text").all_text_contents()
    for each in board.standings[1:]:
        assert each.behind is not None
        assert format_p_value(each.behind.holm) in texts
    tables = page.locator("table")
    headings = [table.locator("thead th").all_inner_texts() for table in tables.all()]
    assert not any("Worst case" in columns for columns in headings)
    assert [columns[:2] for columns in headings if "p (Holm)" in columns] == [["Policy", "Parameters"]] * 2
    curves = page.locator(".plot[data-figure$='over-time']").first
    curves.scroll_into_view_if_needed()
    ticks = curves.locator(".xtick text")
    ticks.last.wait_for()
    assert ticks.last.text_content() == "1,000"
    assert ticks.last.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(single_file: Path, offline_page: Page, scheme: Literal["light", "dark"]) -> None:
    offline_page.emulate_media(color_scheme=scheme)
    offline_page.goto(single_file.as_uri())
    offline_page.wait_for_function("() => document.querySelector('.plot').dataset.state === 'drawn'")
    assert find_violations(offline_page) == []


def test_intervals_of_a_ranking_belong_to_the_tests_beside_them(document: ComparisonDocument) -> None:
    for result in document.results:
        figure = plot_ranking(result)
        beside = {note.y: note.text for note in figure.layout.annotations}
        for row, (standing, dot) in enumerate(zip(result.main.standings, figure.data, strict=True)):
            assert (standing.behind is None) == (dot.error_x.array is None) == (beside[row] == "best")
            if standing.behind is not None:
                contains = dot.x[0] - dot.error_x.arrayminus[0] <= 0.0 <= dot.x[0] + dot.error_x.array[0]
                assert contains == (standing.behind.holm >= ERROR_RATE)


def test_a_policy_looks_the_same_in_every_figure(document: ComparisonDocument) -> None:
    """A policy has one color and one dash on the whole page; no two policies share both."""
    colors, lines = defaultdict(set), defaultdict(set)
    for panel in build_comparison(document).all_panels:
        for trace in json.loads(panel.json)["data"]:
            if "<b>" not in (hover := str(trace.get("hovertext") or trace.get("hovertemplate"))):
                continue
            policy = hover.split("<b>")[1].split("</b>")[0]
            colors[policy].add((trace.get("marker") or trace["line"])["color"])
            if trace["mode"] == "lines":
                lines[policy].add((trace["line"]["color"], trace["line"]["dash"]))
    assert set(colors) == set(lines) == set(POLICIES)
    assert all(len(looks) == 1 for looks in (*colors.values(), *lines.values()))
    assert len(set.union(*lines.values())) == len(POLICIES)


def test_few_curves_are_labelled_at_their_ends_in_their_order(document: ComparisonDocument) -> None:
    board = document.results[0].main
    few = replace(document.results[0], boards=(replace(board, standings=board.standings[:5]),))
    figure = plot_comparison_curves(few, order=POLICIES)
    assert not any(trace.showlegend is not False and trace.name in POLICIES for trace in figure.data)
    (labels,) = (trace for trace in figure.data if trace.mode == "text")
    ends = [standing.entry.curve.mean[-1] for standing in few.main.standings]
    assert np.argsort(labels.y).tolist() == np.argsort(ends).tolist()
    for standing, text in zip(few.main.standings, labels.text, strict=True):
        assert text.endswith(standing.policy)
    many = plot_comparison_curves(document.results[0])
    assert not [trace for trace in many.data if trace.mode == "text"]
