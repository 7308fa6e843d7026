"""Order of the tests, and shared fixtures: a PostgreSQL server, a Dask cluster and a browser, started on first use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.cluster import DaskCluster
    from tests.postgres import Server


os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Read when NumPy is imported, here and in subprocesses. Threads slow down small matrices, and each core already runs a
test process."""

os.environ.pop("RAVENLAB_STORAGE", None)
"""Tests and their subprocesses never use the developer's studies."""

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")
"""Hypothesis uses the same examples in every run."""

LAST = "tests/test_kernels.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that need every compiled kernel last, when others have compiled most of them."""
    items.sort(key=lambda item: item.nodeid.startswith(LAST))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder of the test, as the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def plugins_unloaded() -> Iterator[None]:
    from tests.plugins import unload_plugins

    yield
    unload_plugins()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A Dask cluster of two workers per module, since some tests kill parts of it."""
    from tests.cluster import dask_cluster

    with dask_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from tests.dashboards.browser import launch_browser, require_browser

    with launch_browser(require_browser()) as started:
        yield started


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    from tests.postgres import server

    with server() as running:
        yield running


@pytest.fixture(scope="session")
def own_postgres(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A temporary PostgreSQL server, which a test may stop."""
    from tests.postgres import is_external, own_server

    if not is_external():
        yield request.getfixturevalue("postgres")
        return
    with own_server() as running:
        yield running


@pytest.fixture
def database(postgres: Server) -> str:
    """The URL of a new, empty database."""
    return postgres.new_database()
