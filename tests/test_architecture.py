"""The structure of the project: packages import only packages to their left, and modules have a readable size."""

from __future__ import annotations

import pytest

from tests.project import PACKAGES, ROOT, imported_names

LONGEST_MODULE = 500


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_packages_to_their_left(package: str) -> None:
    forbidden = {*PACKAGES[PACKAGES.index(package) + 1 :], "ravenlab", "tests", "tools"}
    paths = sorted((ROOT / package).rglob("*.py"))
    assert paths
    for path in paths:
        imported = {name.split(".")[0] for name in imported_names(path)}
        assert not imported & forbidden, f"{path.relative_to(ROOT)} imports {imported & forbidden}"


def test_only_the_entry_point_imports_the_command_line() -> None:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith("tuning/cli/"):
                imported = [name for name in imported_names(path) if name.startswith("tuning.cli")]
                assert not imported, f"{place} imports {imported}"


def test_modules_have_a_readable_size() -> None:
    paths = [path for folder in (*PACKAGES, "tests") for path in (ROOT / folder).rglob("*.py")]
    lines = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").count("\n") for path in paths}
    assert not {path: count for path, count in lines.items() if count > LONGEST_MODULE}
