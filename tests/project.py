"""Where the project is, and how its code runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def environment(**more: str) -> dict[str, str]:
    """This process's, with the project found first."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def python(*words: str | Path, folder: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in a folder, with more in its environment, and wait for it."""
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment(**more), capture_output=True, text=True, check=False
    )
