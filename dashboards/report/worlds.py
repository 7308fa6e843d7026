"""The section on searches over several scenarios: the price of not knowing the world."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards import figures
from dashboards.report.gather import Material
from dashboards.report.panels import Panel, panel
from dashboards.report.sections import ShownTable
from dashboards.report.slugs import Slugs
from environments.text import format_count, format_number, format_percent, join_words, keep_pairs_together
from studies.describe import describe_front, describe_price, describe_robust
from studies.robust_recommendation import Contender, Front, RobustRecommendation
from studies.symbols import format_params


@dataclass(frozen=True)
class WorldsSection:
    """One setting for several scenarios, or their front."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
    table: ShownTable


def said_of(found: RobustRecommendation) -> str:
    """The summary's sentence."""
    return (
        f"{found.policy} with {format_params(found.params)}, for {join_words(found.scenarios)} at"
        f" T = {format_count(found.horizon)}. {describe_price(found)}"
    )


def worlds_sections(material: Material, slugs: Slugs) -> list[WorldsSection]:
    """A section a search."""
    return [_section(each, slugs) for each in material.over_worlds]


def _section(found: RobustRecommendation | Front, slugs: Slugs) -> WorldsSection:
    name = f"{join_words(found.scenarios)}, T = {format_count(found.horizon)}"
    if isinstance(found, Front):
        lines, settings, drawn = describe_front(found), list[Contender](found.kept()), figures.front(found)
        name += " (front)"
    else:
        lines, settings, drawn = describe_robust(found), found.contenders, figures.prices(found)
        lines = [lines[1], lines[0], *lines[2:]]
    link = slugs.new(found.study)
    panels = [panel(slugs, f"worlds {found.study}", drawn)]
    return WorldsSection(link, found.study, name, lines, panels, _numbers(found.scenarios, settings))


def _numbers(scenarios: list[str], settings: list[Contender]) -> ShownTable:
    rows = []
    for each in settings:
        cells = [
            f"{format_number(world.regret.mean)} ({format_percent(world.price.mean)},"
            f" {format_percent(world.price.low)} to {format_percent(world.price.high)})"
            for world in each.worlds
        ]
        rows.append([each.name, keep_pairs_together(format_params(each.params)), *cells])
    columns = ["setting", "parameters", *scenarios]
    caption = "Mean regret, with the price and its 95 % confidence interval in parentheses"
    return ShownTable(caption, columns, rows, tuple(range(2, len(columns))))
