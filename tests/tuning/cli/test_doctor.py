"""`ravenlab doctor` on this machine and on SQLite storages: results, and no side effects."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from ravenlab.common.fingerprint import identity
from ravenlab.studies.storage.database import create_sqlite_file
from ravenlab.tuning import doctor
from ravenlab.tuning.cli.app import run
from ravenlab.tuning.doctor import (
    NOTE,
    OK,
    PROBLEM,
    check_file_system,
    check_machine,
    check_storage,
    find_file_system,
)
from tests.messages import assert_names
from tests.project import python

MOUNTINFO = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
30 22 0:40 / /home rw,relatime shared:2 master:7 - nfs4 server:/home rw,vers=4.2
31 30 254:1 / /home/me/fast rw - xfs /dev/nvme0n1 rw
32 22 0:41 / /mnt/my\040share rw - cifs //server/share rw
33 22 0:42 / /mnt/remote rw - fuse.sshfs me@host: rw
34 22 0:43 / /mnt/some rw - fuse.archive x rw
35 22 254:2 / /over rw - ext4 /dev/vdb rw
36 35 0:44 / /over rw - lustre mds:/fs rw
37 22 0:45 / /mnt/cut
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    """The mount table of a machine with network file systems."""
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTINFO)
    return path


@pytest.mark.parametrize(
    ("path", "kind", "verdict"),
    [
        ("/var/studies", "ext4", OK),
        ("/home/me", "nfs4", PROBLEM),
        ("/home/me/fast", "xfs", OK),
        ("/home/me/faster", "nfs4", PROBLEM),
        ("/homeless", "ext4", OK),
        ("/mnt/my share/x", "cifs", PROBLEM),
        ("/mnt/remote", "fuse.sshfs", PROBLEM),
        ("/mnt/some", "fuse.archive", OK),
        ("/over/x", "lustre", PROBLEM),
        ("/mnt/cut/x", "ext4", OK),
    ],
)
def test_file_system_is_that_of_the_longest_and_last_mount(mounts: Path, path: str, kind: str, verdict: str) -> None:
    assert find_file_system(Path(path), mounts) == kind
    row = check_file_system(Path(path), mounts)
    assert row.verdict == verdict
    assert ("PostgreSQL" in row.advice) == (verdict != OK)


def test_links_are_followed_to_their_file_system(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    mounts = tmp_path / "mountinfo"
    target = str((tmp_path / "target").resolve())
    mounts.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {target} rw - nfs x rw\n")
    assert find_file_system(tmp_path / "link" / "studies.sqlite3", mounts) == "nfs"
    assert find_file_system(tmp_path, tmp_path / "nothing") is None
    assert check_file_system(tmp_path, tmp_path / "nothing").found == "unknown"


def create_database(path: Path, journal: str = "wal") -> str:
    """Create an empty storage and return its URL."""
    create_sqlite_file(path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA journal_mode={journal}")
    connection.close()
    return f"sqlite:///{path}"


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_inspecting_a_file_leaves_no_trace(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "s t.sqlite3"
    url = create_database(path, journal)
    before = path.read_bytes(), path.stat().st_mtime_ns, os.listdir(tmp_path)
    rows = {row.check: row for row in check_storage(url)}
    assert (path.read_bytes(), path.stat().st_mtime_ns, os.listdir(tmp_path)) == before
    assert rows["storage"].verdict == OK


def test_missing_file_is_not_created(tmp_path: Path) -> None:
    rows = check_storage(f"sqlite:///{tmp_path}/new.sqlite3")
    assert rows[0].verdict == OK
    assert os.listdir(tmp_path) == []


def test_unusable_storages(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite3").write_text("no database at all, but some text")
    foreign = tmp_path / "foreign.sqlite3"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE recipes (x INTEGER)")
    connection.close()
    for name in ("missing/x.sqlite3", "text.sqlite3", "foreign.sqlite3", ""):
        rows = check_storage(f"sqlite:///{tmp_path}/{name}")
        assert [row.verdict for row in rows] == [PROBLEM]
        assert rows[0].advice


def test_file_locked_by_another_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.tuning.doctor.BUSY_SECONDS", 0.05)
    path = tmp_path / "locked.sqlite3"
    url = create_database(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        rows = check_storage(url)
    finally:
        other.close()
    assert rows[0].verdict == NOTE
    assert_names(rows[0].found, "0.05 s")


def test_sqlite_on_a_network_file_system_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("1 0 0:1 / / rw - nfs4 server:/ rw\n")
    monkeypatch.setattr(doctor, "MOUNTS", mounts)
    assert run(["doctor", "--storage", create_database(tmp_path / "x.sqlite3"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["problems"] >= 1
    (row,) = [row for row in report["checks"] if row["check"] == "file system"]
    assert row["verdict"] == PROBLEM
    assert "PostgreSQL" in row["advice"]


def test_doctor_masks_passwords(capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor", "--storage", "postgresql+psycopg://me:open-sesame@127.0.0.1:1/db"])
    captured = capsys.readouterr()
    assert "sesame" not in captured.out + captured.err
    assert "me:***@" in captured.out


def test_report_of_this_machine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code = run(["doctor", "--storage", f"sqlite:///{tmp_path}/x.sqlite3"])
    text = capsys.readouterr().out
    assert code == ("problem " in text)
    assert_names(text, "numba", "ready after")
    assert identity()["sources"] in text
    assert "\x1b" not in text


def test_unwritable_cache_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ravenlab.common.kernel_cache.numba_cache_folder", lambda: None)
    rows = {row.check: row for row in check_machine()}
    assert rows["numba cache"].verdict == NOTE
    assert "NUMBA_CACHE_DIR" in rows["numba cache"].advice


def test_broken_numba_is_a_row_without_traceback(tmp_path: Path) -> None:
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("raise ImportError('Numba needs NumPy 1.0 or less')")
    words = ["-m", "ravenlab", "doctor", "--json", "--cluster", "tcp://127.0.0.1:1"]
    completed = python(*words, PYTHONPATH=str(tmp_path), RAVENLAB_STORAGE=f"sqlite:///{tmp_path}/x.sqlite3")
    assert (completed.returncode, completed.stderr) == (1, "")
    rows = {row["check"]: row for row in json.loads(completed.stdout)["checks"]}
    assert rows["numba"]["verdict"] == PROBLEM
    assert "Numba needs NumPy 1.0" in rows["numba"]["found"]
    assert rows["cluster"]["found"] == "not checked"
