"""Screenshots of the report and the dashboard for the README: python -m tools.screenshots."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from studies.spec.files import find_study_file, load_study_file
from tests.dashboards.browser import find_browser, launched
from tests.dashboards.served import served
from tests.faults.studies import run
from tests.project import DOCS
from tests.studies.examples import url
from tuning.api import grid, report
from tuning.study_run import run_study

WIDTH, HEIGHT = 1400, 1000
WORLD = ["variance-drift", "--horizon=10000", "--quiet"]


def dashboard_screenshot(path: Path) -> None:
    """Run a small study and a grid, and take a screenshot of the grid's page in the dashboard."""
    browser = find_browser()
    if browser is None:
        raise SystemExit("Chromium is required (apt-get install chromium)")
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


IMAGES = DOCS / "images"


def main() -> None:
    """Run the studies, write the report, and take all screenshots."""
    browser_path = find_browser()
    if browser_path is None:
        sys.exit("Chromium is required (apt-get install chromium)")
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
