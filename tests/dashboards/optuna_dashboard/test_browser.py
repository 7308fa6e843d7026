"""The dashboard in a real browser: studies, our heat map and note, and no word to any other machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from studies.storage.database import open_storage
from tests.dashboards.served import Served, served
from tests.dashboards.storages import store_search, store_search_grid
from tests.studies.examples import WILD, url

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page, Route


SEARCH, GRID, OTHER = 1, 2, 3


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A search, a grid and a search with a wild name; the command attaches to them as it starts."""
    folder = tmp_path_factory.mktemp("dashboard")
    place = url(folder / "s.sqlite3")
    storage = open_storage(place, create=True)
    store_search(storage)
    store_search_grid(storage)
    store_search(storage, name=WILD)
    storage.engine.dispose()
    with served(place, folder=folder) as it:
        yield it


@pytest.fixture
def page(browser_page: Page, site: Served) -> Iterator[Page]:
    """A page that reaches this machine alone and keeps what went wrong."""
    away: list[str] = []
    errors: list[str] = []

    def pass_on(route: Route) -> None:
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            away.append(route.request.url)
            route.abort()

    browser_page.route("**/*", pass_on)
    browser_page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    browser_page.on("pageerror", lambda error: errors.append(str(error)))
    yield browser_page
    assert away == []
    assert errors == []


def test_lists_the_studies(page: Page, site: Served) -> None:
    page.goto(site.url)
    for name in ("1. raven-ucb/variance-drift/T1000/K10", "2. grid/raven-ucb/variance-drift/T1000/K10", "3. <script>"):
        page.get_by_text(name).first.wait_for()


def test_a_grid_shows_our_heat_map(page: Page, site: Served) -> None:
    page.goto(f"{site.url}dashboard/studies/{GRID}")
    figure = page.locator("[id='user-defined-plot:ravenlab-heat-map']")
    figure.locator(".heatmaplayer image").first.wait_for(state="attached")
    title = figure.locator(".gtitle").text_content() or ""
    assert "Mean regret over α₀ and β₀" in title
    assert all(word in title for word in ("variance-drift", "T = 1,000", "K = 10", "R = 20"))
    for name in ("lines", "surface"):
        page.locator(f"[id='user-defined-plot:ravenlab-{name}'] .main-svg").first.wait_for(state="attached")
    box = figure.bounding_box()
    drawn = figure.locator(".main-svg").first.bounding_box()
    assert box is not None
    assert drawn is not None
    assert drawn["height"] <= box["height"] + 1
    assert drawn["width"] <= box["width"] + 1


def test_a_search_shows_our_figures_and_the_name_of_its_value(page: Page, site: Served) -> None:
    page.goto(f"{site.url}dashboard/studies/{SEARCH}")
    for name in ("history", "importances", "world"):
        page.locator(f"[id='user-defined-plot:ravenlab-{name}'] .gtitle").wait_for(state="attached")
    page.get_by_text("mean regret", exact=True).first.wait_for()


def test_the_notes(page: Page, site: Served) -> None:
    page.goto(f"{site.url}dashboard/studies/{SEARCH}/note")
    page.get_by_role("heading", name="α₀ = 0.25, β₀ = 4, ε = 0.0001").wait_for()
    page.get_by_text("40.25 to 42.75").first.wait_for()
    page.goto(f"{site.url}dashboard/studies/{GRID}/note")
    page.get_by_role("heading", name="Best cell: α₀ = 0.5").wait_for()
    assert page.locator("table tr").count() == 5


def test_a_wild_name_does_nothing(page: Page, site: Served) -> None:
    dialogs: list[str] = []

    def seen(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", seen)
    page.goto(f"{site.url}dashboard/studies/{OTHER}")
    page.locator("[id='user-defined-plot:ravenlab-history'] .gtitle").wait_for(state="attached")
    page.goto(f"{site.url}dashboard/studies/{OTHER}/note")
    page.get_by_role("heading", name="α₀ = ").wait_for()
    assert dialogs == []


@pytest.mark.parametrize(("name", "shown"), [("trials", "Trial 0"), ("analytics", "alpha0")])
def test_the_other_pages_work_read_only(page: Page, site: Served, name: str, shown: str) -> None:
    page.goto(f"{site.url}dashboard/studies/{SEARCH}/{name}")
    page.get_by_text("raven-ucb/variance-drift/T1000/K10").first.wait_for()
    page.get_by_text(shown).first.wait_for()
