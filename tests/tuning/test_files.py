"""Written files: links, devices and temporary files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from environments.errors import InputError
from tests.messages import raises_naming
from tests.requirements import skip_or_fail
from tuning.files import atomic_write


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
