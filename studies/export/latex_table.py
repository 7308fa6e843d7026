"""LaTeX: a booktabs table for a paper."""

from __future__ import annotations

from collections.abc import Sequence

from ravenlab.common.latex import PACKAGES, to_latex
from ravenlab.studies.results.documents import RECOMMENDATION_COLUMNS, tabulate_recommendations
from ravenlab.studies.results.expected import Advice


def write(results: Sequence[Advice]) -> str:
    """Write a tabular with one row per recommendation, without the baselines."""
    table = tabulate_recommendations(results)
    return f"{PACKAGES}\n{to_latex(table.select(*RECOMMENDATION_COLUMNS))}\n"
