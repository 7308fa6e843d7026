"""Who imports whom, read from the source with `ast`: nothing is imported for it."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tests.project import ROOT

PACKAGES = ("environments", "policies", "studies", "tuning", "dashboards")
FRONT = "front"
"""What sees everything: the command line and the public API."""


class Unit(NamedTuple):
    """A module, or a folder of modules, of a package."""

    package: str
    name: str


@lru_cache(maxsize=1)
def imports() -> dict[Path, set[Unit]]:
    """The units that each file imports, its own left out; wherever in the file."""
    files = [ROOT / "ravenlab.py", *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT): _imported(path) for path in sorted(files)}


def unit_of(path: Path) -> Unit:
    """The unit that a file, given from the root, belongs to.

    >>> unit_of(Path("environments/effects/blips.py"))
    Unit(package='environments', name='effects/')
    """
    if len(path.parts) == 1 or (path.parts[0] == "tuning" and path.parts[1] in ("cli.py", "api.py", "commands")):
        return Unit(FRONT, path.name if len(path.parts) < 3 else "commands/")
    return Unit(path.parts[0], path.stem if len(path.parts) == 2 else f"{path.parts[1]}/")


def between_packages() -> Counter[tuple[str, str]]:
    """How many files of one package import another one."""
    counted: Counter[tuple[str, str]] = Counter()
    for path, units in imports().items():
        own = unit_of(path).package
        counted.update({(own, unit.package) for unit in units if unit.package != own})
    return counted


def most_imported(package: str, most: int) -> list[tuple[str, int]]:
    """A package's units that most files import, with how many do."""
    counted: Counter[str] = Counter()
    for units in imports().values():
        counted.update({unit.name for unit in units if unit.package == package})
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:most]


def files_of(package: str) -> int:
    """How many files a package has."""
    return sum(unit_of(path).package == package for path in imports())


def names_in(path: Path) -> set[str]:
    """All names that a file imports, with dots, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _imported(path: Path) -> set[Unit]:
    units = {_named(name) for name in names_in(path) if name.split(".")[0] in PACKAGES}
    return units - {unit_of(path.relative_to(ROOT))}


def _named(name: str) -> Unit:
    """The unit of `package.module.object`; a package's own `__init__` is called by the package's name."""
    place = ROOT
    for part in name.split("."):
        if (place / f"{part}.py").is_file():
            return unit_of((place / f"{part}.py").relative_to(ROOT))
        if not (place / part).is_dir():
            break
        place /= part
    return unit_of((place / "__init__.py").relative_to(ROOT))
