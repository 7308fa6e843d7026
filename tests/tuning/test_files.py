"""Written files: links, devices and temporary files."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from ravenlab.common.errors import InputError
from ravenlab.tuning.files import atomic_write
from tests.messages import raises_naming
from tests.requirements import skip_or_fail


def write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text)


def test_link_is_kept_and_its_target_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "results" / "target.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    link.symlink_to(target)
    for text in ("new", "replaced"):  # at first the target does not exist
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.txt", "results", "target.txt"]


def test_link_to_another_file_system(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        skip_or_fail("a second file system is needed")
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        link = tmp_path / "link.txt"
        link.symlink_to(Path(folder, "target.txt"))
        write(link, "text")
        assert link.is_symlink()
        assert os.listdir(folder) == ["target.txt"]
        assert Path(folder, "target.txt").read_text() == "text"


def test_link_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "missing" / "target.txt")
    with raises_naming(InputError, link, tmp_path / "missing"):
        write(link, "text")


def test_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("before")
    with pytest.raises(RuntimeError, match="mine"), atomic_write(path):
        raise RuntimeError("mine")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """Only old files of this user with the exact pattern are removed."""
    stale = tmp_path / ".page.html.abcd1234.new"
    recent = tmp_path / ".page.html.bcde2345.new"
    other = tmp_path / ".page.html.mine.new"
    for path in (stale, recent, other):
        path.touch()
    link = tmp_path / ".page.html.cdef3456.new"
    link.symlink_to(other)
    for path in (stale, other):
        os.utime(path, (0, 0))
    os.utime(link, (0, 0), follow_symlinks=False)
    with atomic_write(tmp_path / "page.html") as file:
        file.write("new")
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", recent.name, other.name, link.name}


def test_error_names_the_file(tmp_path: Path) -> None:
    def fail() -> None:
        with atomic_write(tmp_path / "page.html"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        fail()
    assert caught.value.filename == str(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
