"""The fingerprint depends only on code that computes numbers."""

import json
from pathlib import Path

import pytest

from ravenlab.common.fingerprint import (
    LIBRARIES,
    NOT_INSTALLED,
    PRESENTATION,
    canonical_code,
    computation_fingerprint,
    identity,
    kernel_hash,
    package_folder,
)
from tests.project import copy_sources, python

SCRIPT = """
import json, sys
from ravenlab.common.fingerprint import identity
print(json.dumps([identity(), sorted({"numpy", "numba", "dask", "distributed", "optuna"} & set(sys.modules))]))
"""


def read_identity(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Return the identity printed by a new process that imports from a folder, and the modules that it loaded."""
    done = python("-c", SCRIPT, folder=folder, PYTHONPATH=str(folder))
    assert done.returncode == 0, done.stderr
    values, loaded = json.loads(done.stdout)
    return values, loaded


def edit(path: Path, old: str, new: str, count: int = -1) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")


def test_fingerprint_depends_on_computations_and_not_on_text(tmp_path: Path) -> None:
    folder = copy_sources(tmp_path)
    values, loaded = read_identity(folder)
    assert values == identity()
    assert loaded == []
    edit(folder / "policies" / "raven_ucb.py", "from math", "# a comment\nfrom math")
    edit(folder / "policies" / "raven_ucb.py", 'meaning="', 'meaning="more precisely: ')
    edit(folder / "environments" / "noise.py", '"""', '"""Another docstring. ', count=1)
    edit(folder / "environments" / "scenario.py", 'InputError(f"', 'InputError(f"another message: ')
    edit(folder / "tuning" / "cli" / "app.py", "import sys\n", "import sys\n\nANYTHING = 1\n")
    text_only, _ = read_identity(folder)
    assert text_only == values
    edit(folder / "policies" / "raven_ucb.py", 'Param("alpha0", 1.0,', 'Param("alpha0", 1.5,')
    computed, _ = read_identity(folder)
    assert {name for name in values if values[name] != computed[name]} == {"sources"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "x = 1.0\n"),
        ("y = a + b\n", "y = a - b\n"),
        ("y = a < b\n", "y = a <= b\n"),
        ("y = f(a, b)\n", "y = f(b, a)\n"),
        ("y = 'key'\n", "y = 'other'\n"),
        ("if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("if a:\n    b()\nelse:\n    c()\n", "if a:\n    b()\n    c()\n"),
        ("raise A('x')\n", "raise B('x')\n"),
        ("x = [*a, b]\n", "x = [a, *b]\n"),
    ],
)
def test_a_changed_computation_changes_the_code(before: str, after: str) -> None:
    assert canonical_code(before) != canonical_code(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "\nx = (1)  # one\n"),
        ("def f(): return 1\n", "def f():\n    'Docstring.'\n    return 1\n"),
        ("class A:\n    x: int = 1\n", "class A:\n    'Docstring.'\n    x: int = 1\n    'Of the attribute.'\n"),
        ("raise A(f'{x} is wrong')\n", "raise A(f'wrong: {x}')\n"),
        ("class A:\n    meaning = 'a'\n", "class A:\n    meaning = 'b'\n"),
        ("Param('a', 1.0, meaning='a')\n", "Param('a', 1.0, meaning='b')\n"),
    ],
)
def test_changed_text_does_not_change_the_code(before: str, after: str) -> None:
    assert canonical_code(before) == canonical_code(after)


@pytest.mark.parametrize("name", PRESENTATION)
def test_modules_left_out_of_the_fingerprint_exist(name: str) -> None:
    _, package, *rest = name.split(".")
    path = package_folder(package).joinpath(*rest)
    assert path.is_dir() or path.with_suffix(".py").is_file()


def test_a_moved_file_changes_the_fingerprint(tmp_path: Path) -> None:
    assert kernel_hash() != computation_fingerprint()
    values, _ = read_identity(copy_sources(tmp_path))
    (tmp_path / "environments" / "noise.py").rename(tmp_path / "environments" / "noises.py")
    moved, _ = read_identity(tmp_path)
    assert values["sources"] != moved["sources"]


def test_identity_values_are_short() -> None:
    values = identity()
    assert set(LIBRARIES) < set(values)
    assert all(isinstance(value, str) and value and value.isprintable() for value in values.values())
    assert values["numpy"] != NOT_INSTALLED
    values["numpy"] = "0"
    assert identity()["numpy"] != "0"
