"""The list of a report of many studies in a browser: chips, filters, order, counts, sticky parts and contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ravenlab.dashboards.pages.report import data
from ravenlab.studies.results.recommendation import Baseline, Edge
from ravenlab.studies.results.verdict import Decision, Verdict
from ravenlab.tuning.api import report
from tests.dashboards.browser import find_violations, open_page, record_problems, require_browser
from tests.studies.examples import make_recommendation, store_recommendations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DEFAULTS: dict[str, float | str] = {"alpha0": 1.0, "beta0": 1.0, "epsilon": 0.1}
GAINS = {"blips": 0.5, "periodic": 4.0, "variance-drift": 20.0}
"""Excess regret of the defaults by scenario at T = 1,000, of 50; it is ten times that at T = 3,000, and so on."""
SHOWN = ".findings > li:not([hidden])"


def store_studies(path: Any) -> str:
    """Store twelve studies: at T = 1,000 the defaults are kept, else values are better; one is at the edge."""
    recommendations = []
    for scenario, gain in GAINS.items():
        for factor, horizon in enumerate((500, 1000, 2000, 4000)):
            kept = scenario == "blips"
            difference = 0.0 if kept else gain * (1 + factor)
            edge = [Edge(param="epsilon", value=0.0001, low=1e-06, high=0.5)]
            decision: Decision = (
                "keep the defaults" if kept else "inconclusive" if horizon == 500 else "use these values"
            )
            recommendations.append(
                make_recommendation(
                    scenario=scenario,
                    horizon=horizon,
                    verdict=Verdict(decision=decision, set=[], reason="9 worlds are too few"),
                    params=DEFAULTS if kept else {"alpha0": 2.0, "beta0": 0.5 + factor, "epsilon": 0.01},
                    edge=edge if scenario == "periodic" and horizon == 4000 else [],
                    box={},
                    versus=[
                        Baseline(
                            name="defaults",
                            params=DEFAULTS,
                            regret=41.5 + difference,
                            difference=difference,
                            low=difference - (horizon == 500 and not kept) * 30.0,
                            high=difference + (not kept),
                        )
                    ],
                )
            )
    return store_recommendations(path, *recommendations)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    require_browser()
    folder = tmp_path_factory.mktemp("list")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "MAX_WORK", 0)  # no curves
        return report(output=folder / "list.html", storage=store_studies(folder / "s.sqlite3")).as_uri()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The report; messages in the console fail the test."""
    with open_page(browser) as page:
        problems = record_problems(page)
        page.on("console", lambda message: problems.append(message.text))
        page.goto(address)
        page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
        yield page
        assert problems == []


def read_titles(page: Page) -> list[str]:
    return [text.replace("\xa0", " ") for text in page.locator(f"{SHOWN} h3").all_inner_texts()]


def read_counts(page: Page) -> str:
    """Return the visible chips and the sentence about the defaults."""
    chips = page.locator(".chip:visible").all_inner_texts()
    return " | ".join(" ".join(text.split()) for text in [*chips, *page.locator(".tally:visible").all_inner_texts()])


def test_chips_filter_and_all_counts_follow_the_filters(page: Page) -> None:
    everything = (
        "12 all | 6 better than the defaults | 4 keep the defaults | 2 inconclusive | 1 at the edge of the search range"
    )
    compared = "Compared with the defaults in 12 studies: 6 better 2 inconclusive 4 identical"
    assert read_counts(page) == f"{everything} | {compared}"
    page.locator(".chip", has_text="better than the defaults").click()
    assert page.locator("#shown").inner_text() == "6 of 12 shown"
    assert read_counts(page) == f"{everything} | Compared with the defaults in 6 studies: 6 better"
    page.get_by_role("combobox", name="Scenario").select_option("periodic")
    assert page.locator(SHOWN).count() == 3
    assert read_counts(page) == (
        "4 all | 3 better than the defaults | 1 inconclusive | 1 at the edge of the search range"
        " | Compared with the defaults in 3 studies: 3 better"
    )
    assert page.locator("details.study[data-study]:visible").count() == 3
    assert page.locator("#recommended tbody tr:visible").count() == 3
    assert page.url.endswith("#?decision=better-than-the-defaults&scenario=periodic") or page.url.endswith(
        "#?scenario=periodic&decision=better-than-the-defaults"
    )
    page.reload()
    assert page.locator(SHOWN).count() == 3
    page.get_by_role("combobox", name="Scenario").select_option("blips")
    assert page.get_by_text("No study matches the filters.").is_visible()
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => document.getElementById('shown').textContent === '12 of 12 shown'")
    assert read_counts(page) == f"{everything} | {compared}"


def test_studies_are_ordered_by_the_gain_over_the_defaults_or_as_chosen(page: Page) -> None:
    assert [title.split(",")[0] for title in read_titles(page)] == [
        *["variance-drift"] * 4,
        *["periodic"] * 4,
        *["blips"] * 4,
    ]
    assert read_titles(page)[0] == "variance-drift, T = 4,000"
    menu = page.get_by_role("combobox", name="Order")
    menu.select_option("scenario")
    assert read_titles(page)[:2] == ["blips, T = 500", "blips, T = 1,000"]
    menu.select_option("horizon")
    assert [title.split("T = ")[1] for title in read_titles(page)[:4]] == ["500", "500", "500", "1,000"]
    menu.select_option("decision")
    assert read_titles(page)[0] == "variance-drift, T = 4,000"
    assert [title.split(",")[0] for title in read_titles(page)[-6:-2]] == ["blips"] * 4
    page.reload()
    assert read_titles(page)[0] == "variance-drift, T = 4,000"
    assert page.url.endswith("#?order=decision")


def test_the_keyboard_chooses_chips_and_expands_lines(page: Page) -> None:
    page.locator(".chip input").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#shown").inner_text() == "6 of 12 shown"
    line = page.locator(SHOWN).first
    assert not line.locator(".facts").first.is_visible()
    line.locator("summary").focus()
    page.keyboard.press("Enter")
    assert line.locator(".lane.recommended").is_visible()
    line.get_by_role("link", name="Evidence and figures of variance-drift, T = 4,000").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => [...document.querySelectorAll('details.study')].filter(each => each.open).length === 1"
    )


def test_the_filters_and_the_axis_stay_visible_and_the_contents_mark_the_section(page: Page) -> None:
    assert page.locator(".toc [aria-current]").all_inner_texts() == ["Recommendations"]
    page.evaluate("() => document.querySelector('.findings > li:nth-child(10)').scrollIntoView({behavior: 'instant'})")
    tops = page.evaluate(
        "() => ['.filters', '.finding.axis'].map(each => Math.round(document.querySelector(each)"
        ".getBoundingClientRect().top))"
    )
    height = page.evaluate("() => document.querySelector('.filters').offsetHeight")
    assert tops == [0, height]
    page.evaluate("() => document.getElementById('parameters').scrollIntoView({behavior: 'instant'})")
    page.wait_for_function(
        "() => document.querySelector('.toc [aria-current]').textContent.trim() === 'Table and export'"
    )


def test_contents_group_studies_by_scenario(page: Page) -> None:
    group = page.locator(".toc ol ol > li", has=page.locator(".group")).first
    assert group.locator(".group").inner_text() == "blips"
    names = [link.get_attribute("aria-label") for link in group.locator("a").all()]
    assert names == [f"blips, T = {horizon}" for horizon in ("500", "1,000", "2,000", "4,000")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_is_accessible(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.locator(".finding.brief summary").first.click()
    assert find_violations(page) == []


def test_the_overview_has_a_row_per_scenario_and_opens_studies(page: Page) -> None:
    groups = page.locator(".overview .group-title")
    assert groups.all_inner_texts() == list(GAINS)
    page.get_by_role("combobox", name="Scenario").select_option("periodic")
    assert page.locator(".overview .group-title:visible").all_inner_texts() == ["periodic"]
    lines = page.locator(".overview a.line:visible")
    assert [line.split("\n")[0].replace("\xa0", " ") for line in lines.all_inner_texts()] == [
        f"T = {horizon}" for horizon in ("500", "1,000", "2,000", "4,000")
    ]
    positions = lines.locator("svg:nth-of-type(2) use:last-child").evaluate_all(
        "marks => marks.map(each => each.getBoundingClientRect().x)"
    )
    assert positions == sorted(positions), "β₀ grows with the horizon"
    assert lines.first.locator("[href='#mark-defaults']").count() == 3
    lines.nth(1).click()
    study = page.locator("details.study[open]")
    study.wait_for()
    assert study.locator("h3").inner_text().replace("\xa0", " ") == "periodic, T = 1,000"
    assert page.evaluate("document.documentElement.scrollWidth") == 1400
