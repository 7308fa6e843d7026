"""The dashboard in a browser: studies, attached figures and notes, and no requests to other machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from ravenlab.studies.spec.comparison import ComparisonSpec
from ravenlab.studies.storage.database import open_storage
from tests.dashboards.browser import assert_visible
from tests.dashboards.dashboard_process import RunningServer, start_dashboard
from tests.dashboards.storages import store_search, store_search_grid
from tests.studies.examples import WILD, make_comparison, store_comparison, url

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page, Route


SEARCH, GRID, OTHER, COMPARISON = 1, 2, 3, 4
MEANS = {"raven-ucb": 40.0, "sw-raven": 30.0}


PLOTS = """() => [...document.querySelectorAll('.js-plotly-plot')]
    .map(plot => [plot.getBoundingClientRect(), plot.id])
    .sort(([a], [b]) => a.top - b.top || a.left - b.left)
    .map(([_, id]) => id)"""
"""The ids of all figures, from the top left."""


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


@pytest.fixture
def page(browser_page: Page, site: RunningServer) -> Iterator[Page]:
    """A page that can only reach this machine; requests to others and errors fail the test."""
    remote: list[str] = []
    errors: list[str] = []

    def refuse_remote(route: Route) -> None:
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            remote.append(route.request.url)
            route.abort()

    browser_page.route("**/*", refuse_remote)
    browser_page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    browser_page.on("pageerror", lambda error: errors.append(str(error)))
    yield browser_page
    assert remote == []
    assert errors == []


def test_lists_the_studies(page: Page, site: RunningServer) -> None:
    page.goto(site.url)
    grid = "2. grid/raven-ucb/variance-drift/T1000/K10/cells=paper"
    for name in ("1. raven-ucb/variance-drift/T1000/K10", grid, f"3. {WILD}"):
        assert_visible(page.get_by_text(name.strip(), exact=True))


def test_a_grid_shows_its_attached_figures(page: Page, site: RunningServer) -> None:
    page.goto(f"{site.url}dashboard/studies/{GRID}")
    figure = page.locator("[id='user-defined-plot:ravenlab-heat-map']")
    figure.locator(".heatmaplayer image").first.wait_for(state="attached")
    title = figure.locator(".gtitle").text_content() or ""
    assert "Mean regret over α₀ and β₀" in title
    assert all(word in title for word in ("variance-drift", "T = 1,000", "K = 10", "R = 20"))
    page.locator("[id='user-defined-plot:ravenlab-lines'] .main-svg").first.wait_for(state="attached")
    box = figure.bounding_box()
    drawn = figure.locator(".main-svg").first.bounding_box()
    assert box is not None
    assert drawn is not None
    assert drawn["height"] <= box["height"] + 1
    assert drawn["width"] <= box["width"] + 1


def test_a_search_shows_its_attached_figures_and_value_name(page: Page, site: RunningServer) -> None:
    page.goto(f"{site.url}dashboard/studies/{SEARCH}")
    drawn = page.locator("[id='user-defined-plot:ravenlab-world'] .gtitle")
    drawn.wait_for(state="attached")
    assert "Arms of one world over time" in (drawn.text_content() or "")
    assert_visible(page.get_by_text("mean regret", exact=True).first)


@pytest.mark.parametrize(
    ("study", "names", "headline"),
    [
        (SEARCH, ["card", "world"], "Use these values"),
        (COMPARISON, ["card", "standings", "curves", "ranks"], "sw-raven is best"),
        (GRID, ["heat-map", "lines"], None),
    ],
)
def test_attached_figures_come_first_in_a_fixed_order(
    page: Page, site: RunningServer, study: int, names: list[str], headline: str | None
) -> None:
    page.goto(f"{site.url}dashboard/studies/{study}")
    for name in names:
        page.locator(f"[id='user-defined-plot:ravenlab-{name}'] .main-svg").first.wait_for(state="attached")
    page.locator(".js-plotly-plot:not([id^='user-defined'])").first.wait_for(state="attached")
    shown = page.evaluate(PLOTS)
    assert [name.rpartition("ravenlab-")[2] for name in shown[: len(names)]] == names
    assert len(shown) > len(names)
    if headline is not None:
        assert_visible(page.locator("[id='user-defined-plot:ravenlab-card']").get_by_text(headline))


def test_a_study_fits_a_phone(page: Page, site: RunningServer) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{site.url}dashboard/studies/{SEARCH}")
    card = page.locator("[id='user-defined-plot:ravenlab-card']")
    card.locator(".annotation-text").first.wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    box = card.bounding_box()
    assert box is not None
    assert box["width"] > 300
    widest = card.locator(".annotation-text").evaluate_all(
        "texts => Math.max(...texts.map(text => text.getBoundingClientRect().right))"
    )
    assert widest <= box["x"] + box["width"]


@pytest.mark.parametrize(
    ("place", "icons"),
    [
        ("", ["AddBoxIcon", "DeleteIcon", "DriveFileRenameOutlineIcon"]),
        (f"/studies/{SEARCH}/note", ["EditIcon"]),
        (f"/studies/{SEARCH}/trials", ["EditIcon"]),
    ],
)
def test_nothing_offers_to_write(page: Page, site: RunningServer, place: str, icons: list[str]) -> None:
    """The buttons are there without the style sheet of a read-only dashboard."""
    page.goto(f"{site.url}dashboard{place}")
    for icon in icons:
        page.locator(f"button [data-testid={icon}]").first.wait_for(state="attached")
        assert not page.locator(f"button [data-testid={icon}]").first.is_visible()
    page.evaluate("document.getElementById('ravenlab').remove()")
    for icon in icons:
        assert page.locator(f"button [data-testid={icon}]").first.is_visible()


def test_notes_are_shown(page: Page, site: RunningServer) -> None:
    page.goto(f"{site.url}dashboard/studies/{SEARCH}/note")
    assert_visible(page.get_by_role("heading", name="Use α₀ 0.25, β₀ 4, ε 0.0001"))
    assert_visible(page.get_by_text("41.5 (95 % CI 40.25 to 42.75)").first)
    page.goto(f"{site.url}dashboard/studies/{GRID}/note")
    assert_visible(page.get_by_role("heading", name="Best cell: α₀ = 0.5"))
    assert page.locator("table tr").count() == 5


def test_a_hostile_name_is_not_executed(page: Page, site: RunningServer) -> None:
    dialogs: list[str] = []

    def record(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", record)
    page.goto(f"{site.url}dashboard/studies/{OTHER}")
    page.locator("[id='user-defined-plot:ravenlab-card'] .main-svg").first.wait_for(state="attached")
    page.goto(f"{site.url}dashboard/studies/{OTHER}/note")
    page.get_by_role("heading", name="α₀ ").wait_for()
    assert dialogs == []


@pytest.mark.parametrize(("name", "shown"), [("trials", "Trial 0"), ("analytics", "alpha0")])
def test_the_other_pages_work_read_only(page: Page, site: RunningServer, name: str, shown: str) -> None:
    page.goto(f"{site.url}dashboard/studies/{SEARCH}/{name}")
    assert_visible(page.get_by_text("raven-ucb/variance-drift/T1000/K10").first)
    assert_visible(page.get_by_text(shown).first)
