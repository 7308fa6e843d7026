"""The sensitivity maps of a report: the two figures of each study, and one picture of panels for several studies."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ravenlab.common.text import format_count
from ravenlab.dashboards import figures
from ravenlab.dashboards.figures.grid_marks import format_regret
from ravenlab.dashboards.figures.grid_panels import MAX_PANELS, name_scenario
from ravenlab.dashboards.pages.html import Panel, Slugs, make_panel
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.symbols import format_params

HEIGHT = 430  # pixels of the figures of a study; low, so that both are visible together


@dataclass(frozen=True)
class StudyMap:
    """The map of a study: its figures, and what the line below them states about the recommended cell."""

    panels: list[Panel]
    params: str
    regret: str
    values: str
    """The parameters of the recommended cell, as JSON."""


@dataclass(frozen=True)
class MapPicture:
    """The maps of several studies in one figure, and how many of them it leaves out."""

    panel: Panel
    note: str
    filters: dict[str, list[str]]
    """Values of the filters under which it is shown."""


def draw_map(recommendation: Recommendation, slugs: Slugs) -> StudyMap | None:
    """Draw the map of a study; None if it has none."""
    grid = recommendation.sensitivity
    if grid is None:
        return None
    name = recommendation.study
    lines = figures.plot_sensitivity_lines(grid, recommendation)
    panels = [make_panel(slugs, f"sensitivity lines {name}", lines, height=HEIGHT)]
    if grid.mean.ndim > 1:
        heat_map = figures.plot_heat_map(grid, recommendation)
        panels.insert(0, make_panel(slugs, f"sensitivity {name}", heat_map, height=HEIGHT))
    params = grid.params(grid.reference)
    return StudyMap(panels, format_params(params), format_regret(grid, grid.reference), json.dumps(params))


def draw_pictures(recommendations: Sequence[Recommendation], ids: Mapping[str, str], slugs: Slugs) -> list[MapPicture]:
    """Draw the maps of studies that differ only in scenario and horizon; a study alone has only its own figures.

    Args:
        recommendations: All recommendations.
        ids: Ids of the sections of the studies by name.
        slugs: Slugs in use on the page.
    """
    links = {name: f"#{link}" for name, link in ids.items()}
    pictures = []
    for group in group_alike(recommendations):
        figure = figures.plot_sensitivity_panels(group, links)
        panel = make_panel(slugs, f"sensitivity of {len(group)} studies", figure)
        left_out = len(group) - MAX_PANELS
        note = f"{left_out} further studies have their maps in their sections." if left_out > 0 else ""
        filters = {
            "scenario": list(dict.fromkeys(each.scenario for each in group)),
            "horizon": list(dict.fromkeys(format_count(each.horizon) for each in group)),
            "policy": [group[0].policy],
        }
        pictures.append(MapPicture(panel, note, filters))
    return pictures


def group_alike(recommendations: Sequence[Recommendation]) -> list[list[Recommendation]]:
    """Group studies with maps that differ only in scenario and horizon, two or more each.

    >>> group_alike([])
    []
    """
    groups: dict[Any, dict[Any, Recommendation]] = defaultdict(dict)
    for each in recommendations:
        if each.sensitivity is not None:
            axes = tuple(each.sensitivity.spec.axes)
            group = groups[each.policy, each.arms, each.objective, axes]
            group.setdefault((name_scenario(each), each.horizon), each)
    return [list(group.values()) for group in groups.values() if len(group) > 1]
