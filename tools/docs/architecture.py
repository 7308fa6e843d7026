"""Tree of packages in docs/architecture.md, from their docstrings."""

import ast
from pathlib import Path

from ravenlab.common.fingerprint import package_folder
from tests.project import PACKAGES

COLUMN = 34


def module_tree() -> dict[str, list[str]]:
    """Return the generated part of the page: the tree of packages."""
    lines = [line for package in PACKAGES for line in _describe(package_folder(package))]
    return {"tree": ["```text", *lines, "```"]}


def _describe(folder: Path, depth: int = 0) -> list[str]:
    """Return one line per package: its name and the first line of its docstring."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    summary = docstring.split("\n")[0]
    indent = "    " * depth
    lines = [f"{indent + folder.name + '/':<{COLUMN}}{summary}".rstrip()]
    for subfolder in sorted(path.parent for path in folder.glob("*/__init__.py")):
        lines += _describe(subfolder, depth + 1)
    return lines
