"""The list of studies of the dashboard states decision and regret of each study, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import optuna
import pytest

from ravenlab.studies.results.verdict import Verdict
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from tests.dashboards.browser import assert_visible, open_page, record_problems
from tests.dashboards.dashboard_process import send_request, start_dashboard
from tests.dashboards.storages import store_search, store_search_grid
from tests.studies.examples import make_recommendation, store_study, url

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.postgres import Server

HOSTILE = "<img src=x onerror=alert(1)>"
"""An arm's name, which the decision states."""


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a storage with a search, a grid, a study that recommends a hostile arm, and one of another program."""
    location = url(tmp_path / "s.sqlite3")
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("postgres")
        location = server.new_database()
    storage = open_storage(location, create=True)
    store_search(storage)
    store_search_grid(storage, finished=False)
    verdict = Verdict(decision="use one arm", set=[], arm=HOSTILE)
    spec = StudySpec(scenario="variance-drift", horizon=1000, trials=4, name="hostile")
    store_study(storage, spec, 4, make_recommendation(study="hostile", verdict=verdict))
    optuna.create_study(study_name="other", storage=storage)
    storage.engine.dispose()
    return location


def test_decisions_are_listed(place: str, browser: Browser, tmp_path: Path) -> None:
    with start_dashboard(place, folder=tmp_path) as site, open_page(browser) as page:
        answer = send_request(site.port, "GET", "/ravenlab/studies")
        lines = json.loads(answer.body)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert ["Use α₀ 0.25, β₀ 4, ε 0.0001", "Mean regret 41.5 (95 % CI 40.2 to 42.8)"] in lines.values()
        assert len(lines) == 3
        assert send_request(site.port, "GET", "/ravenlab/studies", headers={"Host": "evil.example"}).status == 403
        problems = record_problems(page, local=(site.url, "data:", "blob:"))
        page.goto(f"{site.url}dashboard")
        cards = page.locator("a[href^='/dashboard/studies/']")
        tuned = cards.filter(has_text="raven-ucb/variance-drift/T1000/K10").filter(has_not_text="grid/")
        assert_visible(tuned.get_by_text("Use α₀ 0.25, β₀ 4, ε 0.0001"))
        assert_visible(tuned.get_by_text("Mean regret 41.5 (95 % CI 40.2 to 42.8)"))
        assert not tuned.get_by_text("Direction").is_visible()
        assert_visible(cards.filter(has_text="grid/").get_by_text("Grid, interrupted"))
        assert_visible(cards.filter(has_text="hostile").get_by_text(HOSTILE))
        assert page.locator("img[src=x]").count() == 0
        assert_visible(cards.filter(has_text="other").get_by_text("Direction: MINIMIZE"))
        page.get_by_placeholder("Search study").fill("hostile")  # the page uses its cards for other studies
        cards.nth(1).wait_for(state="detached")
        assert_visible(cards.get_by_text(HOSTILE))
        assert page.locator(".ravenlab-result").count() == 1
        assert problems == []
