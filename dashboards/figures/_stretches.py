"""Which rows or events of a user's own data search, choose and report: shaded, labelled, and in words."""

from __future__ import annotations

from typing import Any

from dashboards.figures._parts import faded, shaded
from dashboards.figures._scales import rounded
from dashboards.figures._style import GREY
from environments.any_world import RecordedScenario
from environments.recorded import STRETCHES
from environments.streams import Stream

SAID = {Stream.SEARCH: "searched", Stream.SELECTION: "chooses", Stream.REPORT: "reported"}
SHADES = {Stream.SEARCH: 0.0, Stream.SELECTION: 0.1, Stream.REPORT: 0.2}


def stretches(scenario: RecordedScenario) -> list[dict[str, Any]]:
    """What searches, chooses and reports, shaded."""
    return [
        shaded(here.first + 0.5, here.last + 0.5, faded(GREY, SHADES[stream]))
        for stream in STRETCHES
        for here in [scenario.stretch(stream)]
    ]


def labels(scenario: RecordedScenario) -> list[dict[str, Any]]:
    """The same in words on the figure."""
    return [
        note((here.first + here.last) / 2, 1.0, SAID[stream], "top")
        for stream in STRETCHES
        for here in [scenario.stretch(stream)]
    ]


def note(x: float, y: float, text: str, anchor: str) -> dict[str, Any]:
    """Small words at a row."""
    return {
        "x": rounded(x),
        "y": y,
        "xref": "x",
        "yref": "paper",
        "yanchor": anchor,
        "showarrow": False,
        "text": text,
        "font": {"size": 11},
    }


def in_words(scenario: RecordedScenario, what: str = "rows") -> str:
    """The same in a sentence."""
    parts = []
    for stream in STRETCHES:
        here = scenario.stretch(stream)
        parts.append(f"{what} {here.first + 1} to {here.last} {SAID[stream]}")
    return f"{', '.join(parts)}.".capitalize()
