"""The dashboard in a browser: studies, attached figures and notes, and no requests to other machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.storage.database import open_storage
from tests.dashboards.browser import VIEWPORT, assert_visible, open_page, record_problems
from tests.dashboards.dashboard_process import RunningServer, start_dashboard
from tests.dashboards.storages import store_search, store_search_grid
from tests.studies.examples import WILD, make_comparison, store_comparison, url

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page


SEARCH, GRID, OTHER, COMPARISON = 1, 2, 3, 4
MEANS = {"raven-ucb": 40.0, "sw-raven": 30.0}


PLOTS = """() => [...document.querySelectorAll('.js-plotly-plot')]
    .map(plot => [plot.getBoundingClientRect(), plot.id])
    .sort(([a], [b]) => a.top - b.top || a.left - b.left)
    .map(([_, id]) => id)"""
"""The ids of all figures, from the top left."""
LISTED = "2. grid/raven-ucb/variance-drift/T1000/K10/cells=paper"
"""The grid in the list of studies."""
NAVIGATE = """place => {
    history.pushState({}, '', place);
    dispatchEvent(new PopStateEvent('popstate', {state: {}}));
}"""
CARD_FITS = """() => {
    const card = document.querySelector("[id='user-defined-plot:ravenlab-card']");
    const texts = [...card.querySelectorAll('.annotation-text')];
    const widest = Math.max(...texts.map(text => text.getBoundingClientRect().right));
    return texts.length > 0 && widest <= card.getBoundingClientRect().right;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Two searches, one with a hostile name, a grid and a comparison; the command attaches figures when it starts."""
    folder = tmp_path_factory.mktemp("dashboard")
    place = url(folder / "s.sqlite3")
    storage = open_storage(place, create=True)
    store_search(storage)
    store_search_grid(storage)
    store_search(storage, name=WILD)
    spec = ComparisonSpec(scenario="variance-drift", horizon=1000, policies=tuple(MEANS), tune=5, replications=50)
    store_comparison(storage, make_comparison(spec, MEANS))
    storage.engine.dispose()
    with start_dashboard(place, folder=folder) as site:
        yield site


@pytest.fixture(scope="module")
def loaded(browser: Browser, site: RunningServer) -> Iterator[tuple[Page, list[str]]]:
    """The list of studies and the problems of its page, which can only reach this machine. Loading takes 4 s of CPU."""
    with open_page(browser) as page:
        problems = record_problems(page, local=(site.url, "data:", "blob:"))
        page.route(lambda address: not address.startswith((site.url, "data:", "blob:")), lambda route: route.abort())
        page.goto(f"{site.url}dashboard")
        yield page, problems


@pytest.fixture
def page(loaded: tuple[Page, list[str]]) -> Iterator[Page]:
    """The loaded dashboard; requests to other machines and errors fail the test."""
    page, problems = loaded
    yield page
    assert problems == []


def show(page: Page, place: str) -> None:
    """Go to a place of the dashboard as its links do, without loading it again.

    The way leads through the list of studies, so that nothing of the previous place is still shown.
    """
    page.evaluate(NAVIGATE, "/dashboard")
    page.get_by_text(LISTED, exact=True).wait_for()
    page.evaluate(NAVIGATE, f"/dashboard{place}")


def assert_nothing_writes(page: Page, *icons: str) -> None:
    """Assert that buttons are hidden, and by the style sheet of a read-only dashboard alone."""
    for icon in icons:
        page.locator(f"button [data-testid={icon}]").first.wait_for(state="attached")
        assert not page.locator(f"button [data-testid={icon}]").first.is_visible()
    sheet = page.locator("#ravenlab")
    sheet.evaluate("sheet => { sheet.disabled = true; }")
    for icon in icons:
        assert page.locator(f"button [data-testid={icon}]").first.is_visible()
    sheet.evaluate("sheet => { sheet.disabled = false; }")


def test_the_studies_are_listed_read_only(page: Page) -> None:
    show(page, "")
    for name in ("1. raven-ucb/variance-drift/T1000/K10", LISTED, f"3. {WILD}"):
        assert_visible(page.get_by_text(name.strip(), exact=True))
    assert_nothing_writes(page, "AddBoxIcon", "DeleteIcon", "DriveFileRenameOutlineIcon")


def show_figures(page: Page, study: int, names: list[str]) -> None:
    """Show a study and assert that its attached figures come first, in this order."""
    show(page, f"/studies/{study}")
    for name in names:
        page.locator(f"[id='user-defined-plot:ravenlab-{name}'] .main-svg").first.wait_for(state="attached")
    page.locator(".js-plotly-plot:not([id^='user-defined'])").first.wait_for(state="attached")
    shown = page.evaluate(PLOTS)
    assert [name.rpartition("ravenlab-")[2] for name in shown[: len(names)]] == names
    assert len(shown) > len(names)


def test_a_grid_shows_its_attached_figures(page: Page) -> None:
    show_figures(page, GRID, ["heat-map", "lines"])
    figure = page.locator("[id='user-defined-plot:ravenlab-heat-map']")
    figure.locator(".heatmaplayer image").first.wait_for(state="attached")
    title = figure.locator(".gtitle").text_content() or ""
    assert "Mean regret over α₀ and β₀" in title
    assert all(word in title for word in ("variance-drift", "T = 1,000", "K = 10", "R = 20"))
    box = figure.bounding_box()
    drawn = figure.locator(".main-svg").first.bounding_box()
    assert box is not None
    assert drawn is not None
    assert drawn["height"] <= box["height"] + 1
    assert drawn["width"] <= box["width"] + 1


def test_a_comparison_shows_its_attached_figures(page: Page) -> None:
    show_figures(page, COMPARISON, ["card", "standings", "curves", "ranks"])
    assert_visible(page.locator("[id='user-defined-plot:ravenlab-card']").get_by_text("sw-raven is best"))


def test_a_search_shows_its_attached_figures_and_value_name_and_fits_a_phone(page: Page) -> None:
    show_figures(page, SEARCH, ["card", "world"])
    card = page.locator("[id='user-defined-plot:ravenlab-card']")
    assert_visible(card.get_by_text("Use these values"))
    title = page.locator("[id='user-defined-plot:ravenlab-world'] .gtitle").text_content() or ""
    assert "Arms of one world over time" in title
    assert_visible(page.get_by_text("mean regret", exact=True).first)
    page.set_viewport_size({"width": 420, "height": 900})
    page.wait_for_function("() => document.documentElement.scrollWidth <= 420")
    page.wait_for_function(CARD_FITS)
    box = card.bounding_box()
    assert box is not None
    assert 300 < box["width"] <= 420
    page.set_viewport_size(VIEWPORT)


def test_notes_are_shown_read_only(page: Page) -> None:
    show(page, f"/studies/{SEARCH}/note")
    assert_visible(page.get_by_role("heading", name="Use α₀ 0.25, β₀ 4, ε 0.0001"))
    assert_visible(page.get_by_text("41.5 (95 % CI 40.2 to 42.8)").first)
    assert_nothing_writes(page, "EditIcon")
    show(page, f"/studies/{GRID}/note")
    assert_visible(page.get_by_role("heading", name="Best cell: α₀ 0.5"))
    assert page.locator("table tr").count() == 5


def test_a_hostile_name_is_not_executed(page: Page) -> None:
    dialogs: list[str] = []

    def record(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", record)
    show(page, f"/studies/{OTHER}")
    page.locator("[id='user-defined-plot:ravenlab-card'] .main-svg").first.wait_for(state="attached")
    show(page, f"/studies/{OTHER}/note")
    page.get_by_role("heading", name="α₀ ").wait_for()
    page.remove_listener("dialog", record)
    assert dialogs == []


@pytest.mark.parametrize(("name", "shown", "icons"), [("trials", "Trial 0", ["EditIcon"]), ("analytics", "alpha0", [])])
def test_the_other_pages_work_read_only(page: Page, name: str, shown: str, icons: list[str]) -> None:
    show(page, f"/studies/{SEARCH}/{name}")
    assert_visible(page.get_by_text("raven-ucb/variance-drift/T1000/K10").first)
    assert_visible(page.get_by_text(shown).first)
    assert_nothing_writes(page, *icons)
