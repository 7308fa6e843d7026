"""Tests of the promises in SECURITY.md about foreign storages, files and names.

Access to the dashboard is tested in tests/dashboards.
"""

from __future__ import annotations

import ast
import datetime
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import optuna
import pytest
from distributed import security
from sqlalchemy import text

from ravenlab.common.compat.distributed import LocalSecurity
from ravenlab.common.compat.numba_settings import SETTINGS_FILE
from ravenlab.common.errors import InputError
from ravenlab.common.paths import user_cache_folder
from ravenlab.dashboards.optuna_dashboard.access import is_loopback
from ravenlab.dashboards.optuna_dashboard.server import DashboardServer, make_server
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.storage.database import open_storage
from ravenlab.studies.storage.keys import write_recommendation
from ravenlab.tuning.attachments import attach_to_studies
from ravenlab.tuning.cli.app import COMMANDS
from ravenlab.tuning.workers.cluster import LOOPBACK, connect, open_cluster
from ravenlab.tuning.workers.local import SAFE_PATH, SAFE_PATH_VARIABLE
from tests.command import printed, refused, run_command
from tests.dashboards.outline import Outline
from tests.faults.sandbox import watch_activity
from tests.faults.template import tiny
from tests.messages import assert_names
from tests.project import ROOT, parse, source_files
from tests.studies.examples import make_recommendation, store_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

ANOTHER_USER = 12345

UNPICKLING = {
    *("loads", "load", "Unpickler", "read_pickle", "unsafe_load", "full_load", "exec_module", "run_path", "run_module"),
}
"""Functions of any module that load or run code from data."""

DATA_FORMATS = {"json", "tomllib"}
"""Modules whose `load` and `loads` return plain data."""

ALLOWED = {
    ("ravenlab/common/plugins.py", "exec_module"): "a Python file that the user names on the command line",
    ("ravenlab/common/plugins.py", "load"): "an entry point of an installed package that the user names",
    ("environments/catalog.py", "load"): "the registry of scenario plugins",
    ("policies/engine/plugins.py", "load"): "the registry of policy plugins",
    ("tuning/workers/payload.py", "loads"): "a task on a worker of a cluster, which runs what its scheduler sends",
}


def test_only_listed_code_unpickles_or_executes() -> None:
    calls = {}
    for path in source_files():
        for node in ast.walk(parse(ROOT / path)):
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


PLUGIN = """
from ravenlab.environments import find_scenario

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
        ["play", f"--trace={trace.name}", policies, "--output=play.html"],
        ["play", f"{plugin.name}:world", policies, "--output=worlds.html", "--horizon=20", "--arms=3", "--jobs=1"],
        ["report", "--output=report.html"],
    ):
        printed(*words)


PAGES = ("report.html", "fight/compare.html", "diagnosis.html", "log.html", "play.html", "worlds.html")


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
                if study.study_name.startswith(f"robust {EVIL}/"):
                    continue  # a search like the first
                for place in ("", "/note"):
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
    monkeypatch.setattr("ravenlab.dashboards.pages.report.page._write_images", lambda page, folder: None)
    storage = open_storage(f"sqlite:///{here}/studies.sqlite3", create=True)
    for number, name in enumerate(NAMES):
        study = store_study(storage, StudySpec(scenario="blips", horizon=20, arms=3, trials=3, name=f"{number}"), 3)
        write_recommendation(study, make_recommendation(study=name, scenario="blips", horizon=20, arms=3))
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
    cache = str(user_cache_folder())
    assert not [place for place in activity.written if not place.startswith((*allowed, cache))]


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
        printed(*command)
    with make_server(storage, port=0) as server:
        for page in ("/api/studies", "/api/studies/1", "/api/studies/1/param_importances", "/csv/1"):
            environ = {"REQUEST_METHOD": "GET", "PATH_INFO": page, "wsgi.input": io.BytesIO(), "SERVER_NAME": "x"}
            assert request_status(server, environ).startswith("200"), page
    storage.engine.dispose()
    assert run_command(["delete", "*", "--yes"])[0] == 0
    assert not marker.exists()


def request_status(server: DashboardServer, environ: dict[str, Any]) -> str:
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


MODULES = ("pickle", "joblib", "multiprocessing", "numba", "json", "distributed", "tuning", "ravenlab")
"""Modules that the processes of a command import; hostile files of these names are in the current folder."""

RAN = ["--horizon=20", "--arms=3", "--replications=4", "--jobs=2"]
TUNED = [*RAN, "--trials=4", "--batch=2", "--selection=4", "--report=4", "--quiet"]
WITH_PLUGIN = ["tune", "./mine.py:world", *TUNED]


@pytest.mark.parametrize(
    "words",
    [
        [*WITH_PLUGIN, "--backend=loky"],
        [*WITH_PLUGIN, "--cluster=local"],
        ["grid", "blips", "--alpha0=1,2", "--beta0=1", *RAN, "--backend=loky", "--quiet"],
        ["compare", "blips", "--tune=0", "--policies=ucb1,./mine.py:Mine", *RAN, "--backend=loky", "--quiet"],
        ["doctor", "--cluster=local"],
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_files_of_the_current_folder_are_not_executed(tmp_path: Path, words: list[str]) -> None:
    """Except the plugin that the command names, which works on all workers."""
    marker = tmp_path / "executed"
    for module in MODULES:
        (tmp_path / f"{module}.py").write_text(f"open({str(marker)!r}, 'a').write('{module} ')\nraise ImportError\n")
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / SETTINGS_FILE).write_text(f"chrome_trace: {marker}")  # numba writes this file at the end
    script = Path(sys.executable).with_name("ravenlab")  # python -m would import from the current folder itself
    done = subprocess.run([script, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("settings", ["chrome_trace: {}", "[{}]"], ids=["file to overwrite", "invalid"])
def test_settings_of_numba_in_the_current_folder_are_ignored(tmp_path: Path, settings: str) -> None:
    written = tmp_path / "written"
    (tmp_path / SETTINGS_FILE).write_text(settings.format(written))
    trusting = subprocess.run([sys.executable, "-c", "import ravenlab, numba"], cwd=tmp_path, check=False)
    assert trusting.returncode or written.exists(), "the attack does not work"
    written.unlink(missing_ok=True)
    script = Path(sys.executable).with_name("ravenlab")
    words = ["simulate", "blips", *RAN]
    done = subprocess.run([script, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not written.exists()


def test_safe_path_ends_with_the_last_block(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, ""):
        if before is None:
            monkeypatch.delenv(SAFE_PATH_VARIABLE, raising=False)
        else:
            monkeypatch.setenv(SAFE_PATH_VARIABLE, before)
        with SAFE_PATH:
            with SAFE_PATH:
                pass
            assert os.environ[SAFE_PATH_VARIABLE] == "1"
        assert os.environ.get(SAFE_PATH_VARIABLE) == before


HOSTILE_MODULE = """
import pathlib
pathlib.Path({marker!r}).touch()
raise ImportError
"""


def swap_scratch_folders(shared: Path, marker: Path) -> None:
    """Replace each scratch folder of Dask in a shared folder by one with a hostile module; does not return."""
    os.setgroups([])
    os.setgid(ANOTHER_USER)
    os.setuid(ANOTHER_USER)
    while True:
        time.sleep(0.002)
        with suppress(OSError):  # a folder that has just been removed or is private
            for folder in shared.glob("*/worker-*"):
                if folder.is_dir() and not (folder / "ravenlab.py").exists():
                    folder.rename(folder.with_name(f"moved-{folder.name}"))
                    folder.mkdir()
                    (folder / "ravenlab.py").write_text(HOSTILE_MODULE.format(marker=str(marker)))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_cannot_replace_the_scratch_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers import from it, and Dask uses a folder of this name that another user has created before."""
    with tempfile.TemporaryDirectory(prefix="shared-") as place:
        shared = Path(place)
        shared.chmod(0o1777)
        marker = shared / "executed"
        (shared / "dask-scratch-space").mkdir()
        (shared / "dask-scratch-space").chmod(0o777)
        os.chown(shared / "dask-scratch-space", ANOTHER_USER, ANOTHER_USER)
        monkeypatch.setattr(tempfile, "tempdir", place)
        attacker = os.fork()
        if attacker == 0:
            try:
                swap_scratch_folders(shared, marker)
            finally:
                os._exit(1)
        try:
            with open_cluster("local", 1) as workers:
                paths = workers.run(import_path, [()])[0]
            assert os.waitpid(attacker, os.WNOHANG) == (0, 0), "the attack does not work"
        finally:
            os.kill(attacker, signal.SIGKILL)
            os.waitpid(attacker, 0)
        assert any("dask-scratch-space/worker-" in path for path in paths)
        assert not [path for path in paths if path.startswith(str(shared / "dask-scratch-space"))]
        assert not marker.exists()
        assert [path.name for path in shared.iterdir()] == ["dask-scratch-space"]


def import_path() -> list[str]:
    return sys.path


def test_temporary_folder_that_others_can_replace_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = here / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    assert_names(refused("tune", "blips", *TUNED, "--cluster=local"), "TMPDIR", str(shared))
    assert not list(shared.iterdir())


def test_local_cluster_requires_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other users of this machine can reach its ports, and Dask executes what a client sends.

    Its own processes connect also if the clock has been set back since the certificate was created.
    """
    later = Mock(wraps=datetime.datetime, now=lambda tz: datetime.datetime.now(tz) + datetime.timedelta(hours=1))
    monkeypatch.setattr(security, "datetime", Mock(wraps=datetime, datetime=later, timezone=datetime.timezone))
    with open_cluster("local", 1) as workers:
        servers = [workers.address, *workers.client.scheduler_info()["workers"]]
        for address in servers:
            for other in (address, address.replace("tls:", "tcp:")):
                with pytest.raises(InputError):
                    connect(other, 2.0, LocalSecurity.temporary())  # type: ignore[no-untyped-call]
        assert all(address.startswith("tls://127.0.0.1:") for address in servers)
        assert workers.run(divmod, [(7, 2)]) == [(3, 1)]


def test_no_duration_depends_on_the_clock() -> None:
    """The clock may be changed at any time; durations and timeouts use a clock that nobody can set."""
    for path in source_files():
        assert not re.search(r"\btime\.time(_ns)?\(|\bdatetime\.(now|utcnow|today)\(", (ROOT / path).read_text()), path


def test_security_names_tests_that_exist() -> None:
    """SECURITY.md names a test for each promise."""
    document = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", document)
    assert len(named) >= 8
    for place, test in named:
        assert f"def {test}(" in (ROOT / place).read_text(encoding="utf-8") if test else (ROOT / place).exists(), place
    assert set(re.findall(r"`ravenlab (\w+)", document)) <= {*COMMANDS, "list"}
