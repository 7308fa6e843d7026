"""Screenshots of the report and the dashboard for the README: python -m tools.screenshots."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ravenlab.studies.spec.files import find_study_file, load_study_file
from ravenlab.tuning.api import grid, report, tune
from ravenlab.tuning.study_run import run_study
from tests.dashboards.browser import find_browser, launch_browser
from tests.dashboards.dashboard_process import start_dashboard
from tests.project import DOCS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = DOCS / "images"


def take_report_screenshots(browser: Browser, folder: Path) -> None:
    """Run the quick studies and a grid, and save the top of their report and the heat map."""
    url = f"sqlite:///{folder}/report.sqlite3"
    for spec in load_study_file(find_study_file("quick")):
        run_study(spec, url)
    grid("variance-drift", 1000, replications=1000, storage=url)
    path = report(output=folder / "report.html", storage=url)
    path.write_text(path.read_text(encoding="utf-8").replace(url, "sqlite:///studies.sqlite3"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(path.as_uri())
    page.screenshot(path=IMAGES / "report.png")
    page.goto(f"{path.as_uri()}#study-quick-variance-drift")
    figure = page.locator("#study-quick-variance-drift .linked figure.panel").first
    figure.scroll_into_view_if_needed()
    plot = "#study-quick-variance-drift .linked .plot"
    page.wait_for_function(f"() => document.querySelector('{plot}').dataset.state === 'drawn'")
    page.wait_for_timeout(1000)
    figure.screenshot(path=IMAGES / "grid.png")


def take_dashboard_screenshot(browser: Browser, folder: Path) -> None:
    """Run a small study, and save the top of its page in the dashboard."""
    url = f"sqlite:///{folder}/dashboard.sqlite3"
    tune("variance-drift", 10_000, trials=60, replications=100, storage=url)
    with start_dashboard(url, folder=folder) as server:
        page = browser.new_page(viewport={"width": 1400, "height": 1000}, color_scheme="light")
        page.goto(f"{server.url}dashboard/studies/1")
        for name in ("card", "world"):
            page.locator(f"[id='user-defined-plot:ravenlab-{name}'] .main-svg").first.wait_for(state="attached")
        page.evaluate("document.fonts.ready")
        page.wait_for_timeout(1500)
        page.screenshot(path=IMAGES / "dashboard.png")


def main() -> None:
    """Save all screenshots."""
    path = find_browser()
    if path is None:
        sys.exit("Chromium is required (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as name, launch_browser(path) as browser:
        take_report_screenshots(browser, Path(name))
        take_dashboard_screenshot(browser, Path(name))
    for image in ("report.png", "grid.png", "dashboard.png"):
        print(f"{IMAGES / image}: {(IMAGES / image).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
