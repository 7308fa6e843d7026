"""A report of 60 studies with sensitivity maps: size, time to create it, and time until it is interactive."""

import tempfile
import time
from functools import lru_cache
from pathlib import Path

import optuna

from ravenlab.studies.spec.files import find_study_file, load_study_file
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.tuning.api import report
from tests.dashboards.browser import find_browser, launch_browser
from tests.studies.examples import make_map, make_recommendation, store_study
from tools.benchmarks.measure import Figure

STUDIES = 60
LONG = 2000
SHORT = 60
"""Number of studies, of trials of the first study, and of each of the others, enough for predictions."""

NAME = f"report over {STUDIES} studies, one of {LONG} trials"


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder with a storage of synthetic studies of all scenarios at several horizons."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder = tempfile.TemporaryDirectory()
    storage = open_storage(f"sqlite:///{folder.name}/studies.sqlite3", create=True)
    scenarios = [spec.scenario for spec in load_study_file(find_study_file("all-scenarios"))][::3]
    for index in range(STUDIES):
        spec = StudySpec(
            scenario=scenarios[index % len(scenarios)],
            horizon=500 * (1 + index // len(scenarios)),
            trials=LONG if index == 0 else SHORT,
            fixed={"epsilon": 0.1},
        )
        recommendation = make_recommendation(
            scenario=spec.scenario,
            horizon=spec.horizon,
            study=spec.study_name(),
            params={"alpha0": 0.5, "beta0": 1.0, "epsilon": 0.1},
            importance={"alpha0": 0.8, "beta0": 0.2},
        )
        recommendation = recommendation.model_copy(update={"sensitivity": make_map(recommendation)})
        store_study(storage, spec, spec.trials, recommendation)
    storage.engine.dispose()
    return folder


def _make() -> Path:
    folder = _folder().name
    return report(output=Path(folder) / "report.html", storage=f"sqlite:///{folder}/studies.sqlite3")


def seconds_per_study() -> float:
    """Return the seconds of CPU time per study to create the report, without the time to import and compile."""
    _make()
    begin = time.process_time()
    _make()
    return (time.process_time() - begin) / STUDIES


def megabytes() -> float:
    """Return the size of the file in megabytes."""
    return _make().stat().st_size / 1e6


def seconds_to_interactive() -> float:
    """Return the seconds from opening the file until the page is interactive."""
    path = _make()
    browser_path = find_browser()
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
        Figure(NAME, seconds_per_study, 0.25, "seconds of CPU per study", 1),
        Figure(f"{NAME}, file", megabytes, 12.0, "MB", 1),
        Figure(f"{NAME}, in Chromium", seconds_to_interactive, 1.5, "seconds until interactive", 3),
    ]
