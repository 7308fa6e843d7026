"""The dashboard over HTTP: it is read-only and only answers to host names of this machine."""

from __future__ import annotations

import csv
import gzip
import io
import json
import resource
import signal
import socket
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import pytest

from ravenlab.common.errors import InputError
from ravenlab.dashboards.optuna_dashboard.access import restrict_access
from ravenlab.dashboards.optuna_dashboard.server import MAX_CONNECTIONS, DashboardServer, describe_exposure, make_server
from ravenlab.studies.storage.database import open_storage
from tests.dashboards.browser import open_page
from tests.dashboards.dashboard_process import RunningServer, send_request, start_dashboard, wait_for_exit
from tests.faults.studies import run_in_process
from tests.studies.examples import WILD, make_recommendation, store_recommendations, url

if TYPE_CHECKING:
    from playwright.sync_api import Browser

JSON = {"Content-Type": "application/json"}
WRITES = [
    ("POST", "/api/studies", {"study_name": "new", "directions": ["minimize"]}),
    ("POST", "/api/studies/1/rename", {"study_name": "other"}),
    ("DELETE", "/api/studies/1", {}),
    ("PUT", "/api/studies/1/note", {"version": 2, "body": "mine"}),
    ("PUT", "/api/studies/1/1/note", {"version": 1, "body": "mine"}),
    ("POST", "/api/trials/1/tell", {"state": "Complete", "values": [0.0]}),
    ("POST", "/api/trials/1/user-attrs", {"user_attrs": {"a": 1}}),
    ("POST", "/api/studies/1/preference", {"mode": "ChooseWorst", "candidates": [0], "clicked": 0}),
    ("PUT", "/api/studies/1/preference_feedback_component", {"output_type": "note"}),
    ("POST", "/api/studies/1/1/skip", {}),
    ("POST", "/api/artifacts/1", {"file": "data:text/plain;base64,QQ==", "filename": "a"}),
    ("POST", "/incompatible-rdb-schema", {}),
    ("PATCH", "/api/studies", {}),
    ("OPTIONS", "/api/studies", {}),
    ("delete", "/api/studies/1", {}),
    ("get", "/api/studies", {}),
]


def dump(path: Path) -> list[str]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "s.sqlite3"
    internal = make_recommendation(study="compare/variance-drift/T1000/K10/raven-ucb")
    store_recommendations(path, make_recommendation(), make_recommendation(study=WILD, horizon=500), internal)
    return path


@pytest.fixture(scope="module")
def site(place: Path) -> Iterator[RunningServer]:
    with start_dashboard(url(place), folder=place.parent) as running:
        yield running


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Path]]:
    path = tmp_path_factory.mktemp("writable") / "s.sqlite3"
    place = store_recommendations(path, make_recommendation())
    with start_dashboard(place, "--writable", folder=path.parent) as running:
        yield running, path


def test_get_requests_return_studies_and_pages(site: RunningServer) -> None:
    meta = send_request(site.port, "GET", "/api/meta")
    assert meta.status == 200
    settings = json.loads(meta.body)
    for feature in ("artifact_is_available", "llm_is_available", "allow_unsafe"):
        assert settings[feature] is False
    studies = json.loads(send_request(site.port, "GET", "/api/studies").body)["study_summaries"]
    assert {study["study_name"] for study in studies} == {"raven-ucb/variance-drift/T1000/K10", WILD}
    for study in studies:
        number = study["study_id"]
        assert len(json.loads(send_request(site.port, "GET", f"/api/studies/{number}").body)["trials"]) == 4
        assert send_request(site.port, "GET", f"/csv/{number}").status == 200
    assert send_request(site.port, "GET", "/api/studies/99").status == 404
    assert send_request(site.port, "GET", "/").status == 302
    page = send_request(site.port, "GET", "/dashboard/studies/1")
    assert b"bundle.js" in page.body
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"


def test_script_is_served_with_and_without_compression(site: RunningServer) -> None:
    packed = send_request(site.port, "GET", "/static/bundle.js", headers={"Accept-Encoding": "gzip"})
    connection = socket.create_connection(("127.0.0.1", site.port), timeout=60)
    connection.sendall(f"GET /static/bundle.js HTTP/1.0\r\nHost: localhost:{site.port}\r\n\r\n".encode())
    plain = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    connection.close()
    assert plain.startswith(b"HTTP/1.0 200")
    assert gzip.decompress(packed.body) == plain.split(b"\r\n\r\n", 1)[1]


def test_head_has_no_body(site: RunningServer) -> None:
    answer = send_request(site.port, "HEAD", "/api/studies")
    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_refuses_to_write(site: RunningServer, place: Path, method: str, path: str, body: dict[str, Any]) -> None:
    before = dump(place)
    answer = send_request(site.port, method, path, json.dumps(body).encode(), JSON)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD"
    assert "read-only" in json.loads(answer.body)["reason"]
    assert dump(place) == before


def test_reading_everything_writes_nothing(site: RunningServer, place: Path) -> None:
    before = dump(place)
    send_request(site.port, "GET", "/dashboard")
    send_request(site.port, "GET", "/incompatible-rdb-schema")
    send_request(site.port, "GET", "/api/studies/1?after=2")
    send_request(site.port, "GET", "/api/studies/1/param_importances")
    for kind in ("contour", "slice", "parallel_coordinate", "rank", "edf", "timeline", "pareto_front", "none"):
        send_request(site.port, "GET", f"/api/studies/1/plot/{kind}")
    send_request(site.port, "GET", "/artifacts/1/00ff")
    send_request(site.port, "GET", "/api/studies/1?_method=DELETE", headers={"X-HTTP-Method-Override": "DELETE"})
    assert dump(place) == before


def test_a_large_refused_body_gets_a_response(site: RunningServer) -> None:
    assert send_request(site.port, "POST", "/api/studies", b" " * 900_000, JSON).status == 405


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost@evil",
        "[",
        "",
    ],
)
def test_a_foreign_host_is_refused(site: RunningServer, host: str) -> None:
    answer = send_request(site.port, "GET", "/api/studies", headers={"Host": host})
    assert answer.status == 403
    assert b"variance-drift" not in answer.body


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9", "127.0.0.1:9", "[::1]:9", "localhost."])
def test_host_names_of_this_machine_are_allowed(site: RunningServer, host: str) -> None:
    assert send_request(site.port, "GET", "/api/meta", headers={"Host": host}).status == 200


def test_paths_outside_the_static_folder_are_refused(site: RunningServer) -> None:
    for path in ("/static/../_app.py", "/static/%2e%2e/_app.py", "/static//etc/passwd"):
        assert send_request(site.port, "GET", path).status in (403, 404)


def test_writable_dashboard_refuses_other_origins(writable: tuple[RunningServer, Path]) -> None:
    site, path = writable
    body = json.dumps({"study_name": "new", "directions": ["minimize"]}).encode()
    for origin, status in (("http://evil.example", 403), ("null", 403), (site.url.rstrip("/"), 201)):
        answer = send_request(site.port, "POST", "/api/studies", body, {**JSON, "Origin": origin})
        assert answer.status == status
    assert "new" in optuna.get_all_study_names(open_storage(url(path), create=False))


def test_failed_request_is_one_line_and_the_dashboard_ends_cleanly(tmp_path: Path) -> None:
    """The dashboard logs a traceback of each request that it cannot answer, and its framework prints others.

    It ends on SIGINT here, and on SIGTERM in `test_another_host_prints_a_warning`, each with an open connection.
    """
    storage = open_storage(f"sqlite:///{tmp_path}/s.sqlite3", create=True)
    optuna.create_study(storage=storage, study_name="two\nlines")
    storage.engine.dispose()
    with start_dashboard(f"sqlite:///{tmp_path}/s.sqlite3", folder=tmp_path) as site:
        answer = send_request(site.port, "GET", "/api/studies/1?after=x")
        assert (answer.status, json.loads(answer.body)["reason"]) == (400, "after must be the number of a trial.")
        assert send_request(site.port, "GET", f"/api/studies/1?after={'9' * 5000}").status == 500
        assert send_request(site.port, "GET", "/csv/1").status == 500
        with socket.create_connection(("127.0.0.1", site.port)):
            site.process.send_signal(signal.SIGINT)
            assert wait_for_exit(site.process) == 130
        assert site.process.stderr is not None
        *warnings, last = site.process.stderr.read().splitlines()
        assert last == "ravenlab: interrupted."
        assert len(warnings) == 2
        for warning in warnings:
            assert warning.startswith("ravenlab: warning: a request to the dashboard failed: ")
        assert "4300 digits" in warnings[0]
        assert "control characters" in warnings[1]


def test_slow_clients_do_not_block_others(site: RunningServer) -> None:
    """Each sends only the beginning of a request, and there are more of them than files that the server may open."""
    allowed = resource.prlimit(site.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(site.process.pid, resource.RLIMIT_NOFILE, (2 * MAX_CONNECTIONS, allowed[1]))
    slow = []
    try:
        for _ in range(3 * MAX_CONNECTIONS):
            slow.append(socket.create_connection(("127.0.0.1", site.port), timeout=60))
            slow[-1].sendall(b"GET /api/meta HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert send_request(site.port, "GET", "/api/meta").status == 200
        assert slow[0].recv(1) == b"", "the oldest connection is open"
    finally:
        for connection in slow:
            connection.close()
        resource.prlimit(site.process.pid, resource.RLIMIT_NOFILE, allowed)


def test_csv_files_contain_no_formulas(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite:///{tmp_path}/s.sqlite3", create=True)
    study = optuna.create_study(storage=storage)
    formula = "=HYPERLINK(A1)"
    trial = optuna.trial.create_trial(
        params={"@p": formula, "x": -1.5},
        distributions={
            "@p": optuna.distributions.CategoricalDistribution([formula]),
            "x": optuna.distributions.FloatDistribution(-2, 2),
        },
        value=-2.5,
        user_attrs={"a": '+1,"2"', "long": "-" * 200_000},
    )
    study.add_trial(trial)
    with make_server(storage, port=0) as server:
        app: Any = server.get_app()
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/csv/1", "wsgi.input": io.BytesIO(), "SERVER_NAME": "x"}
        table = b"".join(app(environ, lambda *given: None)).decode()
        missing = b"".join(app({**environ, "PATH_INFO": "/csv/2"}, lambda *given: None))
    storage.engine.dispose()
    header, cells = csv.reader(io.StringIO(table))
    row = dict(zip(header, cells, strict=True))
    assert row["Param @p"] == "'=HYPERLINK(A1)"
    assert (row["Value"], row["Param x"]) == ("-2.5", "-1.5")
    assert row["UserAttribute a"] == '\'+1,"2"'
    assert row["UserAttribute long"].startswith("'--")
    assert "not found" in json.loads(missing)["reason"]


FOREIGN_PAGE = """<!doctype html><meta charset=utf-8>
<iframe name=frame></iframe>
<form method=post enctype=text/plain target=frame action="TARGET/api/studies">
<input name='{"study_name": "form", "directions": ["minimize"], "x": "' value='"}'>
</form>
<iframe src="TARGET/dashboard"></iframe>
<script src="TARGET/api/studies"></script>
"""

ATTACKS = """async (target) => {
    const body = JSON.stringify({study_name: "fetched", directions: ["minimize"]})
    const attempts = {
        read: [target + "/api/studies", {}],
        simple: [target + "/api/studies", {method: "POST", mode: "no-cors", body}],
        json: [target + "/api/studies", {method: "POST", headers: {"Content-Type": "application/json"}, body}],
        delete: [target + "/api/studies/1", {method: "DELETE"}],
    }
    const answers = {}
    for (const [name, [address, options]] of Object.entries(attempts))
        answers[name] = await fetch(address, options).then((answer) => answer.status, () => "refused")
    navigator.sendBeacon(target + "/api/studies", body)
    document.forms[0]?.submit()
    return answers
}"""


class ForeignSite(BaseHTTPRequestHandler):
    """A page of another site, whose address is `target` in its server."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(FOREIGN_PAGE.replace("TARGET", vars(self.server)["target"]).encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_foreign_pages_in_a_browser_neither_read_nor_write(
    writable: tuple[RunningServer, Path], browser: Browser
) -> None:
    """On a writable dashboard: a page of another site, and one whose name now has the dashboard's address."""
    site, path = writable
    with HTTPServer(("127.0.0.1", 0), ForeignSite) as foreign, open_page(browser) as page:
        target = site.url.rstrip("/")
        vars(foreign)["target"] = target
        threading.Thread(target=foreign.serve_forever, daemon=True).start()
        before = dump(path)
        page.goto(f"http://evil.example:{foreign.server_port}/")
        answers = page.evaluate(ATTACKS, target)
        # the answer to a simple request cannot be read, and has the status 0
        assert answers == {"read": "refused", "simple": 0, "json": "refused", "delete": "refused"}
        page.wait_for_load_state("networkidle")
        rebound = page.goto(f"http://evil.example:{site.port}/dashboard")
        assert rebound is not None
        assert rebound.status == 403
        assert page.evaluate(ATTACKS, "") == {"read": 403, "simple": 403, "json": 403, "delete": 403}
        assert dump(path) == before
        page.goto(site.url)
        assert page.evaluate(ATTACKS, "") == {"read": 200, "simple": 500, "json": 201, "delete": 204}
        foreign.shutdown()


def test_busy_port_is_reported(place: Path, site: RunningServer) -> None:
    done = run_in_process("dashboard", "--storage", url(place), "--port", str(site.port), folder=place.parent)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"port {site.port} on 127.0.0.1 is in use" in line


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["--port", "65536"], "65536"),
        (["--port", "-1"], "-1"),
        (["--port", "many"], "'many'"),
        (["--host", "no such host"], "'no such host'"),
        (["--host", ""], "''"),
        (["--host", "192.0.2.1"], "'192.0.2.1'"),
        (["--storage", "sqlite:///nowhere.sqlite3"], "nowhere.sqlite3 does not exist"),
    ],
)
def test_invalid_options_are_refused_in_one_line(place: Path, words: list[str], fragment: str) -> None:
    done = run_in_process("dashboard", "--storage", url(place), "--port", "0", *words, folder=place.parent)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert fragment in line
    assert not (place.parent / "nowhere.sqlite3").exists()


def test_another_host_prints_a_warning(place: Path) -> None:
    with start_dashboard(url(place), "--host", "0.0.0.0", folder=place.parent) as site:
        assert site.url == f"http://localhost:{site.port}/"
        assert send_request(site.port, "GET", "/api/meta", headers={"Host": "my-machine:80"}).status == 200
        connection = socket.create_connection(("127.0.0.1", site.port))
        site.process.terminate()
        assert wait_for_exit(site.process) == 130
        connection.close()
        assert site.process.stderr is not None
        warning, last = site.process.stderr.read().splitlines()
        assert "no login: everyone who can reach 0.0.0.0 can read all studies" in warning
        assert last == "ravenlab: interrupted."
    assert "change and delete" in str(describe_exposure("0.0.0.0", True))


def has_ipv6() -> bool:
    """Return whether this machine can listen on ::1."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_ipv6_addresses() -> None:
    if has_ipv6():
        with DashboardServer("::1", 0) as server:
            assert server.url == f"http://[::1]:{server.server_port}/"
    else:
        with pytest.raises(InputError, match="::1"):
            DashboardServer("::1", 0)


@pytest.mark.parametrize(
    ("names", "host", "passes"),
    [
        (None, "evil.example", True),
        ((), "evil.example", False),
        ((), None, True),
        (("tuning.example",), "tuning.example:8080", True),
        (("tuning.example",), "TUNING.example", True),
        (("tuning.example",), "localhost:8080", True),
        (("tuning.example",), "evil.example", False),
        (("tuning.example",), "tuning.example.evil.example", False),
        (("tuning.example",), "[", False),
    ],
)
def test_allowed_host_names(names: tuple[str, ...] | None, host: str | None, passes: bool) -> None:
    """Old clients send no Host header; browsers always do."""
    calls: list[str] = []
    application = restrict_access(lambda environ, start: calls.append("in") or [], writable=False, names=names)  # type: ignore[func-returns-value]
    application({"REQUEST_METHOD": "GET", **({} if host is None else {"HTTP_HOST": host})}, lambda *given: None)
    assert bool(calls) == passes
