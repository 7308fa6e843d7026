"""The report in a browser, opened from the file system."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ravenlab.dashboards.pages.report import data
from ravenlab.studies.export import export
from ravenlab.studies.results.recommendation import Failures, Recommendation
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.library import read_recommendations
from ravenlab.tuning.api import report
from tests.dashboards.browser import find_violations, open_page, record_problems, require_browser
from tests.dashboards.storages import LONG_PARAMS, store_examples, store_search, store_search_grid
from tests.studies.examples import make_recommendation, store_recommendations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


GRIDS = 2
SEARCHED = "a search"
"""A study with a grid."""
FAILURES = Failures(rate=0.0045, count=9, highest_rate=0.0079, unseen=6.9, reliable=False)
HAS_NO_SLACK = "() => { const box = document.querySelector('.wide'); return box.scrollWidth === box.clientWidth; }"
INK = "document.querySelectorAll('.plot')[1]._fullLayout.font.color"
IS_COPIED = "text => navigator.clipboard.readText().then(copied => copied === text)"
RESET = """() => {
    document.querySelectorAll('details').forEach(each => { each.open = false; });
    const filters = document.getElementById('filters');
    filters.reset();
    filters.dispatchEvent(new Event('input'));
    scrollTo(0, 0);
}"""
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


def load(page: Page, address: str) -> Page:
    """Open the report and wait until it is ready."""
    page.goto(address)
    page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    return page


@pytest.fixture(scope="module")
def loaded(
    browser: Browser, report_and_recommendations: tuple[str, list[Recommendation]]
) -> Iterator[tuple[Page, list[str]]]:
    """The report, which takes 3 s of CPU to load, and the problems of its page."""
    with open_page(browser) as page:
        problems = record_problems(page)
        yield load(page, report_and_recommendations[0]), problems


@pytest.fixture
def page(loaded: tuple[Page, list[str]]) -> Iterator[Page]:
    """The report with all parts closed and no filters; tests that change the size or the colors use their own page."""
    page, problems = loaded
    page.evaluate(RESET)
    yield page
    assert problems == []


@pytest.fixture
def own_page(offline_page: Page, report_and_recommendations: tuple[str, list[Recommendation]]) -> Page:
    return load(offline_page, report_and_recommendations[0])


def draw_all(page: Page) -> None:
    """Scroll to every figure and wait until it is drawn."""
    for place in range(page.locator(".plot").count()):
        page.evaluate("place => document.querySelectorAll('.plot')[place].scrollIntoView({behavior: 'instant'})", place)
        page.wait_for_function(
            "place => {const e = document.querySelectorAll('.plot')[place];"
            " return e.dataset.state === 'drawn' && e.querySelector('.main-svg') && e._fullLayout}",
            arg=place,
        )


def test_every_figure_is_drawn(own_page: Page) -> None:
    own_page.evaluate(OPEN_ALL)
    waiting = own_page.locator(".plot[data-state=waiting]")
    assert waiting.count() > 10
    draw_all(own_page)
    assert waiting.count() == 0


def column(page: Page, title: str) -> list[str]:
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
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for each in report_and_recommendations[1]:
        row = page.locator(f"#recommended tbody tr[data-study={json.dumps(each.study, ensure_ascii=False)}]")
        for form in ("json", "toml"):
            row.locator(f"[data-copy={form}]").click()
            page.wait_for_function(IS_COPIED, arg=export([each], form))
            with page.expect_download() as waiting:
                row.locator(f"[data-save={form}]").click()
            path = tmp_path / f"saved.{form}"
            waiting.value.save_as(path)
            assert path.read_bytes() == export([each], form).encode()
            assert waiting.value.suggested_filename.endswith(f".{form}")


def test_the_first_screen_shows_the_decisions(page: Page) -> None:
    chips = page.locator(".chips").bounding_box()
    assert chips is not None
    assert chips["y"] + chips["height"] <= 300
    assert " ".join(page.locator(".chip").nth(1).inner_text().split()) == "4 better than the defaults"


def test_every_finding_has_an_interval_plot(page: Page) -> None:
    findings = page.locator(".findings > li")
    assert findings.count() == 4
    for finding in findings.all():
        for part in (".decision", ".lane.recommended .mark", ".lane.paper .mark", ".lane.defaults .mark"):
            assert finding.locator(part).is_visible()
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
OPACITIES = "plot => plot.data.filter(each => each.meta && 'line' in each.meta).map(each => each.opacity)"
SHAPES = "plot => (plot.layout.shapes || []).filter(shape => shape.type === 'line').map(shape => shape.y0)"


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


def find_problems_of_access(page: Page) -> list[tuple[str, str]]:
    """Return what axe-core objects to in the study with a grid, contrast included."""
    study = open_search(page)
    page.locator("details:not(.study)").evaluate_all("all => all.forEach(each => { each.open = true; })")
    draw(page, study)
    return find_violations(page)


def test_the_report_is_accessible(page: Page) -> None:
    assert find_problems_of_access(page) == []


def test_the_report_is_accessible_in_the_dark_on_a_phone(own_page: Page) -> None:
    own_page.emulate_media(color_scheme="dark")
    own_page.set_viewport_size({"width": 420, "height": 900})
    assert find_problems_of_access(own_page) == []


def test_a_phone_needs_no_horizontal_scrolling(own_page: Page) -> None:
    own_page.set_viewport_size({"width": 400, "height": 800})
    own_page.evaluate(OPEN_ALL)
    own_page.locator(".plot").nth(1).scroll_into_view_if_needed()
    for scheme, lightness in (("light", "<"), ("dark", ">")):
        own_page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        own_page.wait_for_function("() => document.querySelectorAll('.plot')[1].dataset.state === 'drawn'")
        own_page.wait_for_function(f"() => parseInt({INK}.slice(1, 3), 16) {lightness} 128")
        assert own_page.evaluate("document.documentElement.scrollWidth") == 400


def test_deep_links_and_the_keyboard(
    own_page: Page, report_and_recommendations: tuple[str, list[Recommendation]]
) -> None:
    page = own_page
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
def tables(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Page]]:
    """Loaded reports on one and on several policies, with long numbers and without curves."""
    folder = tmp_path_factory.mktemp("table")
    pages = {}
    with open_page(browser) as first, pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "MAX_WORK", 0)
        for name, policies in (("one", ["d-raven"]), ("several", list(LONG_PARAMS))):
            recommendations = [
                make_recommendation(
                    scenario=scenario, policy=policy, params=LONG_PARAMS[policy], horizon=10_000, failures=FAILURES
                )
                for policy in policies
                for scenario in ("incremental-drift", "localized-jump")
            ]
            url = store_recommendations(folder / f"{name}.sqlite3", *recommendations)
            pages[name] = first.context.new_page()
            load(pages[name], report(output=folder / f"{name}.html", storage=url).as_uri())
        yield pages


@pytest.mark.parametrize("name", ["one", "several"])
def test_a_wide_screen_shows_the_whole_table(tables: dict[str, Page], name: str) -> None:
    page = tables[name]
    page.set_viewport_size({"width": 1400, "height": 900})
    page.wait_for_function(HAS_NO_SLACK)
    inside = page.locator(".take [data-save]").first.bounding_box()
    around = page.locator(".wide").first.bounding_box()
    assert inside is not None
    assert around is not None
    assert inside["x"] + inside["width"] <= around["x"] + around["width"]


def test_a_narrow_screen_shows_cards(tables: dict[str, Page]) -> None:
    """Every row is a block within the screen, and every cell shows the title of its column."""
    page = tables["several"]
    page.set_viewport_size({"width": 420, "height": 800})
    page.wait_for_function(HAS_NO_SLACK)
    boxes = [row.bounding_box() for row in page.locator("#recommended tbody tr").all()]
    assert len(boxes) == 6
    assert all(box is not None and box["x"] + box["width"] <= 420 and box["height"] > 150 for box in boxes)
    cells = page.locator("#recommended tbody tr").first.locator("td[data-label]")
    titles = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell, '::before').content)")
    assert titles[:4] == ['"Policy"', '"T"', '"K"', '"Parameters"']
