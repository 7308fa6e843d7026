"""Where a comparison goes: a page, tables and JSON in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.comparison.document import Document

NAME = "compare"


def write_comparison(document: Document, folder: Path) -> list[Path]:
    """Write everything, each file whole or not at all."""
    from dashboards.comparison.render import render
    from tuning.files import make_folder, replacing

    texts = {
        "html": render(document),
        "json": document.as_json(),
        "csv": document.as_csv(),
        "md": document.as_markdown(),
        "tex": document.as_latex(),
    }
    make_folder(folder)
    for ending, text in texts.items():
        with replacing(folder / f"{NAME}.{ending}") as file:
            file.write(text)
    return [folder / f"{NAME}.{ending}" for ending in texts]
