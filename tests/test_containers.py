"""The Dockerfile and compose.yaml, checked without a Docker engine."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from ravenlab import PACKAGES
from tests.ports import free_ports
from tests.project import ROOT, environment
from tuning.cli.app import run

BIN = Path(sys.executable).parent
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "ARG", "ENV", "USER", "CMD"}
OURS = ("scheduler", "worker", "driver", "dashboard")
NO_ENGINE = "--host", "127.0.0.1"
"""Additional arguments, because the tests have no network per container."""


def resolved(text: str, given: dict[str, str]) -> str:
    """Substitute variables as compose does: `${NAME:-default}` and `${NAME:?refusal}`."""

    def value(found: re.Match[str]) -> str:
        name, how, rest = found.groups()
        if given.get(name):
            return given[name]
        if how == ":?":
            raise KeyError(rest)
        assert how == ":-", found[0]
        return rest

    return re.sub(r"\$\{(\w+)(:[-?])([^}]*)\}", value, text)


COMPOSED: dict[str, Any] = yaml.safe_load(resolved(COMPOSE, {"POSTGRES_PASSWORD": "from-outside"}))
SERVICES: dict[str, dict[str, Any]] = COMPOSED["services"]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions and their arguments, continued lines joined."""
    lines = [line for line in DOCKERFILE.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = (line.strip().partition(" ") for line in joined.splitlines() if line.strip())
    return [(name, arguments.strip()) for name, _, arguments in pairs]


def test_who_is_there_and_who_waits_for_whom() -> None:
    assert set(SERVICES) == {"database", *OURS}
    for name, service in SERVICES.items():
        assert set(service.get("networks", [])) <= set(COMPOSED["networks"]), name
        named = {volume.split(":")[0] for volume in service.get("volumes", [])}
        assert {volume for volume in named if not volume.startswith(("/", "."))} <= set(COMPOSED["volumes"]), name
        for other, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert SERVICES[other]["healthcheck"]["test"][0] == "CMD"
        assert (service.get("restart") == "unless-stopped") == (name != "driver")
    assert {SERVICES[name]["image"] for name in OURS} == {"ravenlab:local"}
    assert "container_name" not in SERVICES["worker"], "one with a name of its own can't be scaled"


def test_only_the_dashboard_is_published_and_to_this_machine_alone() -> None:
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"dashboard"}
    assert SERVICES["dashboard"]["ports"] == ["127.0.0.1:8080:8080"]
    assert COMPOSED["networks"] == {"cluster": {"internal": True}, "storage": {"internal": True}, "front": None}
    assert SERVICES["scheduler"]["networks"] == SERVICES["worker"]["networks"] == ["cluster"]
    assert SERVICES["database"]["networks"] == ["storage"]
    for name in OURS:
        assert SERVICES[name]["read_only"]
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert "privileged" not in SERVICES[name]
        assert "network_mode" not in SERVICES[name]


def test_there_is_no_password_in_it_and_it_does_not_start_without_one() -> None:
    with pytest.raises(KeyError, match="POSTGRES_PASSWORD"):
        resolved(COMPOSE, {})
    with pytest.raises(KeyError, match="POSTGRES_PASSWORD"):
        resolved(COMPOSE, {"POSTGRES_PASSWORD": ""})
    found = {
        (name, key): value
        for name, service in SERVICES.items()
        for key, value in service.get("environment", {}).items()
        if "PASS" in key
    }
    assert set(found) == {
        ("database", "POSTGRES_PASSWORD"),
        ("driver", "PGPASSWORD"),
        ("dashboard", "PGPASSWORD"),
    }
    assert set(found.values()) == {"from-outside"}
    assert not re.search(r"pass|secret|token", DOCKERFILE, re.IGNORECASE)
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_image_is_made_of_what_is_there() -> None:
    found = instructions()
    assert {name for name, _ in found} <= INSTRUCTIONS
    assert found[0][0] == "FROM"
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"]
    copied = [arguments.split()[:-1] for name, arguments in found if name == "COPY" and "--from" not in arguments]
    sources = [source.rstrip("/") for words in copied for source in words]
    assert all((ROOT / source).exists() for source in sources)
    assert sorted(sources) == sorted(sent)
    assert set(PACKAGES) < set(sources)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (install,) = [arguments for name, arguments in found if name == "RUN" and "pip install" in arguments]
    extras = re.search(r'"\.\[([\w,]+)\]"', install)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(project["project"]["optional-dependencies"])
    assert "--constraint constraints.txt" in install


def test_the_image_runs_as_nobody_in_particular() -> None:
    found = instructions()
    last = dict(found)
    assert last["USER"] == "$UID"
    assert last["ARG"] == "UID=10001"
    assert [name for name, _ in found].index("USER") < len(found) - 1
    cache = re.search(r"NUMBA_CACHE_DIR=(\S+)", last["ENV"])
    assert cache is not None
    (made,) = [arguments for name, arguments in found if name == "RUN" and "useradd" in arguments]
    assert cache[1] in made.split("--owner ravenlab")[1].split()
    assert last["WORKDIR"] in made.split("--owner ravenlab")[1].split()


@contextmanager
def container(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of compose.yaml in a process group, which is killed as a whole."""
    with (folder / "log").open("ab") as log:
        started = subprocess.Popen(
            [str(BIN / command[0]), *command[1:]],
            cwd=folder,
            env=environment(PYTHONWARNINGS="ignore", TMPDIR=str(folder)),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield started
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, 9)
            started.wait()


def until_healthy(check: list[str], started: subprocess.Popen[bytes]) -> None:
    """Run a health check until it passes."""
    until = time.monotonic() + 60
    while subprocess.run([str(BIN / check[0]), *check[1:]], capture_output=True, check=False).returncode != 0:
        assert started.poll() is None, "it ended"
        assert time.monotonic() < until, f"never healthy: {shlex.join(check)}"
        time.sleep(0.1)


def test_the_commands_work_when_run_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scheduler, worker and driver with the commands of the file; only hosts, ports and folders differ."""
    scheduler, health, worker_health = map(str, free_ports(3))
    here = {
        "tcp://scheduler:8786": f"tcp://127.0.0.1:{scheduler}",
        "8786": scheduler,
        "127.0.0.1:8787": f"127.0.0.1:{health}",
        "127.0.0.1:8788": f"127.0.0.1:{worker_health}",
        "/tmp": str(tmp_path),
    }

    def words(what: list[str]) -> list[str]:
        return [here.get(word, word) for word in what]

    def check(name: str) -> list[str]:
        test: list[str] = SERVICES[name]["healthcheck"]["test"][1:]
        return [word.replace(":8787/", f":{health}/").replace(":8788/", f":{worker_health}/") for word in test]

    with container([*words(SERVICES["scheduler"]["command"]), *NO_ENGINE], tmp_path) as first:
        until_healthy(check("scheduler"), first)
        with container([*words(SERVICES["worker"]["command"]), *NO_ENGINE], tmp_path) as second:
            until_healthy(check("worker"), second)
            monkeypatch.setenv("RAVENLAB_STORAGE", f"sqlite:///{tmp_path}/studies.sqlite3")
            assert SERVICES["driver"]["entrypoint"] == ["ravenlab"]
            assert run(words(SERVICES["driver"]["command"])) == 0


def test_the_dashboard_knows_its_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, *words = SERVICES["dashboard"]["command"]
    assert command == "ravenlab"
    assert run([*words, "--storage", f"sqlite:///{tmp_path}/none.sqlite3"]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert "--writable" not in words
