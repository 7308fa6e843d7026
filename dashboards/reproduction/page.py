"""The page before it is HTML."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import cast

from dashboards.report.panels import Panel, panel
from dashboards.report.sections import Entry, ShownTable
from dashboards.report.slugs import Slugs
from dashboards.reproduction.section import Section
from dashboards.reproduction.verdict_table import Group, groups, tally
from studies.keys import project_version
from studies.reproduction.document import Document
from studies.reproduction.rule_words import RULES

TITLE = "The RAVEN-UCB paper, run again"

MEANING = {
    "as published": (
        "what the authors' scripts really did, which is where the printed numbers come from: their scenarios, their "
        "versions of the policies, their variance estimators, their way of measuring."
    ),
    "as defined": (
        "what the paper's text, Table 1 and the policies' own papers define, with every number measured on worlds "
        "that chose nothing."
    ),
}


@dataclass(frozen=True)
class Part:
    """A section with its figures ready for the page."""

    id: str
    section: Section
    panels: list[Panel]

    @property
    def open_tables(self) -> list[ShownTable]:
        """Tables that are in sight."""
        return [table for table in self.section.tables if not table.folded]

    @property
    def folded_tables(self) -> list[ShownTable]:
        """Tables that the reader has to open."""
        return [table for table in self.section.tables if table.folded]


@dataclass(frozen=True)
class Page:
    """All that the template shows."""

    title: str
    subtitle: str
    version: str
    tally: str
    groups: list[Group]
    titles: dict[str, str]
    """Of sections, by the link to them."""
    protocols: list[tuple[str, str]]
    parts: list[Part]
    rules: list[tuple[str, str]]
    command: str
    contents: list[Entry]

    @property
    def all_panels(self) -> list[Panel]:
        """Every figure in the order of the page."""
        return [each for part in self.parts for each in part.panels]


def build(document: Document) -> Page:
    """Draw the figures and write the words."""
    slugs = Slugs()
    verdicts = document.verdicts()
    parts = []
    for name, outcome in document.outcomes.items():
        module = importlib.import_module(f"dashboards.reproduction.{name}")
        section = cast(Section, module.section(outcome, document))
        parts.append(Part(slugs.new(name), section, [panel(slugs, key, figure) for key, figure in section.figures]))
    used = {verdict.rule for verdict in verdicts}
    contents = [Entry(part.id, part.section.title) for part in parts]
    if verdicts:
        contents.insert(0, Entry("verdicts", "Verdicts"))
    return Page(
        title=TITLE,
        subtitle=f"Seed {document.seed}, {document.replications} replications of the logistics table, the rest in "
        f"proportion ({'; '.join(f'as {name}' for name in document.protocols)})",
        version=project_version(),
        tally=tally(verdicts),
        groups=groups(verdicts),
        titles={part.id: part.section.title for part in parts},
        protocols=[(name, text) for name, text in MEANING.items() if name.removeprefix("as ") in document.protocols],
        parts=parts,
        rules=[(name, text) for name, text in RULES.items() if name in used],
        command=_command(document),
        contents=[*contents, Entry("method", "How this was made")],
    )


def _command(document: Document) -> str:
    """What makes this very page again."""
    protocol = "both" if len(document.protocols) > 1 else document.protocols[0]
    what = " ".join(document.outcomes)
    return (
        f"ravenlab reproduce {what} --protocol {protocol} --replications {document.replications} --seed {document.seed}"
    )
