"""Writing the report and, where asked for, its figures: what the command and `ravenlab.report` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboards.report.gather import Material


@dataclass(frozen=True)
class Made:
    """What was written, and what a person should know about it."""

    path: Path
    size: int
    recommendations: int
    figures: int
    pictures: int
    warnings: list[str]


def write_report(names: Sequence[str] | None, output: Path, pictures: Path | None, storage: str | None) -> Made:
    """Write the page whole or not at all; then the figures."""
    from dashboards.report.page import build
    from dashboards.report.pictures import write_pictures
    from dashboards.report.render import render
    from environments.errors import InputError
    from tuning.files import check_folder, check_place, replacing

    check_place(output)
    if pictures is not None:
        check_folder(pictures, "--figures")
        if pictures.resolve() == output.resolve():
            raise InputError(f"--figures {pictures} is the report's own file, not a folder.")
    with replacing(output) as file:  # a place that can't be written is refused before anything is played
        material = _gather(names, storage)
        page = build(material)
        text = render(material, page)
        file.write(text)
    warnings = [f"study {each.name!r}: {each.text}" for each in page.missing if each.name]
    if not material.studies and not material.grids:
        warnings.append(f"there are no studies in {material.where} yet; the report says so. Run ravenlab tune first.")
    count = 0
    if pictures is not None:
        count, trouble = write_pictures(page, pictures)
        warnings += [trouble] if trouble else []
    size = len(text.encode())
    return Made(output, size, len(material.recommendations), len(page.all_panels), count, warnings)


def _gather(names: Sequence[str] | None, storage: str | None) -> Material:
    """From the storage; a default one that is not there yet is an empty one, a named one is a mistake."""
    from dashboards.report.gather import gather
    from studies.urls import DEFAULT_URL, shown, sqlite_file, storage_url
    from tuning.commands.stored import opened

    url = storage_url(storage)
    path = sqlite_file(url)
    if url == DEFAULT_URL and storage is None and names is None and path is not None and not path.exists():
        return gather(None, url)
    with opened(storage) as store:
        return gather(store, shown(url), names)
