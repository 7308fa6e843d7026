"""Sensitivity maps in the report, in a browser: hovering, selecting and copying cells, panels on narrow screens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ravenlab.common.text import format_percent
from ravenlab.dashboards.figures.grid_marks import format_regret
from ravenlab.dashboards.pages.report import data
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.tuning.api import report
from tests.dashboards.browser import find_violations, require_browser
from tests.messages import assert_names
from tests.studies.examples import MAP_ALPHA0, MAP_BETA0, make_map, make_recommendation, store_recommendations

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CELL = (6, 1)
"""A cell that is not marked."""
IS_COPIED = "text => navigator.clipboard.readText().then(copied => copied === text)"
RING = "plot => { const last = plot.data.at(-1); return [...last.x].map((x, i) => [x, last.y[i]]); }"
NUMBERS = "plot => plot.data.find(each => each.mode === 'text').visible !== false"


def recommend(scenario: str = "variance-drift", horizon: int = 1000, **changes: Any) -> Recommendation:
    params = {"alpha0": 1.0, "beta0": 2.0, "epsilon": 0.1}
    result = make_recommendation(scenario=scenario, horizon=horizon, params=params, **changes)
    return result.model_copy(update={"sensitivity": make_map(result)})


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of the reports of one and of four studies."""
    require_browser()
    folder = tmp_path_factory.mktemp("maps")
    several = [recommend(scenario, horizon) for scenario in ("blips", "variance-drift") for horizon in (400, 1000)]
    urls = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "MAX_WORK", 2_000_000)
        for name, recommendations in (("one", [recommend()]), ("several", several)):
            url = store_recommendations(folder / f"{name}.sqlite3", *recommendations)
            urls[name] = report(output=folder / f"{name}.html", storage=url).as_uri()
    return urls


def open_report(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    return page


def draw(page: Page, plot: Locator) -> Locator:
    plot.scroll_into_view_if_needed()
    page.wait_for_function("plot => plot.dataset.state === 'drawn' && plot._fullLayout", arg=plot.element_handle())
    return plot


def draw_map(page: Page) -> tuple[Locator, Locator, Locator]:
    """Wait until the map of the first study is drawn; return its figures and the line below them."""
    part = page.locator(".panels.map").first
    cells, lines = part.locator(".plot").all()
    for plot in (lines, cells):
        page.wait_for_function("plot => plot.linked", arg=draw(page, plot).element_handle())
    return cells, lines, part.locator(".cell")


def point_at(page: Page, cells: Locator, column: int, row: int) -> None:
    """Move the pointer to a cell of a map."""
    area = cells.locator(".heatmaplayer image").bounding_box()
    assert area is not None
    x = area["x"] + (column + 0.5) / len(MAP_ALPHA0) * area["width"]
    y = area["y"] + (1 - (row + 0.5) / len(MAP_BETA0)) * area["height"]
    page.mouse.move(x - 4, y - 4)
    page.mouse.move(x, y)


def test_cells_are_shown_selected_and_copied(offline_page: Page, addresses: dict[str, str]) -> None:
    page = open_report(offline_page, addresses["one"])
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cells, lines, below = draw_map(page)
    grid = recommend().sensitivity
    assert grid is not None
    assert_names(below.inner_text(), "α₀ 1, β₀ 2, ε 0.1", "recommended", format_regret(grid, grid.reference))
    page.evaluate("() => scrollTo(0, 0)")
    point_at(page, cells, *CELL)
    params = {"alpha0": MAP_ALPHA0[CELL[0]], "beta0": MAP_BETA0[CELL[1]], "epsilon": 0.1}
    page.wait_for_function("line => line.innerText.includes('α₀ 4, β₀ 0.5')", arg=below.element_handle())
    share = grid.difference(CELL) / grid.mean[grid.reference]
    shown = [format_regret(grid, CELL), *(format_percent(value, signed=True) for value in share)]
    assert_names(below.inner_text(), *shown)
    assert_names(" ".join(cells.locator(".hoverlayer tspan").all_text_contents()), "α₀ 4", *shown, "R = 650 worlds")
    assert page.evaluate(RING, lines.element_handle()) == [[4, pytest.approx(grid.mean[CELL], rel=1e-5)]]
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(2, 2)
    page.wait_for_function(f"plot => ({RING})(plot).length === 1", arg=cells.element_handle())
    assert page.evaluate(RING, cells.element_handle()) == [list(CELL)], "it stays selected"
    below.get_by_role("button").click()
    page.wait_for_function(IS_COPIED, arg=json.dumps(params, separators=(",", ":")))
    below.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert_names(below.inner_text(), "α₀ 3, β₀ 1")
    page.wait_for_function(f"plot => ({RING})(plot)[0][0] === 5", arg=cells.element_handle())
    assert_names(str(below.locator("output").text_content()), "α₀ 3, β₀ 1")


def test_the_map_is_the_first_picture_of_one_study(offline_page: Page, addresses: dict[str, str]) -> None:
    page = open_report(offline_page, addresses["one"])
    assert page.locator("figure.panel").first.inner_text().startswith("Mean regret over α₀ and β₀")
    box = page.locator(".first-map .plot").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900 + 40, "it is on the first screen"
    assert page.locator(".panels.map").count() == 1


def test_several_studies_have_one_picture_of_panels(offline_page: Page, addresses: dict[str, str]) -> None:
    page = open_report(offline_page, addresses["several"])
    first = page.locator("figure.panel").first
    assert first.inner_text().startswith("Mean regret against α₀, one line per β₀")
    plot = draw(page, first.locator(".plot"))
    columns = "plot => new Set(['', 2, 3, 4].map(i => plot._fullLayout['xaxis' + i].domain[0].toFixed(3))).size"
    assert page.evaluate(columns, plot.element_handle()) == 2
    titles = [str(each) for each in plot.locator(".annotation-text").all_text_contents()]
    assert [each.split("T = ")[1][:3] for each in titles if "T = " in each] == ["400", "1,0", "400", "1,0"]
    plot.locator(".annotation-text a", has_text="variance-drift").last.click()
    study = page.locator("details.study[data-study='raven-ucb/variance-drift/T1000/K10']")
    page.wait_for_function("study => study.open", arg=study.element_handle())
    before = plot.evaluate("plot => plot._fullLayout.height")
    page.set_viewport_size({"width": 420, "height": 900})
    page.wait_for_function(f"plot => ({columns})(plot) === 1", arg=plot.element_handle())
    assert plot.evaluate("plot => plot._fullLayout.height") > 1.5 * before
    assert page.evaluate("document.documentElement.scrollWidth") == 420
    page.set_viewport_size({"width": 1400, "height": 900})
    page.wait_for_function(f"plot => ({columns})(plot) === 2", arg=plot.element_handle())
    assert page.locator("details.study .panels.map").count() == 4
    note = page.get_by_text("The picture shows all studies with a map, also those that the filters hide.")
    assert not note.is_visible()
    page.get_by_role("combobox", name="Scenario").select_option("blips")
    assert note.is_visible()


def test_numbers_are_hidden_where_cells_are_too_narrow(offline_page: Page, addresses: dict[str, str]) -> None:
    page = open_report(offline_page, addresses["one"])
    cells, _, _ = draw_map(page)
    assert page.evaluate(NUMBERS, cells.element_handle())
    page.set_viewport_size({"width": 340, "height": 900})
    page.wait_for_function(f"plot => !({NUMBERS})(plot)", arg=cells.element_handle())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_maps_are_accessible(offline_page: Page, addresses: dict[str, str], scheme: str) -> None:
    offline_page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page = open_report(offline_page, addresses["one"])
    draw_map(page)
    assert find_violations(page) == []
