"""Writing the files of a report and a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ravenlab.common.errors import InputError
from ravenlab.studies.storage.database import use_storage
from ravenlab.studies.storage.urls import DEFAULT_URL, mask_url, sqlite_file, storage_url
from ravenlab.tuning.files import check_file_writable, check_folder, make_folder, noting_interrupts, write_text

if TYPE_CHECKING:
    from ravenlab.dashboards.pages.report.data import ReportData
    from ravenlab.studies.export.comparison import ComparisonDocument


COMPARISON_NAME = "compare"


@dataclass(frozen=True)
class WrittenReport:
    """A written report: its file, its contents in numbers, and warnings for the user."""

    path: Path
    size: int
    recommendations: int
    figures: int
    figure_files: int
    warnings: list[str]


def write_report(
    names: Sequence[str] | None,
    output: Path,
    figure_folder: Path | None,
    storage: str | None,
    internal: bool = False,
) -> WrittenReport:
    """Write the report as one HTML file, and the figures if a folder is given."""
    from ravenlab.dashboards.pages.report.page import build_report, render_report, write_figures

    check_file_writable(output)
    if figure_folder is not None:
        check_folder(figure_folder, "figures")
        if figure_folder.resolve() == output.resolve():
            raise InputError(f"figures {figure_folder} is the report's own file, not a folder.", field="figures")
    with noting_interrupts(output):
        data = _load_data(names, storage, internal)
        page = build_report(data)
        text = render_report(data, page)
    write_text(output, text)  # only now, so that a killed command leaves no temporary file behind
    warnings = [f"study {item.name!r}: {item.text}" for item in page.missing if item.name]
    if not data.studies and not data.grids:
        warnings.append(f"there are no studies in {data.where} yet, so the report is empty; run ravenlab tune.")
    count = 0
    if figure_folder is not None:
        count, warning = write_figures(page, figure_folder)
        warnings += [warning] if warning else []
    size = len(text.encode())
    return WrittenReport(output, size, len(data.recommendations), len(page.all_panels), count, warnings)


def _load_data(names: Sequence[str] | None, storage: str | None, internal: bool) -> ReportData:
    """Read the studies. A missing default storage counts as empty; a missing named storage is an error."""
    from ravenlab.dashboards.pages.report.data import load_report_data

    url = storage_url(storage)
    path = sqlite_file(url)
    if url == DEFAULT_URL and storage is None and names is None and path is not None and not path.exists():
        return load_report_data(None, url)
    with use_storage(storage) as store:
        return load_report_data(store, mask_url(url), names, internal)


def write_comparison(document: ComparisonDocument, folder: Path) -> list[Path]:
    """Write a comparison as HTML, JSON, CSV, Markdown and LaTeX, each file atomically."""
    from ravenlab.dashboards.pages.comparison import render_comparison

    texts = {
        "html": render_comparison(document),
        "json": document.as_json(),
        "csv": document.as_csv(),
        "md": document.as_markdown(),
        "tex": document.as_latex(),
    }
    make_folder(folder)
    for ending, text in texts.items():
        write_text(folder / f"{COMPARISON_NAME}.{ending}", text)
    return [folder / f"{COMPARISON_NAME}.{ending}" for ending in texts]
