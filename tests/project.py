"""Paths of the project, and running its code in a subprocess."""

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from ravenlab.common.fingerprint import package_folder

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PACKAGES = ("common", "environments", "policies", "studies", "dashboards", "tuning")
"""The packages in `ravenlab`. Each may import itself and the packages to its left."""


def environment(**more: str) -> dict[str, str]:
    """Return the environment of this process, with the project first on the path."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def python(*words: str | Path, folder: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a folder with additional environment variables."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment(**more), capture_output=True, text=True, check=False
    )


@cache
def parse(path: Path) -> ast.Module:
    """Parse a file, once per process: several tests check all modules."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_names(path: Path) -> set[str]:
    """Return all dotted names that a file imports, anywhere in the file."""
    names: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def list_modules(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted(package_folder(package).rglob("*.py"))]


def source_files() -> list[Path]:
    paths = [*sorted((ROOT / "ravenlab").glob("*.py")), *list_modules(*PACKAGES)]
    return [path.relative_to(ROOT) for path in paths]


def copy_sources(folder: Path) -> Path:
    """Copy all sources, with the links between them, and return the folder."""
    for name in ("ravenlab", *PACKAGES[1:]):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder
