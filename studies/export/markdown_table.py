"""Markdown: a table for a README or an issue."""

from __future__ import annotations

from collections.abc import Sequence

from ravenlab.common.markdown import to_markdown
from ravenlab.studies.results.documents import tabulate_recommendations
from ravenlab.studies.results.expected import Advice


def write(results: Sequence[Advice]) -> str:
    """Write a table with one row per recommendation; the last columns are the extra regret of the baselines."""
    return f"{to_markdown(tabulate_recommendations(results))}\n"
