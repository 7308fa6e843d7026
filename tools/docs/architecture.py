"""The tree of modules in docs/architecture.md, from the docstrings of the packages."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.project import PACKAGES, ROOT

COLUMN = 34


def parts_of_the_page() -> dict[str, list[str]]:
    """The tree, as the part of the page between its marks."""
    lines = [line for package in PACKAGES for line in _describe(ROOT / package)]
    return {"tree": ["```text", *lines, "```"]}


def _describe(folder: Path, depth: int = 0) -> list[str]:
    """One line per package or subpackage: its path and the first sentence of its docstring."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    summary = docstring.split("\n")[0]
    indent = "    " * depth
    lines = [f"{indent + folder.name + '/':<{COLUMN}}{summary}".rstrip()]
    for subfolder in sorted(path.parent for path in folder.glob("*/__init__.py")):
        lines += _describe(subfolder, depth + 1)
    return lines
