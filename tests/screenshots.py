"""python -m tests.screenshots: pictures of the report and the dashboard for the README."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from studies.files import load_study_file
from studies.shipped import find_study_file
from tests.dashboards.browser import find_browser, launched
from tests.dashboards.dashboard_screenshot import dashboard_screenshot
from tests.project import DOCS
from tuning.api import grid, report
from tuning.running import run_study

IMAGES = DOCS / "images"


def main() -> None:
    """Tune, play a grid, write the report, and take pictures of it and of the dashboard."""
    browser_path = find_browser()
    if browser_path is None:
        sys.exit("a Chromium is needed (apt-get install chromium)")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/studies.sqlite3"
        for spec in load_study_file(find_study_file("quick")):
            run_study(spec, url)
        grid("variance-drift", 1000, replications=1000, storage=url)
        path = report(output=Path(folder) / "report.html", storage=url)
        path.write_text(path.read_text(encoding="utf-8").replace(url, "sqlite:///studies.sqlite3"), encoding="utf-8")
        with launched(browser_path) as browser:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(path.as_uri())
            page.screenshot(path=IMAGES / "report.png")
            figure = page.locator("#grids ~ .part figure.panel").first
            figure.scroll_into_view_if_needed()
            plot = "#grids ~ .part .plot"
            page.wait_for_function(f"() => document.querySelector('{plot}').dataset.state === 'drawn'")
            page.wait_for_timeout(1000)
            figure.screenshot(path=IMAGES / "grid.png")
    dashboard_screenshot(IMAGES / "dashboard.png")
    for name in ("report.png", "grid.png", "dashboard.png"):
        print(f"{IMAGES / name}: {(IMAGES / name).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
