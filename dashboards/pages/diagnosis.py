"""The diagnosis page: the kinds of change in a trace or log, parameters for it, and a proposed study."""

from collections.abc import Sequence
from dataclasses import dataclass

from ravenlab.dashboards.figures import plot_diagnosis
from ravenlab.dashboards.pages.html import ContentsEntry, Slugs, make_panel, render_page
from ravenlab.studies.diagnosis.result import Diagnosis, describe_diagnosis, format_arms, tabulate_findings
from ravenlab.studies.storage.keys import project_version


@dataclass(frozen=True)
class NextStep:
    """The command to run after a diagnosis, and what to expect from it."""

    command: str
    effect: str
    to_save: str = ""
    """Name of the file in which the command expects the proposed study, if it was not written."""


def render_diagnosis(
    diagnosis: Diagnosis, source: str, proposed: str, parameters: Sequence[str] = (), step: NextStep | None = None
) -> str:
    """Render the diagnosis as one self-contained HTML file.

    Args:
        diagnosis: The diagnosis.
        source: Name of the trace or log.
        proposed: Text of the proposed study file; empty if there is none.
        parameters: Sentences about the law's parameters for such data, or why there are none.
        step: The next command.
    """
    panels = []
    if diagnosis.plot_data is not None:
        panels.append(make_panel(Slugs(), "diagnosis", plot_diagnosis(diagnosis, source)))
    contents = [ContentsEntry("result", "Result")]
    if parameters:
        contents.append(ContentsEntry("parameters", "Parameters"))
    if diagnosis.conclusive:
        contents += [ContentsEntry("kinds", "Kinds of change"), ContentsEntry("study", "Proposed study")]
    kinds = [
        (finding, row, format_arms(finding, diagnosis.arms))
        for finding, row in zip(diagnosis.findings, tabulate_findings(diagnosis), strict=True)
    ]
    kinds.sort(key=lambda kind: not kind[0].found)
    return render_page(
        "diagnosis",
        panels,
        diagnosis=diagnosis,
        source=source,
        summary=describe_diagnosis(diagnosis),
        kinds=kinds,
        panels=panels,
        proposed=proposed,
        step=step,
        parameters=parameters,
        version=project_version(),
        contents=[*contents, ContentsEntry("method", "Methods")],
    )
