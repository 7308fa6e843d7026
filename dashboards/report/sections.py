"""What sections of pages hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from dashboards.report.definitions import Definition
from dashboards.report.panels import Panel
from dashboards.report.summary import Sentence


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    id: str
    title: str
    children: list[Entry] = field(default_factory=list)


@dataclass(frozen=True)
class ShownTable:
    """A table for people: cells are words already. `numbers` says which columns are set flush right."""

    caption: str
    columns: list[str]
    rows: list[list[str]]
    numbers: tuple[int, ...] = ()
    folded: bool = False
    """Whether the reader has to open it."""


@dataclass(frozen=True)
class SaidOf:
    """A sentence and the study it is about."""

    study: str
    sentence: Sentence


@dataclass(frozen=True)
class SummaryGroup:
    """The sentences on one scenario."""

    title: str
    link: str
    sentences: list[SaidOf]


@dataclass(frozen=True)
class ScenarioSection:
    """What a scenario is, its world, and what its studies found over time and over horizons."""

    id: str
    title: str
    key: str
    definition: Definition | None
    panels: list[Panel]
    notes: list[str]
    table: ShownTable | None = None


@dataclass(frozen=True)
class GridSection:
    """One grid."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
    table: ShownTable | None


@dataclass(frozen=True)
class SearchSection:
    """How one search went."""

    id: str
    title: str
    short: str
    lines: list[str]
    panels: list[Panel]
