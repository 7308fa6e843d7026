"""The order of the tests: what asks for every compiled kernel comes last, when the others have compiled them.

And what tests in several folders share: a PostgreSQL server and a Dask cluster, started when first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.cluster import DaskCluster
    from tests.postgres import Server


os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Read when NumPy is loaded, here and in every process that a test starts. Our matrices are small: threads that wait
for each other cost more than twice what they do, and each core has a test process of its own already."""

settings.register_profile("the same", derandomize=True, deadline=None)
settings.load_profile("the same")
"""Properties are tried on the same examples every time: what fails in one run fails in the next."""

LAST = "tests/test_kernels.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move them behind all others; the rest stays as it is."""
    items.sort(key=lambda item: item.nodeid.startswith(LAST))


@pytest.fixture
def nothing_brought() -> Iterator[None]:
    """What a test brings of a user's own is not there in the next."""
    from tests.plugins import forget_brought

    yield
    forget_brought()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A Dask cluster of two workers, each module's own: some kill parts of it."""
    from tests.cluster import dask_cluster

    with dask_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server of this process."""
    from tests.postgres import server

    with server() as there:
        yield there


@pytest.fixture(scope="session")
def own_postgres(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that a test may stop: never one that somebody else has named."""
    from tests.postgres import given, own_server

    if not given():
        yield request.getfixturevalue("postgres")
        return
    with own_server() as there:
        yield there


@pytest.fixture
def database(postgres: Server) -> str:
    """The URL of an empty database."""
    return postgres.new_database()
