"""A cache of compiled functions that is full, damaged or writable by others: functions are compiled again."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from environments import compiled, kernel_cache
from policies.engine import leader_run
from tests.command import run_command
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


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the compiled rules of one policy; tests damage copies of it."""
    cache = tmp_path_factory.mktemp("filled")
    assert run(cache) == ("0.7", "")
    return cache


@pytest.fixture
def cache(filled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled, tmp_path / "cache", copy_function=shutil.copy2)


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


DAMAGES = (truncate, empty, flip, replace_by_pickle)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed(cache: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_WARNED", ["so that it does not warn"])
    for file in cached_files(cache, "*.nb?"):
        assert compiled._is_intact(str(file))
        damage(file)
        assert not compiled._is_intact(str(file))
        assert not file.exists()


@pytest.mark.parametrize(
    ("pattern", "damage"), [("*.nbi", truncate), ("*.nbc", truncate), ("*.nb?", replace_by_pickle)]
)
def test_damaged_files_are_replaced(cache: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    names = {file.name for file in cached_files(cache, pattern)}
    for file in cached_files(cache, pattern):
        damage(file)
    result, messages = run(cache)
    assert result == "0.7"
    assert messages.count("numba's cache") == 1
    assert "executed" not in messages
    replaced = cached_files(cache, pattern)
    assert {file.name for file in replaced} == names
    assert all(compiled._is_intact(str(file)) for file in replaced)


def test_intact_cache_is_used(cache: Path) -> None:
    """No function is compiled again, so no file is written."""
    before = {file: file.stat().st_mtime_ns for file in cached_files(cache, "*.nb?")}
    assert run(cache) == ("0.7", "")
    assert {file: file.stat().st_mtime_ns for file in cached_files(cache, "*.nb?")} == before


@pytest.mark.parametrize("error", [LookupError("x"), RuntimeError("LLVM"), pickle.PicklingError("x"), EOFError()])
def test_any_error_is_a_cache_miss(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpickling may raise any exception, also from an intact file that another version of numba wrote."""
    kernel: Any = leader_run.play_candidates
    cache = kernel._cache
    for name, called in (("load_overload", "_load_overload"), ("save_overload", "save_overload")):
        monkeypatch.setattr(kernel_cache, "_WARNED", [])
        monkeypatch.setattr(compiled._caching.FunctionCache, called, Mock(side_effect=error))
        with pytest.warns(RuntimeWarning, match=type(error).__name__):
            assert getattr(cache, name)(None, kernel.targetctx) is None
    monkeypatch.setattr(compiled._caching.FunctionCache, "_load_overload", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        cache.load_overload(None, kernel.targetctx)


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
    """Only the loops of one policy are damaged, so that little is compiled."""
    words = ["simulate", "stationary", "--policy=ucb1", "--horizon=20", "--arms=2", "--json"]
    code, expected, _ = run_command(words)
    assert code == 0
    folder = kernel_cache.numba_cache_folder()
    assert folder is not None
    shutil.copytree(folder, tmp_path / Path(folder).name)
    damaged = cached_files(tmp_path, "*play*_ucb1*.nb?")
    for file in damaged:
        truncate(file)
    done = python("-m", "ravenlab", *words, NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("ravenlab: warning: numba's cache: ")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_folder_that_others_can_write_to_is_not_private(tmp_path: Path, mode: int) -> None:
    assert kernel_cache.is_private(str(tmp_path))
    tmp_path.chmod(mode)
    assert not kernel_cache.is_private(str(tmp_path))


@pytest.mark.parametrize("owner", ["me", "another"])
def test_folder_that_is_not_private_is_not_read(cache: Path, owner: str) -> None:
    (folder,) = cache.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in cached_files(cache, "*.nb?"):
        replace_by_pickle(file)
    if owner == "me":
        folder.chmod(0o770)
    elif os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
    else:
        pytest.skip("only root can give a folder to another user")
    result, messages = run(cache)
    assert result == "0.7"
    assert "executed" not in messages
    assert messages.count("numba's cache") == 1
    assert str(folder) in messages
