"""The dashboard's picture for the README: the page of a grid, with its heat map."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.dashboards.browser import find_browser, launched
from tests.dashboards.served import served
from tests.faults.studies import run
from tests.studies.made import url

WIDTH, HEIGHT = 1400, 1000
WORLD = ["variance-drift", "--horizon=10000", "--quiet"]


def dashboard_screenshot(path: Path) -> None:
    """Tune and play a small grid, serve them, and take the picture of the figures that we attach."""
    browser = find_browser()
    if browser is None:
        raise SystemExit("no Chromium was found (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for words in (["tune", *WORLD, "--trials=60", "--replications=100"], ["grid", *WORLD, "--replications=1000"]):
            done = run(*words, folder=folder)
            assert done.returncode == 0, done.stderr
        with served(url(folder / "studies.sqlite3"), folder=folder) as site, launched(browser) as started:
            page = started.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto(f"{site.url}dashboard/studies/2")
            heat_map = page.locator("[id='user-defined-plot:ravenlab-heat-map']")
            heat_map.locator(".heatmaplayer image").first.wait_for(state="attached")
            page.evaluate("document.fonts.ready")
            top = heat_map.evaluate("figure => figure.getBoundingClientRect().top + window.scrollY - 90")
            page.evaluate("top => window.scrollTo(0, top)", top)
            page.wait_for_timeout(1500)
            path.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=path)
