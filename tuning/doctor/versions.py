"""Python, ravenlab and what it needs: as the installed distributions say, and as the pins say where they are known."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from environments.identity import ABSENT, ROOT, computation_fingerprint, installed
from tuning.doctor.rows import NOTE, PROBLEM, Check

if TYPE_CHECKING:
    from packaging.requirements import Requirement

OURS = "ravenlab"
PINS = ROOT / "constraints.txt"
DIGITS = "results may differ in the last digits from those of the pinned versions"


def version_checks() -> list[Check]:
    """Rows on Python, ravenlab, its dependencies and its extras."""
    if installed("packaging") == ABSENT:
        return [Check("dependencies", "packaging is not installed", PROBLEM, "pip install --upgrade ravenlab")]
    rows = [_python(), _ours()]
    if installed(OURS) == ABSENT:
        return rows
    whole, lacking = extras()
    tree = needed(OURS, tuple(whole))
    return [*rows, _dependencies(tree), _pins(tree), _extras(whole, lacking)]


@dataclass
class Tree:
    """All distributions that one needs, with what is missing or of a wrong version."""

    found: dict[str, str] = field(default_factory=dict)
    unmet: list[str] = field(default_factory=list)


def needed(root: str, extras: tuple[str, ...] = ()) -> Tree:
    """Walk what a distribution requires, and what that requires, as pip would.

    >>> needed("ravenlab").unmet
    []
    """
    from packaging.utils import canonicalize_name

    tree, seen, waiting = Tree(), set(), [(root, extras)]
    while waiting:
        name, wanted = waiting.pop()
        for one in _requirements(name, wanted):
            version = installed(one.name)
            if version == ABSENT:
                tree.unmet.append(f"{name} needs {_words(one)}, which is not installed")
                continue
            if not one.specifier.contains(version, prereleases=True):
                tree.unmet.append(f"{name} needs {_words(one)} but {version} is installed")
            tree.found[canonicalize_name(one.name)] = version
            step = (canonicalize_name(one.name), tuple(sorted(one.extras)))
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    tree.unmet = sorted(set(tree.unmet))
    return tree


def extras() -> tuple[list[str], list[str]]:
    """Our extras: those whose distributions are all here, and the others."""
    whole: list[str] = []
    lacking: list[str] = []
    for extra in metadata.metadata(OURS).get_all("Provides-Extra") or []:
        here = all(installed(one.name) != ABSENT for one in _requirements(OURS, (extra,)))
        (whole if here else lacking).append(extra)
    return sorted(whole), sorted(lacking)


def _requirements(name: str, extras: tuple[str, ...]) -> Iterator[Requirement]:
    """What a distribution requires on this machine, with these extras of it."""
    from packaging.requirements import Requirement

    for text in metadata.requires(name) or []:
        one = Requirement(text)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            yield one


def _words(one: Requirement) -> str:
    return f"{one.name}{one.specifier}"


def pinned(path: Path) -> dict[str, str]:
    """The versions in a file of constraints, by name."""
    from packaging.utils import canonicalize_name

    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition("==") for line in lines if "==" in line)
    return {canonicalize_name(name.strip()): version.strip() for name, _, version in pairs}


def _python() -> Check:
    found = f"{platform.python_implementation()} {platform.python_version()}"
    try:
        asked = metadata.metadata(OURS)["Requires-Python"]
    except (metadata.PackageNotFoundError, KeyError):
        asked = None
    if asked:
        from packaging.specifiers import SpecifierSet

        if not SpecifierSet(asked).contains(platform.python_version(), prereleases=True):
            return Check("Python", found, PROBLEM, f"ravenlab needs Python {asked}")
    return Check("Python", found)


def _ours() -> Check:
    version = installed(OURS)
    found = f"{version}, sources {computation_fingerprint()[:16]}, in {ROOT}"
    if version == ABSENT:
        return Check(OURS, found, NOTE, "versions can't be checked before pip install")
    return Check(OURS, found)


def _dependencies(tree: Tree) -> Check:
    if tree.unmet:
        return Check("dependencies", "; ".join(tree.unmet), PROBLEM, "pip install --upgrade ravenlab")
    return Check("dependencies", f"all {len(tree.found)} as required")


def _pins(tree: Tree) -> Check:
    """Pins are known in a checkout alone: a wheel has none."""
    if not (PINS.is_file() and (ROOT / "pyproject.toml").is_file()):
        return Check("pinned versions", "not known here: there is no constraints.txt")
    pins = pinned(PINS)
    other = [
        f"{name} {has} (pinned {pins[name]})" for name, has in sorted(tree.found.items()) if has != pins.get(name, has)
    ]
    if other:
        advice = f"pip install --constraint {PINS.name}; else {DIGITS}"
        return Check("pinned versions", f"{len(other)} differ: {', '.join(other)}", NOTE, advice)
    return Check("pinned versions", f"as in {PINS.name}")


def _extras(whole: list[str], lacking: list[str]) -> Check:
    names = [name for name in lacking if name != "test"]
    parts = [f"installed: {', '.join(whole) or 'none'}"]
    if names:
        parts.append(f"not installed: {', '.join(names)}")
    return Check("extras", "; ".join(parts))
