"""The report page: its model, the table of recommended parameters, rendering, and figures as separate files."""

import importlib.util
import math
import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from ravenlab.common.errors import InputError
from ravenlab.common.paths import open_new_file
from ravenlab.common.text import (
    format_range,
    plural,
)
from ravenlab.dashboards.figures import apply_theme
from ravenlab.dashboards.pages.html import ContentsEntry, Panel, Slugs, render_page
from ravenlab.dashboards.pages.report.data import ReportData, StudyData, count_curve_worlds
from ravenlab.dashboards.pages.report.lanes import Axis
from ravenlab.dashboards.pages.report.maps import MapPicture, StudyMap, draw_pictures
from ravenlab.dashboards.pages.report.overview import Overview, make_overview
from ravenlab.dashboards.pages.report.scenarios import ScenarioSection, make_scenario_sections
from ravenlab.dashboards.pages.report.studies import (
    ReportSection,
    make_grid_sections,
    make_robust_sections,
    make_study_sections,
)
from ravenlab.dashboards.pages.report.summary import (
    VerdictRow,
    choose_axis,
    make_robust_row,
    make_verdict_row,
)
from ravenlab.dashboards.pages.report.table import RecommendationTable, make_recommendation_tables
from ravenlab.dashboards.pages.report.tally import Count, Tally, count_decisions, count_relations
from ravenlab.environments.catalog import SCENARIO_PLUGINS
from ravenlab.policies.engine.plugins import POLICY_PLUGINS
from ravenlab.studies.export import export
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.spec.grid import GRID_POLICY
from ravenlab.studies.spec.source import LogSource, TraceSource
from ravenlab.studies.storage.keys import UNSUPPORTED_FRONT, project_version

UNREADABLE = (
    "Omitted: not a study of ravenlab, made by an incompatible version, or a grid of a custom scenario that is not"
    " loaded."
)

EMPTY = [
    "This storage contains no study and no finished grid of ravenlab.",
    "To create one, run ravenlab tune variance-drift --horizon 10000 or ravenlab grid variance-drift, then run"
    " ravenlab report again.",
]

SECTIONS = {
    "summary": "Recommendations",
    "studies": "Studies",
    "robust": "Robust settings",
    "grids": "Sensitivity grids",
    "parameters": "Table and export",
    "scenarios": "Scenarios",
    "methods": "Methods and limitations",
}
"""Ids and titles of the sections in the order of the page; those without content are left out."""

LIBRARIES = ("numpy", "numba", "scipy", "optuna", "plotly")  # whose versions the report states

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
IMAGE_WIDTH = 1000


@dataclass(frozen=True)
class MissingItem:
    """Content that the report lacks, and why. General items have no name."""

    name: str
    text: str


@dataclass(frozen=True)
class ReportPage:
    """Everything that the template of the report shows."""

    title: str
    subtitle: str
    version: str
    lead: list[str]
    """How to create a study if there are none."""
    decisions: list[Count]
    tallies: list[Tally]
    findings: list[VerdictRow]
    """In the order of the gain over the defaults."""
    axis: Axis | None
    """Axis of the interval plot."""
    overview: Overview | None
    pictures: list[MapPicture]
    """The sensitivity maps of several studies."""
    facets: dict[str, list[str]]
    """Choices of each filter; filters with one choice are omitted."""
    missing: list[MissingItem]
    tables: list[RecommendationTable]
    scenarios: list[ScenarioSection]
    grids: list[ReportSection]
    robust: list[ReportSection]
    studies: list[ReportSection]
    contents: list[ContentsEntry] = field(default_factory=list)
    has_log: bool = False
    has_trace: bool = False

    @property
    def filters(self) -> dict[str, dict[str, list[str]]]:
        """Values of the filters under which each study is shown, by the id of its section."""
        return {section.id: section.filters for section in self.studies}

    @property
    def first_map(self) -> StudyMap | None:
        """The map of the only study, which is shown below its verdict; those of several are in their sections."""
        return self.studies[0].map if len(self.findings) == 1 and self.studies else None

    @property
    def all_panels(self) -> list[Panel]:
        """All figures in the order of the page."""
        sections = [*self.studies, *self.robust, *self.grids]
        panels = [picture.panel for picture in self.pictures]
        panels += [panel for section in sections for panel in section.all_panels]
        return [*panels, *(panel for section in self.scenarios for panel in section.panels)]


def build_report(data: ReportData) -> ReportPage:
    """Build the page: draw the figures and write the text."""
    slugs = Slugs()
    ids = {study.name: slugs.new(f"study/{study.name}") for study in data.studies}
    studies = make_study_sections(data, ids, slugs)
    robust = make_robust_sections(data, slugs)
    grids = make_grid_sections(data, slugs)
    findings = [
        make_verdict_row(study, section.title, section.id, section.filters)
        for study, section in zip(data.studies, studies, strict=True)
    ]
    findings += [
        make_robust_row(result, section.title, section.id, section.filters)
        for result, section in zip(data.robust, robust, strict=True)
    ]
    recommended = [
        section for study, section in zip(data.studies, studies, strict=True) if study.recommendation is not None
    ]
    tables = make_recommendation_tables(
        data.recommendations, [section.id for section in recommended], [section.title for section in recommended]
    )
    page = ReportPage(
        title=_format_title(data),
        subtitle=" · ".join([*_count_contents(data), f"Storage: {data.where}"]),
        version=project_version(),
        lead=[] if data.studies or data.grids or data.robust else EMPTY,
        decisions=count_decisions(row.filters for row in findings),
        tallies=count_relations(data.recommendations),
        findings=sorted(findings, key=lambda row: -math.inf if row.gain is None else row.gain, reverse=True),
        axis=choose_axis(findings),
        overview=make_overview(
            data.recommendations,
            [row for study, row in zip(data.studies, findings, strict=False) if study.recommendation is not None],
        ),
        pictures=draw_pictures(data.recommendations, ids, slugs),
        facets=_list_facets([*studies, *robust, *grids]),
        has_log=any(isinstance(study.spec.source, LogSource) for study in data.studies),
        has_trace=any(isinstance(study.spec.source, TraceSource) for study in data.studies),
        missing=_list_missing(data),
        tables=tables,
        scenarios=make_scenario_sections(data, slugs),
        grids=grids,
        robust=robust,
        studies=studies,
    )
    page.contents.extend(_list_contents(page))
    return page


def render_report(data: ReportData, page: ReportPage | None = None) -> str:
    """Render the report as one self-contained HTML file."""
    page = build_report(data) if page is None else page
    exports = {
        row.id: {form: export([recommendation], form) for form in ("json", "toml")}
        for table in page.tables
        for row, recommendation in zip(table.rows, table.recommendations, strict=True)
    }
    curves = count_curve_worlds(data.studies)
    return render_page(
        "report", page.all_panels, exports, page=page, data=data, curves=curves, versions=_list_versions(data)
    )


def _list_versions(data: ReportData) -> str:
    """List the versions that rendered this report, and those that made its recommendations if they differ."""
    current = project_version()
    others = sorted({recommendation.version for recommendation in data.recommendations} - {current})
    libraries = "".join(f", {name} {version(name)}" for name in LIBRARIES)
    made = f" Some recommendations were made by version {', '.join(others)}." if others else ""
    return f"ravenlab {current}, Python {platform.python_version()}{libraries}.{made}"


def _list_facets(sections: Sequence[ReportSection]) -> dict[str, list[str]]:
    """List the choices of the filters; filters with one choice are omitted."""
    choices = {
        name: list(dict.fromkeys(value for section in sections for value in section.filters[name]))
        for name in ("scenario", "horizon", "policy")
    }
    choices["scenario"].sort()
    choices["policy"].sort()
    choices["horizon"].sort(key=lambda text: int(text.replace(",", "")))
    return {name: values for name, values in choices.items() if len(values) > 1}


def _format_title(data: ReportData) -> str:
    scenarios = sorted({study.where for study in data.studies} | {each.grid.spec.scenario for each in data.grids})
    scenarios = scenarios or sorted({name for result in data.robust for name in result.scenarios})
    if not scenarios:
        return "No studies yet"
    policies = sorted({study.spec.policy for study in data.studies} | {result.policy for result in data.robust})
    policy = f"{len(policies)} policies" if len(policies) > 1 else [*policies, GRID_POLICY][0]
    scenario = f"{len(scenarios)} scenarios" if len(scenarios) > 2 else " and ".join(scenarios)
    return f"Parameters of {policy} in {scenario}"


def _count_contents(data: ReportData) -> list[str]:
    """State the number of studies and grids."""
    counts = []
    if data.studies:
        horizons = format_range(study.spec.horizon for study in data.studies)
        counts.append(f"{plural(len(data.studies), 'study', 'studies')} at T = {horizons}")
    if data.robust:
        counts.append(plural(len(data.robust), "robust setting"))
    return [*counts, plural(len(data.grids), "sensitivity grid")] if data.grids else counts


def _list_missing(data: ReportData) -> list[MissingItem]:
    """List unfinished and unreadable studies, and content that could not be computed."""
    items = [MissingItem(study.name, study.missing) for study in data.studies if study.missing]
    items += [
        MissingItem(study.name, _explain_missing_curves(study, study.recommendation))
        for study in data.studies
        if study.recommendation is not None and study.curves is None
    ]
    items += [
        MissingItem(name, "The grid is unfinished; rerun the same ravenlab grid command to resume it.")
        for name in data.unfinished_grids
    ]
    items += [
        MissingItem(name, "The search over several scenarios is unfinished; rerun the same command to resume it.")
        for name in data.unfinished_robust
    ]
    items += [MissingItem(name, UNSUPPORTED_FRONT) for name in data.fronts]
    items += [MissingItem(name, UNREADABLE) for name in data.unreadable]
    mapped = any(each.sensitivity is not None for each in data.recommendations)
    if data.studies and not mapped and not data.grids and not data.unfinished_grids:
        items.append(MissingItem("", "There is no sensitivity map (ravenlab grid computes one)."))
    return items


def _explain_missing_curves(study: StudyData, recommendation: Recommendation) -> str:
    spec = study.spec
    match spec.source:
        case LogSource():
            return "No curves over time: the best mean at each step of a log is not known."
        case TraceSource(path=path) as trace if trace.find() is None:
            return f"No curves over time: {path} does not exist or has changed since the study."
    if recommendation.scenario != spec.scenario:
        return "No curves over time: the recommendation is for a scenario that this version does not define."
    if POLICY_PLUGINS.is_missing(spec.policy) or SCENARIO_PLUGINS.is_missing(spec.scenario):
        return "No curves over time: the study uses a plugin that is not loaded."
    return "No curves over time: simulating a few worlds of this size would take too long."


def _list_contents(page: ReportPage) -> list[ContentsEntry]:
    """List the sections that have content, with their parts."""
    parts: dict[str, Sequence[ReportSection | ScenarioSection]] = {
        "studies": page.studies,
        "robust": page.robust,
        "grids": page.grids,
        "scenarios": page.scenarios,
    }
    has_content = {name: bool(found) for name, found in parts.items()} | {"parameters": bool(page.tables)}
    return [
        ContentsEntry(name, title, _group_by_scenario(parts.get(name, [])))
        for name, title in SECTIONS.items()
        if has_content.get(name, True)
    ]


def _group_by_scenario(parts: Sequence[ReportSection | ScenarioSection]) -> list[ContentsEntry]:
    """Make an entry per section; several of one scenario become an entry with a link for each."""
    groups: dict[str, list[ContentsEntry]] = {}
    for part in parts:
        scenario, _, rest = part.title.partition(", T = ")
        groups.setdefault(scenario, []).append(ContentsEntry(part.id, f"T = {rest}" if rest else part.title))
    return [
        ContentsEntry("", scenario, entries)
        if len(entries) > 1
        else ContentsEntry(entries[0].id, ", ".join(dict.fromkeys((scenario, entries[0].title))))
        for scenario, entries in groups.items()
    ]


def write_figures(page: ReportPage, folder: Path) -> tuple[int, str]:
    """Write every figure as HTML and as an image; return the number of files and a warning, if any.

    The HTML files share one plotly.min.js. Images are SVG on white.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"figures {folder} can't be created: {error.strerror}.", field="figures") from None
    from plotly.offline import get_plotlyjs

    panels = page.all_panels
    if panels:
        with open_new_file(folder / "plotly.min.js") as file:
            file.write(get_plotlyjs())
    for panel in panels:
        figure = apply_theme(panel.figure, dark=False)
        with open_new_file(folder / f"{panel.id}.html") as file:
            file.write(figure.to_html(include_plotlyjs="directory", full_html=True))
    warning = _check_image_export()
    if warning or not panels:
        return len(panels), warning
    try:
        with tempfile.TemporaryDirectory(prefix=".images.", dir=folder) as new:
            _write_images(page, Path(new))
            for path in Path(new).iterdir():
                path.replace(folder / path.name)
    except Exception as error:  # errors of the browser: the HTML files and the report are complete
        message = " ".join(str(error).split())[:200] or type(error).__name__
        return len(panels), f"figures were written as HTML only: the browser failed to draw them ({message})."
    return 2 * len(panels), ""


def _check_image_export() -> str:
    """Return why images can't be written; empty if they can."""
    if importlib.util.find_spec("kaleido") is None:
        return "figures were written as HTML only: kaleido is not installed (pip install 'ravenlab[images]')."
    if not (os.environ.get("BROWSER_PATH") or any(shutil.which(name) for name in BROWSERS)):
        return "figures were written as HTML only: kaleido requires Chrome or Chromium."
    return ""


def _write_images(page: ReportPage, folder: Path) -> None:
    """Write all images with one browser process."""
    import plotly.io

    images = []
    paths = []
    for panel in page.all_panels:
        figure = apply_theme(panel.figure, dark=False)
        figure.update_layout(paper_bgcolor="#ffffff")
        images.append(figure)
        paths.append(folder / f"{panel.id}.svg")
    plotly.io.write_images(images, paths, width=IMAGE_WIDTH)
