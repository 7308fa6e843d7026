"""Checks of a storage: reachable, not read-only, not locked, and not SQLite on a network file system."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from ravenlab.common.errors import InputError
from ravenlab.common.text import format_number
from ravenlab.studies.storage.database import check_sqlite_file, connect_sqlite
from ravenlab.studies.storage.faults import database_message
from ravenlab.studies.storage.postgres import connect_args
from ravenlab.studies.storage.urls import is_postgres, is_sqlite, mask_url, parse_url, sqlite_file
from ravenlab.tuning.doctor import NOTE, PROBLEM, Check, reason

BUSY_SECONDS = 5.0  # how long to wait for another writer: storing a batch of trials takes some milliseconds
MOUNTS = Path("/proc/self/mountinfo")

NETWORK = re.compile(
    r"nfs\d*|cifs|smb\w*|9p|afs|auristorfs|coda|ceph|gfs2?|ocfs2|lustre|gpfs|beegfs\w*|pvfs2|orangefs|panfs|wekafs|ncpfs"
    r"|davfs|acfs|vboxsf|vmhgfs|prl_fs"
    r"|fuse\.(sshfs|glusterfs|ceph\w*|s3fs|rclone|gcsfuse|blobfuse\w*|davfs\w*|juicefs|moosefs|mfs|seaweedfs|vmhgfs-fuse"
    r"|cvmfs\w*|hdfs\w*|smbnetfs|goofys|mount-s3|nfs\w*|lizardfs|onedriver|google-drive-ocamlfuse)"
)
"""Types of network file systems, and of host folders shared with a virtual machine."""


def check_storage(url: str) -> list[Check]:
    """Check a storage; nothing is created or changed."""
    path = sqlite_file(url)
    parsed = parse_url(url)
    if path is not None:
        return _check_sqlite(path, mask_url(url))
    if is_sqlite(parsed):
        return [Check("storage", mask_url(url), NOTE, "in memory: studies are lost when a command ends")]
    if is_postgres(parsed):
        return [_check_postgres(url)]
    return [Check("storage", mask_url(url), NOTE, "not checked; SQLite and PostgreSQL are supported")]


def _check_sqlite(path: Path, name: str) -> list[Check]:
    """Check that a table can be created, in a transaction that is rolled back."""
    try:
        check_sqlite_file(path, create=True)
    except InputError as error:
        return [Check("storage", reason(error), PROBLEM, "choose another storage, or repair it")]
    folder = path.resolve().parent
    if not path.exists():
        if os.access(folder, os.W_OK | os.X_OK):
            storage = Check("storage", f"{name}: does not exist yet, its folder is writable")
        else:
            storage = Check("storage", f"{name}: its folder is not writable", PROBLEM, "choose another storage")
        return [storage, check_file_system(folder)]
    storage = Check("storage", f"{name}: writable")
    uri = f"file:{quote(str(path.resolve()))}?mode=rw"
    try:
        with closing(connect_sqlite(uri, BUSY_SECONDS)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE ravenlab_doctor (x INTEGER)")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        if "locked" in str(error):
            state = f"{name}: locked by another program for {format_number(BUSY_SECONDS)} s"
            storage = Check("storage", state, NOTE, "find the program that holds the lock")
        else:
            storage = Check("storage", f"{name}: {reason(error)}", PROBLEM, "choose another storage, or repair it")
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
