"""A report of 21 studies: size, time to create it, and time until it is interactive."""

from __future__ import annotations

import tempfile
import time
from functools import lru_cache
from pathlib import Path

import optuna

from studies.spec.files import find_study_file, load_study_file
from studies.storage.database import open_storage
from tests.dashboards.browser import find_browser, launch_browser
from tests.studies.examples import make_recommendation, store_study
from tools.benchmarks.measure import Figure
from tuning.api import report

LONG, SHORT = 2000, 30
"""Number of trials of the first study, and of each of the others."""


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with a storage of synthetic studies of all scenarios at three horizons."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder = tempfile.TemporaryDirectory()
    storage = open_storage(f"sqlite:///{folder.name}/studies.sqlite3", create=True)
    for index, spec in enumerate(load_study_file(find_study_file("all-scenarios"))):
        resolved = spec.resolved()
        recommendation = make_recommendation(
            scenario=resolved.scenario,
            horizon=resolved.horizon,
            arms=resolved.arms,
            study=resolved.study_name(),
            importance={"alpha0": 0.7, "beta0": 0.2, "epsilon": 0.1},
        )
        trials = LONG if index == 0 else SHORT
        store_study(storage, spec.model_copy(update={"trials": trials}), trials, recommendation)
    storage.engine.dispose()
    return folder


def _make() -> Path:
    folder = _folder().name
    return report(output=Path(folder) / "report.html", storage=f"sqlite:///{folder}/studies.sqlite3")


def seconds_to_make() -> float:
    """Return the seconds to create the report."""
    _folder()
    begin = time.perf_counter()
    _make()
    return time.perf_counter() - begin


def megabytes() -> float:
    """Return the size of the file in megabytes."""
    return _make().stat().st_size / 1e6


def seconds_to_interactive() -> float:
    """Return the seconds from opening the file until the page is interactive."""
    path, browser_path = _make(), find_browser()
    if browser_path is None:
        return float("nan")
    with launch_browser(browser_path) as browser:
        page = browser.new_page()
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_function("() => document.documentElement.dataset.ready === 'yes'")
        return float(page.evaluate("() => Number(document.documentElement.dataset.readyAfter)")) / 1e3


def races() -> list[Figure]:
    """Return three measurements with their upper limits."""
    return [
        Figure("report over 21 studies, one of 2000 trials", seconds_to_make, 15.0, "seconds to make", 3),
        Figure("report over 21 studies, file", megabytes, 8.0, "MB", 1),
        Figure("report over 21 studies, in Chromium", seconds_to_interactive, 2.0, "seconds until interactive", 3),
    ]
