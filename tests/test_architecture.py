"""The layout is part of the design: imports point one way, and files stay small."""

from __future__ import annotations

import pytest

from tests.docs_made.imports import names_in
from tests.project import ROOT

MAY_IMPORT = {
    "environments": {"environments"},
    "policies": {"environments", "policies"},
    "studies": {"environments", "policies", "studies"},
    "tuning": {"environments", "policies", "studies", "dashboards", "tuning"},
    "dashboards": {"environments", "policies", "studies", "dashboards"},
}
COMMAND_LINE = ("tuning/cli.py", "tuning/commands/")


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_imports_point_one_way(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        where = path.relative_to(ROOT).as_posix()
        imported = {name.split(".")[0] for name in names_in(path)}
        wrong = (imported & ({*MAY_IMPORT, "ravenlab", "tests"})) - MAY_IMPORT[package]
        assert not wrong, f"{where} imports {wrong}"


def test_only_the_command_line_imports_the_command_line() -> None:
    for path in sorted((ROOT / "tuning").rglob("*.py")):
        where = path.relative_to(ROOT).as_posix()
        if where.startswith(COMMAND_LINE):
            continue
        wrong = [name for name in names_in(path) if name.startswith(("tuning.cli", "tuning.commands"))]
        assert not wrong, f"{where} imports {wrong}"


def test_files_stay_small() -> None:
    sources = [path for folder in (*MAY_IMPORT, "tests") for path in (ROOT / folder).rglob("*.py")]
    long = {path.name: n for path in sources if (n := path.read_text(encoding="utf-8").count("\n")) > 400}
    assert not long
