"""The checks of `ravenlab doctor`: rows of plain data on this machine, a storage and a cluster.

Nothing is changed but numba's cache. What needs numba is imported by the check that finds out whether it works.
"""

import os
import platform
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ravenlab.common.errors import InputError
from ravenlab.common.fingerprint import LIBRARIES, NOT_INSTALLED, PACKAGE, identity, installed_version
from ravenlab.common.text import format_approximate, format_number, plural
from ravenlab.studies.storage.database import check_sqlite_file, connect_sqlite
from ravenlab.studies.storage.faults import database_message
from ravenlab.studies.storage.postgres import connect_args
from ravenlab.studies.storage.urls import is_postgres, is_sqlite, mask_url, parse_url, sqlite_file

OK = "ok"
NOTE = "note"
PROBLEM = "problem"

BUSY_SECONDS = 5.0  # how long to wait for another writer: storing a batch of trials takes some milliseconds
MOUNTS = Path("/proc/self/mountinfo")

NETWORK = re.compile(
    r"nfs\d*|cifs|smb\w*|9p|afs|auristorfs|coda|ceph|gfs2?|ocfs2|lustre|gpfs|beegfs\w*|pvfs2|orangefs|panfs|wekafs|ncpfs"
    r"|davfs|acfs|vboxsf|vmhgfs|prl_fs"
    r"|fuse\.(sshfs|glusterfs|ceph\w*|s3fs|rclone|gcsfuse|blobfuse\w*|davfs\w*|juicefs|moosefs|mfs|seaweedfs|vmhgfs-fuse"
    r"|cvmfs\w*|hdfs\w*|smbnetfs|goofys|mount-s3|nfs\w*|lizardfs|onedriver|google-drive-ocamlfuse)"
)
"""Types of network file systems, and of host folders shared with a virtual machine."""

COMPARED = ("python", *LIBRARIES, "ravenlab", "sources", "machine", "processor")
COMPARED_ON_SCHEDULER = ("python", "dask", "distributed", "cloudpickle", "joblib", "ravenlab", "sources")
"""A scheduler computes nothing, but unpickles the tasks that it forwards."""

TRANSPORT = {"dask", "distributed", "cloudpickle", "joblib"}
"""Libraries that transfer tasks; the others compute."""


@dataclass(frozen=True)
class Check:
    """One row. A note reports a limitation; a problem means failures or wrong results."""

    check: str
    found: str
    verdict: str = OK
    advice: str = ""


def _reason(error: BaseException) -> str:
    """Return the first line of an error message, or the error's type if it has no message.

    >>> _reason(ValueError("too small")), _reason(KeyboardInterrupt())
    ('too small', 'KeyboardInterrupt')
    """
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def check_machine() -> list[Check]:
    """State the versions of Python and ravenlab, and check that numba compiles or loads the loop of RAVEN-UCB."""
    ours = f"{installed_version('ravenlab')}, sources {identity()['sources']}, in {PACKAGE}"
    rows = [Check("Python", platform.python_version()), Check("ravenlab", ours)]
    begin = time.perf_counter()
    try:
        from ravenlab.common.kernel_cache import numba_cache_folder
        from ravenlab.policies.engine.simulation import simulate

        simulate("raven-ucb", "stationary", horizon=100, arms=3, replications=1)
    except Exception as error:  # whatever an incompatible version raises
        advice = "install the versions that ravenlab requires; pip check names those that differ"
        return [*rows, Check("numba", f"{type(error).__name__}: {_reason(error)}", PROBLEM, advice)]
    rows.append(Check("numba", f"ready after {format_approximate(time.perf_counter() - begin)} s"))
    folder = numba_cache_folder()
    if folder is not None:
        return [*rows, Check("numba cache", folder)]
    advice = "set NUMBA_CACHE_DIR to a folder that only you can write to; otherwise every process compiles again"
    return [*rows, Check("numba cache", "not writable, or writable by others", NOTE, advice)]


def check_storage(url: str) -> list[Check]:
    """Check a storage; nothing is created or changed."""
    path = sqlite_file(url)
    if path is not None:
        return _check_sqlite(path, mask_url(url))
    if is_postgres(parse_url(url)):
        return [_check_postgres(url)]
    advice = "not checked; SQLite and PostgreSQL are supported"
    if is_sqlite(parse_url(url)):
        advice = "in memory: studies are lost when a command ends"
    return [Check("storage", mask_url(url), NOTE, advice)]


def _check_sqlite(path: Path, name: str) -> list[Check]:
    """Check that a table can be created, in a transaction that is rolled back."""
    folder = path.resolve().parent
    try:
        check_sqlite_file(path, create=True)
        if path.exists():
            with closing(connect_sqlite(f"file:{quote(str(path.resolve()))}?mode=rw", BUSY_SECONDS)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("CREATE TABLE ravenlab_doctor (x INTEGER)")
                connection.execute("ROLLBACK")
            storage = Check("storage", f"{name}: writable")
        elif os.access(folder, os.W_OK | os.X_OK):
            storage = Check("storage", f"{name}: does not exist yet, its folder is writable")
        else:
            storage = Check("storage", f"{name}: its folder is not writable", PROBLEM, "choose another storage")
    except InputError as error:
        return [Check("storage", _reason(error), PROBLEM, "choose another storage, or repair it")]
    except sqlite3.Error as error:
        if "locked" in str(error):
            state = f"{name}: locked by another program for {format_number(BUSY_SECONDS)} s"
            storage = Check("storage", state, NOTE, "find the program that holds the lock")
        else:
            storage = Check("storage", f"{name}: {_reason(error)}", PROBLEM, "choose another storage, or repair it")
    return [storage, check_file_system(folder)]


def check_file_system(path: Path, mounts: Path | None = None) -> Check:
    """Check the file system of an SQLite file: SQLite's locks do not work on network file systems."""
    kind = find_file_system(path, mounts)
    if kind is None:
        return Check("file system", "unknown")
    if NETWORK.fullmatch(kind):
        advice = "keep SQLite on a local disk, or use PostgreSQL (postgresql+psycopg://…)"
        return Check("file system", f"{kind}, a network file system: SQLite files get corrupted", PROBLEM, advice)
    return Check("file system", kind)


def find_file_system(path: Path, mounts: Path | None = None) -> str | None:
    """Return the type of the file system that holds a path; None if it is unknown.

    Of the mount points above the path the longest holds it, and of several at one place the last.
    """
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place = path.resolve()
    best = -1
    kind = None
    for line in lines:
        front, _, back = line.partition(" - ")
        fields = front.split()
        if len(fields) < 5 or not back.split():
            continue
        # blanks, tabs, line ends and backslashes are written as three octal digits
        point = Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4]))
        if (point == place or point in place.parents) and len(point.parts) >= best:
            best = len(point.parts)
            kind = back.split()[0]
    return kind


def _check_postgres(url: str) -> Check:
    """Check that the server answers and accepts writes; missing rights on tables are errors of the commands."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    name = mask_url(url)
    try:
        engine = create_engine(parse_url(url), poolclass=NullPool, connect_args=connect_args(url))
        with engine.connect() as connection:
            read_only = connection.execute(text("SHOW transaction_read_only")).scalar_one() == "on"
    except ImportError:
        return Check("storage", f"{name}: psycopg is missing", PROBLEM, 'pip install "ravenlab[postgres]"')
    except SQLAlchemyError as error:
        advice = "check host, port, user and password, and that the server runs"
        return Check("storage", f"{name}: {database_message(url, error)}", PROBLEM, advice)
    if read_only:
        return Check("storage", f"{name}: read-only", PROBLEM, "connect to the primary server, or as another user")
    return Check("storage", f"{name}: answers")


@dataclass(frozen=True)
class Node:
    """A scheduler or a worker. `identity` is empty if it cannot import ravenlab."""

    label: str
    identity: dict[str, str]
    threads: int = 0


def inspect_cluster(client: Any) -> tuple[Node, list[Node]]:
    """Ask the scheduler and all workers for their identity, which is imported there and not sent.

    The client is a `distributed.Client` used from outside of its event loop; its types also allow use from inside.
    """
    info = client.scheduler_info(n_workers=-1)
    try:
        reported = client.run_on_scheduler(identity)
    except Exception:  # any error of the import on the scheduler
        reported = {}
    answers: dict[str, Any] = client.run(identity, on_error="return") if info["workers"] else {}
    workers = []
    for address, about in sorted(info["workers"].items()):
        name = str(about["name"])
        answer = answers.get(address)
        label = address if name in ("", address) else f"{name} ({address})"
        workers.append(Node(label, answer if isinstance(answer, dict) else {}, about["nthreads"]))
    return Node(info["address"], reported), workers


def check_cluster(scheduler: Node, workers: Sequence[Node], local: Mapping[str, str]) -> list[Check]:
    """Check a cluster, compared with the identity of this machine."""
    threads = plural(sum(worker.threads for worker in workers), "thread")
    rows = [
        Check("scheduler", f"{scheduler.label}, {plural(len(workers), 'worker')}, {threads}"),
        _check_version("scheduler", scheduler.identity, local, COMPARED_ON_SCHEDULER),
    ]
    if not workers:
        return [*rows, Check("workers", "none", PROBLEM, f"start some: dask worker {scheduler.label}")]
    alike: dict[tuple[str | None, ...], list[Node]] = {}
    for worker in workers:
        alike.setdefault(tuple(worker.identity.get(key) for key in COMPARED), []).append(worker)
    for group in sorted(alike.values(), key=len, reverse=True):
        if len(group) == len(workers):
            label = f"all {len(workers)} workers"
        else:
            label = group[0].label if len(group) == 1 else f"{len(group)} workers such as {group[0].label}"
        rows.append(_check_version(label, group[0].identity, local, COMPARED))
    return rows


def _check_version(label: str, remote: Mapping[str, str], local: Mapping[str, str], keys: Sequence[str]) -> Check:
    """Compare the identity of another machine with that of this one."""
    check = f"versions, {label}"
    if not remote:
        return Check(check, "unknown", PROBLEM, 'pip install "ravenlab[cluster]" there and restart it')
    names = [key for key in keys if remote.get(key) != local.get(key)]
    if not names:
        return Check(check, "as here")
    found = ", ".join(f"{name} {remote.get(name, 'unknown')} (here {local.get(name, NOT_INSTALLED)})" for name in names)
    minor = local["python"].rpartition(".")[0]
    verdict = PROBLEM
    if remote.get("python", "").rpartition(".")[0] != minor:
        advice = f"use Python {minor} everywhere: tasks cannot be sent between minor versions"
    elif "sources" in names or "ravenlab" in names:
        advice = "install the same ravenlab there and restart it: other sources may give other results"
    else:
        verdict = NOTE
        advice = "results may differ in the last digits; use the same pinned versions and processor"
        if TRANSPORT & {*names}:
            advice = "install the same versions there: sending tasks may fail"
    return Check(check, found, verdict, advice)
