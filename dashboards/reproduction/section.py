"""A section of the page: what the paper claims, what was done here, what came out, with figures and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dashboards.report.sections import ShownTable

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Section:
    """One figure or table of the paper."""

    title: str
    claimed: list[str]
    """What the paper says, for a reader who has not read it."""
    did: list[str]
    """What was run here, as published and as defined."""
    found: list[str]
    """What came out; every number in it comes from the tables."""
    figures: list[tuple[str, go.Figure]] = field(default_factory=list)
    """Each with a name for its link; `dashboards/figures/_style.make` gives them title and alt text."""
    tables: list[ShownTable] = field(default_factory=list)
