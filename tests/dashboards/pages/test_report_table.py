"""The table of recommended parameters: its cells, and its layout on narrow and wide screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ravenlab.dashboards.pages.report.page import make_recommendation_table
from ravenlab.studies.results.recommendation import Baseline, Failures
from ravenlab.tuning.api import report
from tests.dashboards.browser import require_browser
from tests.studies.examples import make_recommendation, store_recommendations

if TYPE_CHECKING:
    from playwright.sync_api import Page


BASE = {"alpha0": 0.004567, "beta0": 0.04337, "epsilon": 0.006933}
THREE = {"raven-ucb": BASE, "sw-raven": {**BASE, "tau": 1234}, "d-raven": {**BASE, "gamma": 0.99998}}


def defaults_cell(difference: float, low: float, high: float) -> str:
    """Return the cell of the defaults."""
    rival = Baseline(name="defaults", params={"alpha0": 1.0}, regret=41.5, difference=difference, low=low, high=high)
    _, (row,) = make_recommendation_table([make_recommendation(versus=[rival])], ["a"], ["A"])
    return f"{row.cells[-1].text} {row.cells[-1].detail}".strip()


def test_a_difference_of_zero_has_no_sign() -> None:
    assert defaults_cell(-0.001, -1.0, 1.0) == "0.0 % ≈"
    assert defaults_cell(0.001, -1.0, 1.0) == "0.0 % ≈"
    assert defaults_cell(-0.1, -1.0, 1.0) == "−0.2 % ≈"
    assert defaults_cell(4.15, 4.0, 4.3) == "+10 %"


def test_parameters_of_several_policies_share_a_cell_and_break_between_pairs() -> None:
    recommendations = [make_recommendation(policy=policy, params=params) for policy, params in THREE.items()]
    columns, rows = make_recommendation_table(recommendations, ["a", "b", "c"], ["A", "B", "C"])
    assert [title for title, _ in columns][:5] == ["Study", "Policy", "T", "K", "Parameters"]
    cell = rows[2].cells[4]
    assert cell.text.split(" ") == ["α₀\xa00.004567,", "β₀\xa00.04337,", "ε\xa00.006933,", "γ\xa00.99998"]
    assert cell.value == "α₀ 0.004567, β₀ 0.04337, ε 0.006933, γ 0.99998"
    alone, _ = make_recommendation_table(recommendations[2:], ["c"], ["C"])
    assert [title for title, _ in alone][3:7] == ["α₀", "β₀", "ε", "γ"]


def test_all_baselines_are_listed() -> None:
    constructed = Baseline(name="as constructed", params={}, regret=83.0, difference=41.5, low=41.0, high=42.0)
    recommendations = [make_recommendation(versus=[constructed], unit=8.0), make_recommendation(unit=8.0)]
    columns, rows = make_recommendation_table(recommendations, ["a", "b"], ["A", "B"])
    assert [title for title, _ in columns][-3:] == ["Paper's advice", "As constructed", "Scaled defaults"]
    assert [cell.text for cell in rows[0].cells[-3:]] == ["–", "+100 %", "–"]
    assert rows[1].cells[-2].text == "–"
    usual, _ = make_recommendation_table([make_recommendation()], ["b"], ["B"])
    assert [title for title, _ in usual][-2:] == ["Paper's advice", "Defaults"]


FAILURES = Failures(rate=0.0045, count=9, highest_rate=0.0079, unseen=6.9, reliable=False)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Reports on one and on several policies, with long numbers."""
    require_browser()
    folder = tmp_path_factory.mktemp("table")
    out = {}
    for name, policies in (("one", ["d-raven"]), ("several", list(THREE))):
        recommendations = [
            make_recommendation(
                scenario=scenario, policy=policy, params=THREE[policy], horizon=10_000, failures=FAILURES
            )
            for policy in policies
            for scenario in ("incremental-drift", "localized-jump")
        ]
        url = store_recommendations(folder / f"{name}.sqlite3", *recommendations)
        out[name] = report(output=folder / f"{name}.html", storage=url).as_uri()
    return out


SLACK = "() => { const box = document.querySelector('.wide'); return box.scrollWidth - box.clientWidth; }"


@pytest.mark.parametrize("name", ["one", "several"])
def test_a_wide_screen_shows_the_whole_table(pages: dict[str, str], name: str, offline_page: Page) -> None:
    offline_page.set_viewport_size({"width": 1400, "height": 900})
    offline_page.goto(pages[name])
    assert offline_page.evaluate(SLACK) == 0
    last, box = offline_page.locator(".take [data-save]").first, offline_page.locator(".wide").first
    inside, around = last.bounding_box(), box.bounding_box()
    assert inside is not None
    assert around is not None
    assert inside["x"] + inside["width"] <= around["x"] + around["width"]


def test_a_narrow_screen_shows_cards(pages: dict[str, str], offline_page: Page) -> None:
    """Every row is a block within the screen, and every cell shows the title of its column."""
    offline_page.set_viewport_size({"width": 420, "height": 800})
    offline_page.goto(pages["several"])
    assert offline_page.evaluate(SLACK) == 0
    boxes = [row.bounding_box() for row in offline_page.locator("#recommended tbody tr").all()]
    assert len(boxes) == 6
    assert all(box is not None and box["x"] + box["width"] <= 420 and box["height"] > 150 for box in boxes)
    titles = (
        offline_page.locator("#recommended tbody tr")
        .first.locator("td[data-label]")
        .evaluate_all("cells => cells.map(cell => getComputedStyle(cell, '::before').content)")
    )
    assert titles[:4] == ['"Policy"', '"T"', '"K"', '"Parameters"']
