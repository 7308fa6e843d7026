"""From a diagnosis to `diagnosis.html`: one file that asks nothing of any network."""

from __future__ import annotations

from pathlib import Path

from dashboards.figures import plot_diagnosis as draw
from dashboards.pages.html import Panel, Slugs, panel, render_page
from dashboards.pages.sections import Entry
from studies.diagnosis.result import Diagnosis, describe_diagnosis, format_arms, tabulate_findings
from studies.storage.keys import project_version


def render(diagnosis: Diagnosis, source: str, proposed: str) -> str:
    """The text of the page; `proposed` is the study file, or nothing where there is none."""
    panels: list[Panel] = []
    if diagnosis.plot_data is not None:
        panels.append(panel(Slugs(), "picture", draw(diagnosis, source)))
    contents = [Entry("answer", "The answer")]
    contents += [Entry("kinds", "The seven kinds"), Entry("study", "A study of it")] if diagnosis.conclusive else []
    kinds = [
        (each, row, format_arms(each, diagnosis.arms))
        for each, row in zip(diagnosis.findings, tabulate_findings(diagnosis), strict=True)
    ]
    return render_page(
        Path(__file__).parent,
        "diagnosis",
        panels,
        diagnosis=diagnosis,
        source=source,
        summary=describe_diagnosis(diagnosis),
        kinds=kinds,
        panels=panels,
        proposed=proposed,
        version=project_version(),
        contents=[*contents, Entry("method", "How it was decided")],
    )
