"""The report in a browser, opened from the file system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from environments.text import format_number
from studies.export import export
from studies.results.recommendation import Recommendation
from studies.storage.database import open_storage
from studies.storage.library import read_recommendations
from tests.dashboards.browser import require_browser
from tests.dashboards.storages import store_examples
from tuning.api import report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


GRIDS = 9
MAX_SCENES = 8
COUNT_SCENES = "[...document.querySelectorAll('.plot[data-scenes]')].filter(e => e.querySelector('canvas')).length"


@pytest.fixture(scope="module")
def report_and_recommendations(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Recommendation]]:
    """URL of the page, and the recommendations in its storage."""
    require_browser()
    folder = tmp_path_factory.mktemp("browser")
    storage = store_examples(folder / "s.sqlite3", grids=GRIDS)
    path = report(output=folder / "report #1.html", storage=storage)
    return path.as_uri(), read_recommendations(open_storage(storage, create=False))


@pytest.fixture
def page(offline_page: Page, report_and_recommendations: tuple[str, list[Recommendation]]) -> Page:
    """The loaded report."""
    offline_page.goto(report_and_recommendations[0])
    offline_page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    return offline_page


def draw_all(page: Page) -> int:
    """Scroll to every figure and wait until it is drawn; return the largest number of simultaneous 3-D scenes."""
    most = 0
    for place in range(page.locator(".plot").count()):
        page.evaluate("place => document.querySelectorAll('.plot')[place].scrollIntoView({behavior: 'instant'})", place)
        page.wait_for_function(
            "place => {const e = document.querySelectorAll('.plot')[place];"
            " return e.dataset.state === 'drawn' && e.querySelector('.main-svg') && e._fullLayout}",
            arg=place,
        )
        most = max(most, int(page.evaluate(COUNT_SCENES)))
    return most


def test_every_figure_is_drawn_with_few_simultaneous_scenes(page: Page) -> None:
    assert page.locator(".plot[data-scenes]").count() == GRIDS
    assert page.locator(".plot[data-state=waiting]").count() > 20
    assert 2 <= draw_all(page) <= MAX_SCENES
    assert page.locator(".plot[data-state=waiting]").count() == 0
    resting = page.locator(".plot[data-state=resting]")
    assert resting.count() >= GRIDS - MAX_SCENES
    resting.first.evaluate("plot => { plot.scrollIntoView({behavior: 'instant'}); plot.id = 'again'; }")
    page.wait_for_function("() => document.getElementById('again').dataset.state === 'drawn'")
    assert int(page.evaluate(COUNT_SCENES)) <= MAX_SCENES


def column(page: Page, title: str) -> list[str]:
    """Return the values of a column of the table."""
    titles = page.locator("#recommended thead th").all_inner_texts()
    place = next(i for i, each in enumerate(titles) if each.startswith(title))
    return [
        str(row.locator("xpath=./*").nth(place).get_attribute("data-value"))
        for row in page.locator("#recommended tbody tr").all()
    ]


def test_the_table_sorts_by_mouse_and_keyboard(page: Page) -> None:
    heading = page.locator("#recommended thead th", has_text="T").first
    heading.locator("button").click()
    assert column(page, "T") == ["300", "400", "1000"]
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    assert column(page, "T") == ["1000", "400", "300"]
    assert heading.get_attribute("aria-sort") == "descending"
    page.locator("#recommended thead button", has_text="Scenario").click()
    assert heading.get_attribute("aria-sort") is None
    assert column(page, "Scenario") == ["blips", "variance-drift", "variance-drift"]


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


def test_the_summary_shows_the_exported_numbers(
    page: Page, report_and_recommendations: tuple[str, list[Recommendation]]
) -> None:
    for each in report_and_recommendations[1]:
        entry = json.loads(export([each], "json"))["recommendations"][0]
        item = page.locator(f"#summary ~ .finding li[data-study={json.dumps(each.study, ensure_ascii=False)}]")
        for field in (
            "horizon",
            "regret.mean",
            "regret.low",
            "regret.high",
            *(f"params.{name}" for name in each.params),
        ):
            value = entry
            for key in field.split("."):
                value = value[key]
            shown = item.locator(f"[data-field='{field}']")
            assert float(str(shown.get_attribute("value"))) == value
            assert shown.inner_text() == format_number(value)


def test_single_items_have_no_bullets(page: Page) -> None:
    looks = page.locator(".finding ul").evaluate_all(
        "lists => lists.map(each => [each.children.length, getComputedStyle(each.children[0]).listStyleType])"
    )
    assert sorted(looks) == [[1, "none"], [2, "disc"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_horizontal_scrolling(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator(".plot").nth(1).scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelectorAll('.plot')[1].dataset.state === 'drawn'")
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true; }")
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
