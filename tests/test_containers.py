"""The Dockerfile and compose.yaml, checked without a Docker engine."""

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

from ravenlab.tuning.cli.app import run
from tests.command import refused
from tests.ports import free_ports
from tests.project import PACKAGES, ROOT, environment

BIN = Path(sys.executable).parent
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = {"FROM", "WORKDIR", "COPY", "RUN", "ARG", "ENV", "USER", "CMD"}
OWN_SERVICES = ("scheduler", "worker", "driver", "dashboard")
LOCAL_HOST = "--host", "127.0.0.1"
"""Additional arguments, because the tests have no network per container."""


def substitute_variables(text: str, variables: dict[str, str]) -> str:
    """Substitute variables as compose does: `${NAME:-default}` and `${NAME:?refusal}`."""

    def value(match: re.Match[str]) -> str:
        name, operator, rest = match.groups()
        if variables.get(name):
            return variables[name]
        if operator == ":?":
            raise KeyError(rest)
        assert operator == ":-", match[0]
        return rest

    return re.sub(r"\$\{(\w+)(:[-?])([^}]*)\}", value, text)


COMPOSED: dict[str, Any] = yaml.safe_load(substitute_variables(COMPOSE, {"POSTGRES_PASSWORD": "from-outside"}))
SERVICES: dict[str, dict[str, Any]] = COMPOSED["services"]


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile and their arguments, with continued lines joined."""
    lines = [line for line in DOCKERFILE.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    pairs = (line.strip().partition(" ") for line in joined.splitlines() if line.strip())
    return [(name, arguments.strip()) for name, _, arguments in pairs]


def test_services_and_their_dependencies() -> None:
    assert set(SERVICES) == {"database", *OWN_SERVICES}
    for name, service in SERVICES.items():
        assert set(service.get("networks", [])) <= set(COMPOSED["networks"]), name
        named = {volume.split(":")[0] for volume in service.get("volumes", [])}
        assert {volume for volume in named if not volume.startswith(("/", "."))} <= set(COMPOSED["volumes"]), name
        for other, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert SERVICES[other]["healthcheck"]["test"][0] == "CMD"
        assert (service.get("restart") == "unless-stopped") == (name != "driver")
    assert {SERVICES[name]["image"] for name in OWN_SERVICES} == {"ravenlab:local"}
    assert "container_name" not in SERVICES["worker"], "a service with a container name can't be scaled"


def test_only_the_dashboard_is_published_and_only_locally() -> None:
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"dashboard"}
    assert SERVICES["dashboard"]["ports"] == ["127.0.0.1:8080:8080"]
    assert COMPOSED["networks"] == {"cluster": {"internal": True}, "storage": {"internal": True}, "front": None}
    assert SERVICES["scheduler"]["networks"] == SERVICES["worker"]["networks"] == ["cluster"]
    assert SERVICES["database"]["networks"] == ["storage"]
    for name in OWN_SERVICES:
        assert SERVICES[name]["read_only"]
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert "privileged" not in SERVICES[name]
        assert "network_mode" not in SERVICES[name]


def test_password_is_required_and_not_in_the_files() -> None:
    with pytest.raises(KeyError, match="POSTGRES_PASSWORD"):
        substitute_variables(COMPOSE, {})
    with pytest.raises(KeyError, match="POSTGRES_PASSWORD"):
        substitute_variables(COMPOSE, {"POSTGRES_PASSWORD": ""})
    passwords = {
        (name, key): value
        for name, service in SERVICES.items()
        for key, value in service.get("environment", {}).items()
        if "PASS" in key
    }
    assert set(passwords) == {
        ("database", "POSTGRES_PASSWORD"),
        ("driver", "PGPASSWORD"),
        ("dashboard", "PGPASSWORD"),
    }
    assert set(passwords.values()) == {"from-outside"}
    assert not re.search(r"pass|secret|token", DOCKERFILE, re.IGNORECASE)
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_image_copies_existing_files() -> None:
    steps = instructions()
    assert {name for name, _ in steps} <= INSTRUCTIONS
    assert steps[0][0] == "FROM"
    not_ignored = [
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"
    ]
    copied = [arguments.split()[:-1] for name, arguments in steps if name == "COPY" and "--from" not in arguments]
    sources = [source.rstrip("/") for words in copied for source in words]
    assert all((ROOT / source).exists() for source in sources)
    assert sorted(sources) == sorted(not_ignored)
    assert {"ravenlab", *PACKAGES[1:]} < set(sources)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (install,) = [arguments for name, arguments in steps if name == "RUN" and "pip install" in arguments]
    extras = re.search(r'"\.\[([\w,]+)\]"', install)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(project["project"]["optional-dependencies"])
    assert "--constraint constraints.txt" in install


def test_image_runs_as_an_unprivileged_user() -> None:
    steps = instructions()
    last = dict(steps)
    assert last["USER"] == "$UID"
    assert last["ARG"] == "UID=10001"
    assert [name for name, _ in steps].index("USER") < len(steps) - 1
    cache = re.search(r"NUMBA_CACHE_DIR=(\S+)", last["ENV"])
    assert cache is not None
    (user_setup,) = [arguments for name, arguments in steps if name == "RUN" and "useradd" in arguments]
    assert cache[1] in user_setup.split("--owner ravenlab")[1].split()
    assert last["WORKDIR"] in user_setup.split("--owner ravenlab")[1].split()


@contextmanager
def container(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of compose.yaml in a process group, which is killed as a whole."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [str(BIN / command[0]), *command[1:]],
            cwd=folder,
            env=environment(PYTHONWARNINGS="ignore", TMPDIR=str(folder)),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()


def wait_until_healthy(check: list[str], process: subprocess.Popen[bytes]) -> None:
    """Run a health check until it passes."""
    deadline = time.monotonic() + 60
    while subprocess.run([str(BIN / check[0]), *check[1:]], capture_output=True, check=False).returncode != 0:
        assert process.poll() is None, "the process ended"
        assert time.monotonic() < deadline, f"never healthy: {shlex.join(check)}"
        time.sleep(0.1)


def test_commands_work_without_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scheduler, worker and driver run the commands of the file with other hosts, ports and folders."""
    scheduler, health, worker_health = map(str, free_ports(3))
    replacements = {
        "tcp://scheduler:8786": f"tcp://127.0.0.1:{scheduler}",
        "8786": scheduler,
        "127.0.0.1:8787": f"127.0.0.1:{health}",
        "127.0.0.1:8788": f"127.0.0.1:{worker_health}",
        "/tmp": str(tmp_path),
    }

    def words(command: list[str]) -> list[str]:
        return [replacements.get(word, word) for word in command]

    def check(name: str) -> list[str]:
        test: list[str] = SERVICES[name]["healthcheck"]["test"][1:]
        return [word.replace(":8787/", f":{health}/").replace(":8788/", f":{worker_health}/") for word in test]

    with container([*words(SERVICES["scheduler"]["command"]), *LOCAL_HOST], tmp_path) as first:
        wait_until_healthy(check("scheduler"), first)
        with container([*words(SERVICES["worker"]["command"]), *LOCAL_HOST], tmp_path) as second:
            wait_until_healthy(check("worker"), second)
            monkeypatch.setenv("RAVENLAB_STORAGE", f"sqlite:///{tmp_path}/studies.sqlite3")
            assert SERVICES["driver"]["entrypoint"] == ["ravenlab"]
            assert run(words(SERVICES["driver"]["command"])) == 0


def test_dashboard_command_has_valid_options(tmp_path: Path) -> None:
    command, *words = SERVICES["dashboard"]["command"]
    assert command == "ravenlab"
    assert "does not exist" in refused(*words, "--storage", f"sqlite:///{tmp_path}/none.sqlite3")
    assert "--writable" not in words
