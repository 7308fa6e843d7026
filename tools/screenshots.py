"""Pictures for README and docs: python -m tools.screenshots [report] [dashboard] [figure3].

Without names, all pictures are taken.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ravenlab.studies.spec.files import find_study_file, load_study_file
from ravenlab.tuning.api import report, tune
from ravenlab.tuning.study_run import run_study
from tests.dashboards.browser import find_browser, launch_browser
from tests.dashboards.dashboard_process import start_dashboard
from tests.project import DOCS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = DOCS / "images"


def take_report_screenshots(browser: Browser, folder: Path) -> None:
    """Run the quick studies, and save the top of their report."""
    url = f"sqlite:///{folder}/report.sqlite3"
    for spec in load_study_file(find_study_file("quick")):
        run_study(spec, url)
    path = report(output=folder / "report.html", storage=url)
    path.write_text(path.read_text(encoding="utf-8").replace(url, "sqlite:///studies.sqlite3"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_function("() => document.querySelector('.picture .plot').dataset.state === 'drawn'")
    page.screenshot(path=IMAGES / "report.png")


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


def take_figure3(browser: Browser, folder: Path) -> None:
    """Tune the scenarios and horizons of the paper's Figure 3, and save the picture of their sensitivity maps."""
    url = f"sqlite:///{folder}/figure3.sqlite3"
    for horizon in (1000, 10_000):
        for scenario in ("variance-drift", "incremental-drift", "blips"):
            tune(scenario, horizon, storage=url)
    path = report(output=folder / "figure3.html", storage=url)
    page = browser.new_page(viewport={"width": 1400, "height": 900}, device_scale_factor=1.5, color_scheme="light")
    page.goto(path.as_uri())
    picture = page.locator(".picture figure.panel")
    page.wait_for_function("() => document.querySelector('.picture .plot').dataset.state === 'drawn'")
    page.add_style_tag(content=".picture .alt { display: none; }")
    page.wait_for_timeout(1000)
    picture.screenshot(path=IMAGES / "figure3.png")


PICTURES = {
    "report": (take_report_screenshots, ("report.png",)),
    "dashboard": (take_dashboard_screenshot, ("dashboard.png",)),
    "figure3": (take_figure3, ("figure3.png",)),
}


def main() -> None:
    """Save the named pictures, or all of them."""
    names = sys.argv[1:] or list(PICTURES)
    if unknown := set(names) - PICTURES.keys():
        sys.exit(f"unknown pictures {', '.join(sorted(unknown))}; known are {', '.join(PICTURES)}")
    path = find_browser()
    if path is None:
        sys.exit("Chromium is required (apt-get install chromium)")
    for name in names:
        take, images = PICTURES[name]
        with tempfile.TemporaryDirectory() as folder, launch_browser(path) as browser:
            take(browser, Path(folder))
        for image in images:
            print(f"{IMAGES / image}: {(IMAGES / image).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
