"""A cache of compiled functions that is full, damaged or writable by others: functions are compiled again."""

import ctypes
import hashlib
import os
import pickle
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from ravenlab.common import kernel_cache
from ravenlab.common.compat import numba_cache
from ravenlab.common.paths import find_shared_level, make_private_folder
from ravenlab.policies.engine import leader_run
from tests.command import printed
from tests.project import python
from tests.requirements import skip_or_fail

ANOTHER_USER = 12345
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux

USE = """
from ravenlab import policies
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


def forge(file: Path) -> None:
    """Replace a file by a pickle with the hash that the cache expects; the hash has no key."""
    content = pickle.dumps(Malicious())
    file.write_bytes(content + hashlib.sha256(content).digest())


DAMAGES = (truncate, empty, flip, replace_by_pickle)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed(cache: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_WARNED", ["so that it does not warn"])
    for file in cached_files(cache, "*.nb?"):
        assert numba_cache._is_intact(str(file))
        damage(file)
        assert not numba_cache._is_intact(str(file))
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
    assert all(numba_cache._is_intact(str(file)) for file in replaced)


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
        monkeypatch.setattr(numba_cache._caching.FunctionCache, called, Mock(side_effect=error))
        with pytest.warns(RuntimeWarning, match=type(error).__name__):
            assert getattr(cache, name)(None, kernel.targetctx) is None
    monkeypatch.setattr(numba_cache._caching.FunctionCache, "_load_overload", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        cache.load_overload(None, kernel.targetctx)


def test_full_disk_does_not_matter(tmp_path: Path) -> None:
    words = ["mount", "-t", "tmpfs", "-o", "size=24k,mode=700", "tmpfs", str(tmp_path)]
    mounted = subprocess.run(words, capture_output=True, check=False)
    if mounted.returncode != 0:
        skip_or_fail(f"a small disk can be mounted by root only ({mounted.stderr.decode().strip()})")
    try:
        result, messages = run(tmp_path)
        assert result == "0.7"
        assert messages.count("numba's cache") == 1
        assert "No space left" in messages
        assert all(numba_cache._is_intact(str(file)) for file in tmp_path.rglob("*.nb?"))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_folder_that_becomes_unusable_does_not_matter(tmp_path: Path) -> None:
    replace_folder = """
import pathlib, shutil
from ravenlab.common.kernel_cache import numba_cache_folder
import ravenlab.policies.ucb1
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
    expected = printed(*words)
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


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o755])
def test_folder_that_others_can_enter_is_not_private(tmp_path: Path, mode: int) -> None:
    """Under umask 000, files in it can be changed by everybody who can enter it."""
    assert find_shared_level(tmp_path) is None
    tmp_path.chmod(mode)
    assert find_shared_level(tmp_path) == tmp_path


@pytest.mark.parametrize(("mode", "private"), [(0o777, False), (0o775, False), (0o1777, True), (0o755, True)])
def test_folders_above_may_only_be_shared_with_the_sticky_bit(tmp_path: Path, mode: int, private: bool) -> None:
    """Whoever can write to a folder can replace the folders in it, unless the sticky bit is set."""
    folder = tmp_path / "shared" / "between" / "cache"
    make_private_folder(folder)
    (tmp_path / "shared").chmod(mode)
    assert find_shared_level(folder) == (None if private else tmp_path / "shared")


def require_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")


def test_folder_in_a_folder_of_another_user_is_not_private(tmp_path: Path) -> None:
    require_root()
    folder = tmp_path / "theirs" / "cache"
    make_private_folder(folder)
    os.chown(tmp_path / "theirs", ANOTHER_USER, ANOTHER_USER)
    assert find_shared_level(folder) == tmp_path / "theirs"


@pytest.mark.parametrize("change", ["enter", "owner", "replace"])
def test_folder_that_is_not_private_is_not_read(cache: Path, change: str) -> None:
    """Forged files in it would be executed. The cache of the user is used instead, with one warning."""
    (folder,) = cache.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    for file in cached_files(cache, "*.nb?"):
        forge(file)
    link = cache.parent / "link"
    link.symlink_to(cache)
    if change == "owner":
        require_root()
        os.chown(folder, ANOTHER_USER, ANOTHER_USER)
    elif change == "enter":
        folder.chmod(0o770)
    else:
        cache.chmod(0o777)
    result, messages = run(link)
    assert result == "0.7"
    assert "executed" not in messages
    assert messages.count("numba's cache") == 1
    assert f"{folder} is not used" in messages


def test_another_user_swaps_the_cache_all_the_time(filled: Path) -> None:
    """Everybody can replace a folder in a shared folder, also between a check of the folder and its use."""
    require_root()
    with tempfile.TemporaryDirectory(prefix="shared-") as shared:  # the folders of pytest are private
        os.chmod(shared, 0o777)
        (source,) = filled.iterdir()
        folder = shutil.copytree(source, Path(shared, source.name))
        forged = shutil.copytree(source, Path(shared, "forged"))
        for file in cached_files(forged, "*.nb?"):
            forge(file)
        os.chown(forged, ANOTHER_USER, ANOTHER_USER)
        swap = (AT_FDCWD, bytes(folder), AT_FDCWD, bytes(forged), RENAME_EXCHANGE)
        attacker = os.fork()
        if attacker == 0:
            os.setgroups([])
            os.setgid(ANOTHER_USER)
            os.setuid(ANOTHER_USER)
            while ctypes.CDLL(None).renameat2(*swap) == 0:
                pass
            os._exit(1)
        try:
            for _ in range(2):
                result, messages = run(Path(shared))
                assert (result, "executed" in messages) == ("0.7", False)
            assert os.waitpid(attacker, os.WNOHANG) == (0, 0), "the attack does not work"
        finally:
            os.kill(attacker, signal.SIGKILL)
            os.waitpid(attacker, 0)


def test_all_levels_are_created_private_under_any_umask(tmp_path: Path) -> None:
    cache = tmp_path / "a" / "b"
    assert run(cache, "import os; os.umask(0)" + USE) == ("0.7", "")
    (folder,) = cache.iterdir()
    assert [level.stat().st_mode & 0o777 for level in (cache.parent, cache, folder)] == [0o700] * 3
    assert cached_files(folder, "*.nbi")
    assert find_shared_level(folder) is None
