"""The section on searches over several scenarios: the price of not knowing the world."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards import figures
from dashboards.report.gather import Material
from dashboards.report.panels import Panel, panel
from dashboards.report.sections import ShownTable
from dashboards.report.slugs import Slugs
from dashboards.words import unbroken
from studies.robust_recommendation import Contender, Front, RobustRecommendation
from studies.robust_words import front_in_words, headline, percent, robust_in_words
from studies.words import params_in_words, short


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
        f"For {_any(found.scenarios)} at T = {found.horizon}, whichever it is, {found.policy} with"
        f" {params_in_words(found.params)}: {headline(found)[0].lower()}{headline(found)[1:]}"
    )


def worlds_sections(material: Material, slugs: Slugs) -> list[WorldsSection]:
    """A section a search."""
    return [_section(each, slugs) for each in material.over_worlds]


def _section(found: RobustRecommendation | Front, slugs: Slugs) -> WorldsSection:
    name = f"{_any(found.scenarios)}, T = {found.horizon}"
    if isinstance(found, Front):
        lines, settings, drawn = front_in_words(found), list[Contender](found.kept()), figures.front(found)
        name += " (front)"
    else:
        lines, settings, drawn = robust_in_words(found), found.contenders, figures.prices(found)
        lines = [lines[1], lines[0], *lines[2:]]
    link = slugs.new(found.study)
    panels = [panel(slugs, f"worlds {found.study}", drawn)]
    return WorldsSection(link, found.study, name, lines, panels, _numbers(found.scenarios, settings))


def _any(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _numbers(scenarios: list[str], settings: list[Contender]) -> ShownTable:
    rows = []
    for each in settings:
        cells = [
            f"{short(world.regret.mean)} ({percent(world.price.mean)}, {percent(world.price.low)} to"
            f" {percent(world.price.high)})"
            for world in each.worlds
        ]
        rows.append([each.name, unbroken(params_in_words(each.params)), *cells])
    columns = ["setting", "parameters", *scenarios]
    caption = "Mean regret, and in brackets the price with its 95 % interval"
    return ShownTable(caption, columns, rows, tuple(range(2, len(columns))))
