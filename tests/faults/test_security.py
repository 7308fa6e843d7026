"""Tests of the promises in SECURITY.md about foreign storages, files and names.

Access to the dashboard is tested in tests/dashboards.
"""

from __future__ import annotations

import ast
import io
import json
import pickle
import re
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from sqlalchemy import text

from dashboards.optuna_dashboard.access import is_loopback
from dashboards.optuna_dashboard.server import DashboardServer, make_server
from studies.spec.study import StudySpec
from studies.storage.database import open_storage
from tests.command import run_command
from tests.dashboards.outline import Outline
from tests.faults.sandbox import watch_activity
from tests.faults.template import tiny
from tests.project import ROOT, source_files
from tests.studies.examples import make_recommendation, store_study
from tuning.cli.app import COMMANDS
from tuning.cli.dashboard import attach_to_studies
from tuning.workers.cluster import LOOPBACK

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

UNPICKLING = {
    *("loads", "load", "Unpickler", "read_pickle", "unsafe_load", "full_load", "exec_module", "run_path", "run_module"),
}
"""Functions of any module that load or run code from data."""

DATA_FORMATS = {"json", "tomllib"}
"""Modules whose `load` and `loads` return plain data."""

ALLOWED = {
    ("environments/plugins.py", "exec_module"): "a Python file that the user names on the command line",
    ("environments/plugins.py", "load"): "an entry point of an installed package that the user names",
    ("environments/catalog.py", "load"): "the registry of scenario plugins",
    ("policies/engine/plugins.py", "load"): "the registry of policy plugins",
    ("tuning/workers/payload.py", "loads"): "a task on a worker of a cluster, which runs what its scheduler sends",
}


def test_only_listed_code_unpickles_or_executes() -> None:
    calls = {}
    for path in source_files():
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called, owner = node.func, ""
            if isinstance(called, ast.Attribute):
                name, owner = called.attr, ast.unparse(called.value)
            else:
                name = getattr(called, "id", "")
            suspicious = name in UNPICKLING and owner not in DATA_FORMATS
            suspicious |= not owner and name in ("eval", "exec", "compile", "__import__")
            suspicious |= any(word.arg == "allow_pickle" for word in node.keywords)
            if suspicious:
                calls[path.as_posix(), name] = node.lineno
    assert calls.keys() == ALLOWED.keys(), calls


EVIL = "</script><evil7 onload=evil7()><img src=evil7 onerror=window.evil7=1>'\"&{{7*7}}|`evil7`"
"""A name that becomes an HTML element if it is not escaped."""

FILE = EVIL.replace("/", "")
"""The same for the name of a file."""


def assert_escaped(path: Path) -> None:
    """Assert that the name is on the page, and only as text."""
    page = Outline(path.read_text(encoding="utf-8"))
    assert "evil7" in page.everything
    assert not [name for name in page.names() if "evil7" in name or name.startswith("on")]
    assert "49|" not in page.everything, "a template expression was evaluated"


def assert_not_executed(page: Page, address: str) -> None:
    """Assert that a browser shows the page without executing anything that is part of a name."""
    page.goto(address)
    page.get_by_text("evil7").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("typeof window.evil7") == "undefined"
    assert page.locator("evil7, img[src=evil7]").count() == 0


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAVENLAB_STORAGE", raising=False)
    return tmp_path


PLUGIN = """
from environments import find_scenario

world = find_scenario("blips")


class Mine:
    def __init__(self, arms): self.arms = arms
    def select(self): return 0
    def update(self, arm, reward): pass
"""


def write_hostile_files(folder: Path) -> tuple[Path, Path, Path]:
    """Write a plugin, a trace and a log; the names of the files, columns and arms are hostile."""
    plugin, trace, log = (folder / f"{FILE}{suffix}" for suffix in (".py", ".csv", " log.csv"))
    plugin.write_text(PLUGIN)
    quoted = '"' + EVIL.replace('"', '""') + '"'
    rows = "".join(f"{row % 7},{row % 5},{row % 3}\n" for row in range(120))
    trace.write_text(f'{quoted},"</script><evil7>",c\n{rows}')
    arms = (quoted, "<evil7>", "c")
    events = "".join(f"{step},{arms[step * step % 7 % 3]},{step % 5}\n" for step in range(400))
    log.write_text(f"step,arm,reward\n{events}")
    return plugin, trace, log


def store_hostile_studies(folder: Path) -> None:
    """Store a study of every kind, and write the pages of a comparison and of two diagnoses."""
    plugin, trace, log = write_hostile_files(folder)
    few = ["--trials=2", "--selection=2", "--report=2"]
    tiny("tune", f"{plugin.name}:world", f"--name={EVIL}", *few)
    tiny("tune", "--robust", f"{plugin.name}:world", "stationary", f"--name=robust {EVIL}", *few)
    tiny("grid", f"{plugin.name}:world", f"--name=grid {EVIL}", "--alpha0=1,2", "--beta0=1")
    policies = f"--policies=ucb1,./{plugin.name}:Mine"
    tiny("compare", "blips", f"--name=fight {EVIL}", "--tune=0", policies, "--output=fight")
    few = ["--trials=2", "--replications=2", "--jobs=1", "--quiet"]
    for words in (
        ["tune", f"--trace={trace.name}", "--window=20", "--selection=5", "--report=5", *few],
        ["tune", f"--log={log.name}", "--selection=128", "--report=128", *few],
        ["diagnose", trace.name, "--halves=0", "--output=diagnosis.html"],
        ["diagnose", log.name, "--halves=0", "--output=log.html"],
        ["report", "--output=report.html"],
    ):
        code, _, err = run_command(words)
        assert code == 0, (words, err)


PAGES = ("report.html", "fight/compare.html", "diagnosis.html", "log.html")


def test_names_are_escaped_on_every_page(here: Path, browser: Browser) -> None:
    """Names of studies, custom scenarios and policies, and of the files, columns and arms of traces and logs.

    The pages of a reproduction contain no text from elsewhere: `reproduce` has neither names nor files as arguments.
    """
    store_hostile_studies(here)
    storage = open_storage(f"sqlite:///{here}/studies.sqlite3", create=False)
    attach_to_studies(f"sqlite:///{here}/studies.sqlite3")
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    for page in PAGES:
        assert_escaped(here / page)
    with make_server(storage, port=0) as server, closing(browser.new_page()) as shown:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        shown.on("dialog", note)
        try:
            for page in PAGES:
                assert_not_executed(shown, (here / page).as_uri())
            for study in storage.get_all_studies():
                with_surface = study.study_name.startswith("grid ")  # which takes seconds without a graphics card
                for place in ("/note",) if with_surface else ("", "/note"):
                    assert_not_executed(shown, f"{server.url}dashboard/studies/{study._study_id}{place}")
        finally:
            server.shutdown()
            thread.join()
    storage.engine.dispose()
    assert dialogs == []


NAMES = [
    *("../../out", "/etc/out", "a/../../out", "..", ".", ".hidden", "~/out", "C:\\out", "\\\\host\\out", "%2e%2e/out"),
    *("CON", "nul.txt", "a\x00b", "a\nb", " ", "\u202etxt.exe", "-rf", "$(out)", "x" * 300),
]


def test_figure_files_stay_in_their_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this command names files after studies, and a storage may contain any study name."""
    monkeypatch.setattr("dashboards.pages.report.page._write_images", lambda page, folder: None)
    storage = open_storage(f"sqlite:///{here}/studies.sqlite3", create=True)
    for number, name in enumerate(NAMES):
        study = store_study(storage, StudySpec(scenario="blips", horizon=20, arms=3, trials=3, name=f"{number}"), 3)
        storage.engine.connect().close()
        rename = text("UPDATE studies SET study_name = :new WHERE study_id = :id")
        with storage.engine.begin() as connection:
            connection.execute(rename, {"new": name, "id": study._study_id})
    storage.remove_session()
    storage.engine.dispose()
    with watch_activity() as activity:
        code, _, err = run_command(["report", "--figures=out/figures", "--output=report.html"])
    assert code == 0, err
    files = list((here / "out" / "figures").iterdir())
    assert len(files) >= len(NAMES)
    for path in files:
        assert path.name.removesuffix(".min.js").replace("-", "").replace(".html", "").isalnum()
        assert len(path.name) < 120
    allowed = (f"{here}/out", f"{here}/report.html", f"{here}/.report.html.", f"{here}/studies.sqlite3")
    assert not [place for place in activity.written if not place.startswith(allowed)]


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.place,)


def test_hostile_storage_executes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Optuna's CMA-ES stores pickles in trials; ravenlab neither writes nor reads them."""
    marker = here / "executed"
    pickled = pickle.dumps(Payload(marker))
    pickle.loads(pickled)
    assert marker.exists(), "the payload does not work"
    marker.unlink()
    words = ["blips", "--sampler=cmaes", "--trials=6", "--batch=4", "--selection=2", "--report=2", "--name=hostile"]
    tiny("tune", *words)
    tiny("grid", "blips", "--name=cells", "--alpha0=1,2", "--beta0=1")
    storage = open_storage(f"sqlite:///{here}/studies.sqlite3", create=True)
    add_pickles(storage, pickled)
    monkeypatch.setattr(DashboardServer, "serve_forever", lambda self: None)
    tiny("tune", *(word.replace("trials=6", "trials=10") for word in words))
    for command in (
        ["studies", "--json"],
        ["show", "hostile", "--json"],
        ["show", "cells"],
        ["export"],
        ["report"],
        ["recommend", "blips", "--horizon=20", "--arms=3"],
        ["copy", "*", "--to=sqlite:///copied.sqlite3"],
        ["dashboard", "--port=0"],
        ["doctor"],
    ):
        code, _, err = run_command(command)
        assert code == 0, (command, err)
    with make_server(storage, port=0) as server:
        for page in ("/api/studies", "/api/studies/1", "/api/studies/1/param_importances", "/csv/1"):
            environ = {"REQUEST_METHOD": "GET", "PATH_INFO": page, "wsgi.input": io.BytesIO(), "SERVER_NAME": "x"}
            assert request_status(server, environ).startswith("200"), page
    storage.engine.dispose()
    assert run_command(["delete", "*", "--yes"])[0] == 0
    assert not marker.exists()


def request_status(server: DashboardServer, environ: dict[str, Any]) -> str:
    """Return the status of a request that is made without a network."""
    statuses: list[str] = []
    app: Any = server.get_app()
    assert b"".join(app(environ, lambda status, *more: statuses.append(status)))
    return statuses[0]


def add_pickles(storage: optuna.storages.RDBStorage, pickled: bytes) -> None:
    """Store the pickle under every key that a sampler of Optuna might read, in all studies and trials."""
    value_hex = pickled.hex()
    prefixes = [
        f"{kind}{restart}:{what}"
        for kind in ("cma", "sepcma")
        for restart in ("", ":restart_0", ":restart:0")
        for what in ("optimizer", "optimizer:0", "popsize", "n_restarts")
    ]
    for study in storage.get_all_studies():
        for key in (*prefixes, "pickle", "sampler"):
            storage.set_study_system_attr(study._study_id, key, value_hex)
            storage.set_study_user_attr(study._study_id, key, value_hex)
        with storage.engine.begin() as connection:
            for trial in storage.get_all_trials(study._study_id):
                for table in ("trial_system_attributes", "trial_user_attributes"):
                    for key in (*prefixes, "cma:generation", "sepcma:generation"):
                        value = json.dumps(0 if key.endswith("generation") else value_hex)
                        connection.execute(
                            text(f"INSERT INTO {table} (trial_id, key, value_json) VALUES (:trial, :key, :value)"),
                            {"trial": trial._trial_id, "key": key, "value": value},
                        )


def test_servers_listen_on_this_machine_only(here: Path) -> None:
    """The rejection of foreign Host headers is tested in tests/dashboards/optuna_dashboard/test_server.py."""
    storage = open_storage(f"sqlite:///{here}/studies.sqlite3", create=True)
    store_study(storage, StudySpec(scenario="blips", horizon=20), 1, make_recommendation())
    with make_server(storage, port=0) as server:
        assert is_loopback(str(server.server_address[0]))
    assert is_loopback(LOOPBACK)
    storage.engine.dispose()


def test_security_names_tests_that_exist() -> None:
    """SECURITY.md names a test for each promise."""
    document = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", document)
    assert len(named) >= 8
    for place, test in named:
        assert f"def {test}(" in (ROOT / place).read_text(encoding="utf-8") if test else (ROOT / place).exists(), place
    assert set(re.findall(r"`ravenlab (\w+)", document)) <= {*COMMANDS, "list"}
