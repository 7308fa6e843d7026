"""The structure of the project: packages import only packages to their left, and modules have a readable size."""

import pytest

from tests.project import PACKAGES, ROOT, imported_names, list_modules

LONGEST_MODULE = 500


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_packages_to_their_left(package: str) -> None:
    allowed = PACKAGES[: PACKAGES.index(package) + 1]
    paths = list_modules(package)
    assert paths
    for path in paths:
        names = imported_names(path)
        assert not {name.split(".")[0] for name in names} & {*PACKAGES, "tests", "tools"}
        imported = {name.split(".")[1] for name in names if name.split(".")[0] == "ravenlab"}
        assert imported <= set(allowed), f"{path.relative_to(ROOT)} imports {imported - set(allowed)}"


def test_only_the_entry_point_imports_the_command_line() -> None:
    for path in list_modules(*PACKAGES):
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith("tuning/cli/"):
            imported = [name for name in imported_names(path) if name.startswith("ravenlab.tuning.cli")]
            assert not imported, f"{place} imports {imported}"


def test_modules_have_a_readable_size() -> None:
    paths = [*list_modules(*PACKAGES), *(ROOT / "tests").rglob("*.py")]
    lines = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").count("\n") for path in paths}
    assert not {path: count for path, count in lines.items() if count > LONGEST_MODULE}
