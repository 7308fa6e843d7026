"""A cache of compiled functions that is full, damaged or writable by others: functions are compiled again."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project import python

USE = """
import policies
policy = policies.find_policy("ucb1")(arms=1)
policy.select()
policy.update(0, 0.7)
print(policy.state()["stats"][1][0])
"""


def run(cache: Path, code: str = USE, **environment: str) -> tuple[str, str]:
    """Run code with a cache folder and return stdout and stderr."""
    done = python("-c", code, **{"NUMBA_CACHE_DIR": str(cache), **environment})  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def cached_files(cache: Path, pattern: str) -> list[Path]:
    files = sorted(cache.rglob(pattern))
    assert files
    return files


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) * 2 // 3] ^= 0xFF
    file.write_bytes(content)


class Malicious:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, ...]]:
        return os.system, ("echo executed >&2",)


def replace_by_pickle(file: Path) -> None:
    file.write_bytes(pickle.dumps(Malicious()))


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", [truncate, empty, flip, replace_by_pickle])
def test_damaged_files_are_replaced(tmp_path: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    assert run(tmp_path) == ("0.7", "")
    intact = {file: file.read_bytes() for file in cached_files(tmp_path, pattern)}
    for file in intact:
        damage(file)
    result, messages = run(tmp_path)
    assert result == "0.7"
    assert messages.count("numba's cache") == 1
    assert "executed" not in messages
    assert run(tmp_path) == ("0.7", "")
    assert {file.name for file in cached_files(tmp_path, pattern)} == {file.name for file in intact}


FULL_DISK = """
import errno, os
from environments import compiled
class FullFile(compiled._CacheFile):
    def _dump(self, obj):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
compiled._CacheFile = FullFile
"""


def test_full_disk_does_not_matter(tmp_path: Path) -> None:
    result, messages = run(tmp_path, FULL_DISK + USE)
    assert result == "0.7"
    assert messages.count("numba's cache") == 1
    assert "No space left" in messages


def test_folder_that_becomes_unusable_does_not_matter(tmp_path: Path) -> None:
    replace_folder = """
import pathlib, shutil
from environments.kernel_cache import numba_cache_folder
import policies.ucb1
folder = pathlib.Path(numba_cache_folder())
shutil.rmtree(folder)
folder.write_text("")
"""
    result, messages = run(tmp_path, replace_folder + USE)
    assert result == "0.7"
    assert messages.count("numba's cache") == 1


def test_commands_work_with_a_damaged_cache(tmp_path: Path) -> None:
    words = ["-m", "ravenlab", "simulate", "stationary", "--policy=ucb1", "--horizon=20", "--arms=2", "--json"]
    results = []
    for _ in range(2):
        done = python(*words, NUMBA_CACHE_DIR=str(tmp_path))
        assert done.returncode == 0, done.stderr
        results.append(done.stdout)
        for file in cached_files(tmp_path, "*.nb?"):
            truncate(file)
    assert results[0] == results[1]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_folder_that_others_can_write_to_is_not_read(tmp_path: Path, mode: int) -> None:
    run(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in cached_files(tmp_path, "*.nb?"):
        replace_by_pickle(file)
    folder.chmod(mode)
    result, messages = run(tmp_path)
    assert result == "0.7"
    assert "executed" not in messages
    assert messages.count("numba's cache") == 1
    assert str(folder) in messages


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_folder_of_another_user_is_not_read(tmp_path: Path) -> None:
    run(tmp_path)
    (folder,) = tmp_path.iterdir()
    os.chown(folder, 12345, 12345)
    result, messages = run(tmp_path)
    assert result == "0.7"
    assert messages.count("numba's cache") == 1
