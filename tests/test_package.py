"""What is installed, and that it stands beside folders of the same name."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sys.executable).parent / "ravenlab"
DATA = {".toml", ".json", ".csv"}
CHILDREN = resource.RUSAGE_CHILDREN


def test_the_wheel_holds_the_packages_and_no_tests(tmp_path: Path) -> None:
    source = tmp_path / "source"
    kept = ("environments", "policies", "studies", "tuning", "dashboards", "tests")
    for name in kept:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "ravenlab.py"):
        shutil.copy(ROOT / name, source / name)
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("ravenlab-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"ravenlab.py", "environments", "policies", "studies", "tuning", "dashboards"}
    for expected in ("policies/raven_ucb.py", "environments/effects/blips.py", "tuning/commands/words.py"):
        assert expected in names
    data = [path.relative_to(ROOT).as_posix() for path in (ROOT / "studies").rglob("*.*") if path.suffix in DATA]
    assert len(data) >= 9
    assert set(data) <= set(names)
    assert all(f"{package}/py.typed" in names for package in tops - {"ravenlab.py"})


@pytest.mark.parametrize("command", [[str(COMMAND)], [sys.executable, "-m", "ravenlab"]])
def test_works_beside_a_users_own_folders(command: list[str], tmp_path: Path) -> None:
    for name in ("policies", "studies", "environments"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('the wrong one')")
    (tmp_path / "tuning").mkdir()
    for environment in ({}, {"PYTHONPATH": str(tmp_path)}):
        done = subprocess.run(
            [*command, "simulate", "blips", "--horizon", "50", "--arms", "2", "--replications", "1", "--json"],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert '"scenario": "blips"' in done.stdout


def test_says_what_shadows_it(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "__init__.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", "import policies, ravenlab"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "ravenlab needs its own package 'policies'" in last
    assert "rename" in last


def test_help_answers_at_once() -> None:
    """CPU seconds, not wall time: the best of five, since other processes share the caches."""
    spent = []
    for _ in range(5):
        before = resource.getrusage(CHILDREN)
        done = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=False)
        after = resource.getrusage(CHILDREN)
        assert done.returncode == 0
        assert "simulate" in done.stdout
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.3


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, tuning.cli; print(sorted({'numpy', 'numba', 'pandas', 'joblib', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
