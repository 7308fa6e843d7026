"""The printed report: pages of the PDF, what is printed, and the page afterwards."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ravenlab.dashboards.pages.report import data
from ravenlab.tuning.api import report
from tests.dashboards.browser import ARGUMENTS, require_browser
from tests.studies.examples import make_map, make_recommendation, store_recommendations

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCENARIOS = (
    "blips",
    "variance-drift",
    "periodic",
    "localized-jump",
    "gradual-drift",
    "random-walk",
    "stationary",
    "incremental-drift",
)
HORIZONS = (500, 1000, 2000)
MOST_PAGES = 30

PRINTED = ".panels.picture .plot, .panels.map > .panel:first-child .plot"
STATE = f"""() => {{
    window.dispatchEvent(new Event('beforeprint'));
    const plots = [...document.querySelectorAll({PRINTED!r})];
    const filled = plots.filter(each => each.querySelector('.heatmaplayer image, .scatterlayer path'));
    const [ink] = plots.map(each => each._fullLayout.font.color);
    return {{plots: plots.length, filled: filled.length, ink, widths: plots.map(each => each.clientWidth)}};
}}"""
"""The state of the figures at the moment in which the browser prints: nothing that is drawn later is printed."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 24 studies with maps."""
    require_browser()
    folder = tmp_path_factory.mktemp("print")
    recommendations = [
        make_recommendation(
            scenario=scenario, horizon=horizon, params={"alpha0": 0.5, "beta0": 1.0, "epsilon": 0.1}, trials=200
        )
        for scenario in SCENARIOS
        for horizon in HORIZONS
    ]
    mapped = [each.model_copy(update={"sensitivity": make_map(each)}) for each in recommendations]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "MAX_WORK", 0)  # no curves, which are not printed
        return report(output=folder / "report.html", storage=store_recommendations(folder / "s.sqlite3", *mapped))


def test_24_studies_have_at_most_30_pages(path: Path) -> None:
    target = path.with_suffix(".pdf")
    command = [require_browser(), "--headless", *ARGUMENTS, "--no-pdf-header-footer", f"--print-to-pdf={target}"]
    subprocess.run([*command, path.as_uri()], check=True, capture_output=True, timeout=120)
    pages = re.findall(rb"/Type\s*/Page\b", target.read_bytes())
    assert len(SCENARIOS) * len(HORIZONS) / 2 <= len(pages) <= MOST_PAGES, "two studies per page, and the rest"


def test_maps_are_printed_in_light_colors_and_everything_returns(offline_page: Page, path: Path) -> None:
    page = offline_page
    page.emulate_media(color_scheme="dark")
    page.goto(path.as_uri())
    page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
    page.locator("details.study summary").first.click()
    state = page.evaluate(STATE)
    assert state["plots"] == len(SCENARIOS) * len(HORIZONS) + 1
    assert state["filled"] == state["plots"]
    assert state["ink"] == "#1f2328"
    assert {*state["widths"]} == {368, 680}
    page.emulate_media(media="print", color_scheme="light")
    page.set_viewport_size({"width": 718, "height": 1046})
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    for part in (".findings .facts", ".overview", "#recommended", ".methods", "details.study .evidence"):
        assert page.locator(part).first.is_visible(), part
    ticks, marks = (
        page.locator(part).evaluate_all("all => all.map(each => each.getBoundingClientRect().x)")
        for part in (".finding.axis .track", ".finding .lanes .lane.defaults .track")
    )
    assert all(abs(mark - ticks[0]) < 2 for mark in marks), "lines are below the axis"
    for part in (".toc", ".filters", ".take", "#scenarios", ".waiting", "button:not(thead button)"):
        assert page.locator(part).locator("visible=true").count() == 0, part
    page.emulate_media(media="screen", color_scheme="dark")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.study[open]").count() == 1, "what was open stays open"
    page.wait_for_function("() => document.querySelector('.panels.picture .plot')._fullLayout.font.color === '#e6e6e6'")
    assert page.evaluate("() => document.querySelector('.panels.picture .plot').clientWidth") > 900
