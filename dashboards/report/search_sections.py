"""The sections on how searches went."""

from __future__ import annotations

from dashboards import figures
from dashboards.report.gather import Material, StudyPart
from dashboards.report.panels import panel
from dashboards.report.sections import SearchSection
from dashboards.report.slugs import Slugs
from dashboards.report.titles import Titled, short_titles
from environments.text import format_number
from studies.describe import describe_recommendation
from studies.objective import parse_objective
from studies.symbols import format_params


def search_sections(material: Material, ids: dict[str, str], slugs: Slugs) -> list[SearchSection]:
    """A section a study."""
    titles = short_titles([_titled(part) for part in material.studies])
    return [
        _search(part, title, f"search-{ids[part.name]}", slugs)
        for part, title in zip(material.studies, titles, strict=True)
    ]


def _titled(part: StudyPart) -> Titled:
    spec = part.spec
    return Titled(part.name, spec.scenario, spec.horizon, spec.arms, spec.settings, spec.policy)


def _search(part: StudyPart, title: str, link: str, slugs: Slugs) -> SearchSection:
    spec, trials, found = part.spec, part.trials, part.recommendation
    pruned = f", {trials.pruned} of them pruned" if trials.pruned else ""
    failed = f"; {trials.failed} failed" if trials.failed else ""
    lines = [
        f"{trials.finished} of {spec.trials:,} trials{pruned}{failed}, {spec.replications:,} worlds each, sampler"
        f" {spec.sampler}, pruner {spec.pruner}, objective {spec.objective}."
    ]
    panels = []
    if found is not None:
        lines += describe_recommendation(found)
    elif part.missing:
        lines.append(part.missing)
        lines += _so_far(part)
    if trials.shown:
        drawn = figures.history(trials.shown, found, spec, {"COMPLETE": trials.complete, "PRUNED": trials.pruned})
        panels.append(panel(slugs, f"history {part.name}", drawn))
    if found is not None and found.importance:
        panels.append(panel(slugs, f"importances {part.name}", figures.importances(found)))
    return SearchSection(link, part.name, title, lines, panels)


def _so_far(part: StudyPart) -> list[str]:
    """The best trial of a study without a recommendation, with a warning."""
    complete = [point for point in part.trials.shown if point.state == "COMPLETE" and point.value is not None]
    if not complete:
        return []
    choose = max if parse_objective(part.spec.objective).maximise else min
    best = choose(complete, key=lambda point: point.value or 0.0)
    return [
        f"Its best trial so far: {format_params(best.params)} with {format_number(best.value or 0.0)}"
        f" ({part.spec.objective});"
        " too good to be true, as the best of a search always is."
    ]
