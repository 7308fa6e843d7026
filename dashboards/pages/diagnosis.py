"""From a diagnosis to `diagnosis.html`: one file that asks nothing of any network."""

from __future__ import annotations

from dashboards.figures import plot_diagnosis as draw
from dashboards.pages.html import ContentsEntry, Panel, Slugs, make_panel, render_page
from studies.diagnosis.result import Diagnosis, describe_diagnosis, format_arms, tabulate_findings
from studies.storage.keys import project_version


def render_diagnosis(diagnosis: Diagnosis, source: str, proposed: str) -> str:
    """The text of the page; `proposed` is the study file, or nothing where there is none."""
    panels: list[Panel] = []
    if diagnosis.plot_data is not None:
        panels.append(make_panel(Slugs(), "picture", draw(diagnosis, source)))
    contents = [ContentsEntry("answer", "The answer")]
    contents += (
        [ContentsEntry("kinds", "The seven kinds"), ContentsEntry("study", "A study of it")]
        if diagnosis.conclusive
        else []
    )
    kinds = [
        (each, row, format_arms(each, diagnosis.arms))
        for each, row in zip(diagnosis.findings, tabulate_findings(diagnosis), strict=True)
    ]
    return render_page(
        "diagnosis",
        panels,
        diagnosis=diagnosis,
        source=source,
        summary=describe_diagnosis(diagnosis),
        kinds=kinds,
        panels=panels,
        proposed=proposed,
        version=project_version(),
        contents=[*contents, ContentsEntry("method", "How it was decided")],
    )
