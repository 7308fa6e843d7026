"""The report in a browser, opened from the file system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ravenlab.studies.export import export
from ravenlab.studies.results.recommendation import Failures, Recommendation
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import read_recommendations
from ravenlab.tuning.api import report
from tests.dashboards.browser import find_violations, require_browser
from tests.dashboards.storages import LONG_PARAMS, store_examples, store_search, store_search_grid
from tests.studies.examples import make_recommendation, store_recommendations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


GRIDS = 2
SEARCHED = "a search"
"""A study with a grid."""
FAILURES = Failures(rate=0.0045, count=9, highest_rate=0.0079, unseen=6.9, reliable=False)
SLACK = "() => { const box = document.querySelector('.wide'); return box.scrollWidth - box.clientWidth; }"
OPEN_ALL = "() => document.querySelectorAll('details').forEach(each => { each.open = true; })"


@pytest.fixture(scope="module")
def report_and_recommendations(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Recommendation]]:
    """URL of the page, and the recommendations in its storage."""
    require_browser()
    folder = tmp_path_factory.mktemp("browser")
    url = store_examples(folder / "s.sqlite3", grids=GRIDS)
    storage = open_storage(url, create=False)
    store_search(storage, 60, SEARCHED)
    store_search_grid(storage)
    path = report(output=folder / "report #1.html", storage=url)
    return path.as_uri(), read_recommendations(storage)


@pytest.fixture
def page(offline_page: Page, report_and_recommendations: tuple[str, list[Recommendation]]) -> Page:
    """The loaded report."""
    offline_page.goto(report_and_recommendations[0])
    offline_page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    return offline_page


def draw_all(page: Page) -> None:
    """Scroll to every figure and wait until it is drawn."""
    for place in range(page.locator(".plot").count()):
        page.evaluate("place => document.querySelectorAll('.plot')[place].scrollIntoView({behavior: 'instant'})", place)
        page.wait_for_function(
            "place => {const e = document.querySelectorAll('.plot')[place];"
            " return e.dataset.state === 'drawn' && e.querySelector('.main-svg') && e._fullLayout}",
            arg=place,
        )


def test_every_figure_is_drawn(page: Page) -> None:
    page.evaluate(OPEN_ALL)
    assert page.locator(".plot[data-state=waiting]").count() > 10
    draw_all(page)
    assert page.locator(".plot[data-state=waiting]").count() == 0


def column(page: Page, title: str) -> list[str]:
    """Return the values of a column of the table."""
    titles = page.locator("#recommended thead th").all_inner_texts()
    place = next(i for i, each in enumerate(titles) if each.startswith(title))
    return [
        str(row.locator("xpath=./*").nth(place).get_attribute("data-value"))
        for row in page.locator("#recommended tbody tr").all()
    ]


def test_the_table_sorts_by_mouse_and_keyboard(page: Page) -> None:
    heading = page.locator("#recommended thead th", has=page.get_by_role("button", name="T", exact=True))
    heading.locator("button").click()
    assert column(page, "T") == ["300", "400", "1000", "1000"]
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    assert column(page, "T") == ["1000", "1000", "400", "300"]
    assert heading.get_attribute("aria-sort") == "descending"
    page.locator("#recommended thead button", has_text="Study").click()
    assert heading.get_attribute("aria-sort") is None
    assert [title.split(",")[0] for title in column(page, "Study")] == ["blips", *["variance-drift"] * 3]


def test_buttons_copy_and_save_the_export(
    page: Page, report_and_recommendations: tuple[str, list[Recommendation]], tmp_path: Path
) -> None:
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    for each in report_and_recommendations[1]:
        row = page.locator(f"#recommended tbody tr[data-study={json.dumps(each.study, ensure_ascii=False)}]")
        for form in ("json", "toml"):
            row.locator(f"[data-copy={form}]").click()
            assert page.evaluate("window.copied") == export([each], form)
            with page.expect_download() as waiting:
                row.locator(f"[data-save={form}]").click()
            path = tmp_path / f"saved.{form}"
            waiting.value.save_as(path)
            assert path.read_bytes() == export([each], form).encode()
            assert waiting.value.suggested_filename.endswith(f".{form}")


def test_the_real_clipboard(browser: Browser, report_and_recommendations: tuple[str, list[Recommendation]]) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(report_and_recommendations[0])
    page.locator("[data-copy=json]").first.click()
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied JSON.'")
    study = page.locator("#recommended tbody tr").first.get_attribute("data-study")
    each = next(each for each in report_and_recommendations[1] if each.study == study)
    assert page.evaluate("navigator.clipboard.readText()") == export([each], "json")
    context.close()


def test_the_first_screen_shows_all_verdicts_and_intervals(page: Page) -> None:
    findings = page.locator(".findings > li")
    assert findings.count() == 4
    for finding in findings.all():
        for part in (".decision", ".lane.recommended .mark", ".lane.paper .mark", ".lane.defaults .mark"):
            box = finding.locator(part).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 900
    centers = findings.first.locator(".mark").evaluate_all("marks => marks.map(each => each.getBoundingClientRect().x)")
    assert centers[2] < centers[0] < centers[1], "defaults −1.2 %, recommended, paper's advice +45 %"


def test_filters_hide_studies_and_are_kept_in_the_address(page: Page) -> None:
    shown = ".findings > li:not([hidden])"
    page.get_by_role("combobox", name="Scenario").select_option("variance-drift")
    assert page.locator(shown).count() == 3
    assert page.locator("#shown").inner_text() == "3 of 4 shown"
    page.get_by_role("combobox", name="Horizon").select_option("400")
    for part in (shown, "#recommended tbody tr:not([hidden])", "details.study[data-study]:not([hidden])"):
        assert page.locator(part).count() == 1
    assert not page.locator("#grids").is_visible(), "there is no grid of this scenario"
    assert page.locator(shown).inner_text().startswith("variance-drift, T = 400".replace(" = ", "\xa0=\xa0"))
    assert page.url.endswith("#?scenario=variance-drift&horizon=400")
    page.reload()
    assert page.locator(shown).count() == 1
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("() => document.getElementById('shown').textContent === '4 of 4 shown'")
    assert "?" not in page.url


def open_search(page: Page) -> Locator:
    """Open the study with a grid by its keyboard control."""
    study = page.locator(f"details.study[data-study='{SEARCHED}']")
    study.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert study.get_attribute("open") is not None
    return study


RING = "plot => { const last = plot.data.at(-1); return [...last.x].map((x, i) => [x, last.y[i]]); }"
OPACITIES = "plot => plot.data.filter(each => each.meta).map(each => each.opacity)"
SHAPES = "plot => (plot.layout.shapes || []).filter(shape => shape.type === 'line').map(shape => shape.y0)"


def heat_map(study: Locator) -> Locator:
    """Return the heat map of a study."""
    return study.locator(".linked .plot").first


def draw(page: Page, study: Locator) -> None:
    """Wait until the linked figures are drawn."""
    for plot in study.locator(".linked .plot").all():
        plot.scroll_into_view_if_needed()
        page.wait_for_function("plot => plot.dataset.state === 'drawn' && plot.linked", arg=plot.element_handle())


def test_pointing_at_a_figure_marks_the_same_parameters_in_the_others(page: Page) -> None:
    study = open_search(page)
    draw(page, study)
    cells, lines, curves = study.locator(".linked .plot").all()
    cells.scroll_into_view_if_needed()
    area = cells.locator(".heatmaplayer image").bounding_box()
    assert area is not None
    page.mouse.move(area["x"] + 5, area["y"] + area["height"] - 5)  # to the first cell
    page.mouse.move(area["x"] + 12, area["y"] + area["height"] - 12)
    page.wait_for_function("study => study.dataset.pointed", arg=study.element_handle())
    pointed = json.loads(str(study.get_attribute("data-pointed")))
    assert pointed["params"] == {"alpha0": 0.5, "beta0": 0.5, "epsilon": 0.1}
    assert page.evaluate(RING, lines.element_handle()) == [[0.5, pointed["value"]]]
    assert page.evaluate(OPACITIES, lines.element_handle()) == [1, 0.2, 0.2, 0.2]
    assert page.evaluate(SHAPES, curves.element_handle()) == [pointed["value"]]
    page.mouse.move(5, 5)
    page.wait_for_function("study => study.dataset.pointed === ''", arg=study.element_handle())
    assert page.evaluate(RING, lines.element_handle()) == []
    assert page.evaluate(SHAPES, curves.element_handle()) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 420)])
def test_accessibility(page: Page, scheme: str, width: int) -> None:
    """axe-core finds nothing to object to, contrast included."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    study = open_search(page)
    page.locator("details:not(.study)").evaluate_all("all => all.forEach(each => { each.open = true; })")
    draw(page, study)
    assert find_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_horizontal_scrolling(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 400, "height": 800})
    page.evaluate(OPEN_ALL)
    page.locator(".plot").nth(1).scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelectorAll('.plot')[1].dataset.state === 'drawn'")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    ink = page.evaluate("document.querySelectorAll('.plot')[1]._fullLayout.font.color")
    assert (int(ink[1:3], 16) > 128) == (scheme == "dark")


def test_deep_links_and_the_keyboard(page: Page, report_and_recommendations: tuple[str, list[Recommendation]]) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.goto(f"{report_and_recommendations[0]}#methods")
    page.wait_for_function("() => document.getElementById('methods').getBoundingClientRect().top < innerHeight")
    for target in page.locator(".toc a").all():
        assert page.evaluate("id => !!document.getElementById(id)", str(target.get_attribute("href"))[1:])
    study = page.locator("details.study").last
    page.goto(f"{report_and_recommendations[0]}#{study.get_attribute('id')}")
    assert study.get_attribute("open") is not None
    page.locator(".findings h3 a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('details.study').open")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Reports on one and on several policies, with long numbers."""
    require_browser()
    folder = tmp_path_factory.mktemp("table")
    out = {}
    for name, policies in (("one", ["d-raven"]), ("several", list(LONG_PARAMS))):
        recommendations = [
            make_recommendation(
                scenario=scenario, policy=policy, params=LONG_PARAMS[policy], horizon=10_000, failures=FAILURES
            )
            for policy in policies
            for scenario in ("incremental-drift", "localized-jump")
        ]
        url = store_recommendations(folder / f"{name}.sqlite3", *recommendations)
        out[name] = report(output=folder / f"{name}.html", storage=url).as_uri()
    return out


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
