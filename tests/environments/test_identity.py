"""Two processes with the same sources say the same; an edited source shows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from environments.identity import ABSENT, COMPUTING_PACKAGES, LIBRARIES, computing_hash, identity, kernel_hash
from tests.project import ROOT, python

ASK = """
import json, sys
from environments.identity import identity
print(json.dumps([identity(), sorted({"numpy", "numba", "dask", "distributed", "optuna"} & set(sys.modules))]))
"""


def ask(folder: Path) -> tuple[dict[str, str], list[str]]:
    """What a new process that imports from a folder says of itself, and what it had to load."""
    done = python("-c", ASK, folder=folder, PYTHONPATH=str(folder))
    assert done.returncode == 0, done.stderr
    said, loaded = json.loads(done.stdout)
    return said, loaded


def test_the_same_everywhere_and_an_edited_source_shows(tmp_path: Path) -> None:
    for package in COMPUTING_PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    said, loaded = ask(tmp_path)
    assert said == identity()
    assert loaded == []
    source = tmp_path / "policies" / "raven_ucb.py"
    source.write_text(source.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    edited, _ = ask(tmp_path)
    assert {name for name in said if said[name] != edited[name]} == {"sources"}


def test_a_moved_file_is_another_source(tmp_path: Path) -> None:
    assert kernel_hash() != computing_hash()
    shutil.copytree(ROOT / "environments", tmp_path / "environments", ignore=shutil.ignore_patterns("__pycache__"))
    said, _ = ask(tmp_path)
    (tmp_path / "environments" / "noise.py").rename(tmp_path / "environments" / "noises.py")
    moved, _ = ask(tmp_path)
    assert said["sources"] != moved["sources"]


def test_says_only_short_words() -> None:
    said = identity()
    assert set(LIBRARIES) < set(said)
    assert all(isinstance(word, str) and word and word.isprintable() for word in said.values())
    assert said["numpy"] != ABSENT
    said["numpy"] = "0"
    assert identity()["numpy"] != "0"
