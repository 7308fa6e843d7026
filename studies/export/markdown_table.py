"""Markdown: a table for a README or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ravenlab.common.text import capitalize_first, format_count, format_interval
from ravenlab.studies.export.deployment import describe_deployment
from ravenlab.studies.results.baselines import format_difference
from ravenlab.studies.results.describe import format_failures, format_verdict
from ravenlab.studies.results.naming import format_unit, list_baselines
from ravenlab.studies.results.recommendation import Recommendation
from ravenlab.studies.results.robust import RobustRecommendation, flatten_recommendations
from ravenlab.studies.symbols import format_params

COLUMNS = (
    "Study",
    "Policy",
    "Scenario",
    "T",
    "K",
    "Verdict",
    "Parameters",
    "Regret (95 %)",
    "Failures",
)
ALIGNMENT = ("---", "---", "---", "---:", "---:", "---", "---", "---:", "---:")


def write(results: Sequence[Recommendation | RobustRecommendation]) -> str:
    """Write a table with one row per recommendation; the last columns are the excess regret of the baselines."""
    recommendations = flatten_recommendations(results)
    baselines = list_baselines(recommendations)
    columns = [*COLUMNS, *map(capitalize_first, baselines.values())]
    alignment = [*ALIGNMENT, *("---:" for _ in baselines)]
    rows = [_format_cells(recommendation, list(baselines)) for recommendation in recommendations]
    return format_rows([columns, alignment, *rows]) + "\n"


def format_rows(rows: Iterable[Sequence[str]]) -> str:
    """Join cells to the lines of a table.

    >>> format_rows([("Policy", "T"), ("---", "---:"), ("ucb1", "100")])
    '| Policy | T |\\n| --- | ---: |\\n| ucb1 | 100 |'
    """
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _format_cells(recommendation: Recommendation, names: Sequence[str]) -> tuple[str, ...]:
    baselines = {comparison.name: format_difference(comparison) for comparison in recommendation.comparisons}
    return (
        escape(recommendation.study),
        escape(recommendation.policy),
        escape(name_problem(recommendation)),
        format_count(recommendation.horizon),
        format_arms(recommendation),
        escape(format_verdict(recommendation)),
        escape(format_params(recommendation.params)),
        f"{format_interval(recommendation.regret, name='')}{recommendation.regret_unit}",
        format_failures(recommendation.failures),
        *(baselines.get(name, "–") for name in names),
    )


def name_problem(recommendation: Recommendation) -> str:
    """Return the name of the scenario, trace or log; costs and an unusual scale of the rewards are mentioned."""
    costs = "costs" if describe_deployment(recommendation).feedback == "costs" else ""
    details = ", ".join(filter(None, [costs, format_unit(recommendation)]))
    return f"{recommendation.scenario} ({details})" if details else recommendation.scenario


def format_arms(recommendation: Recommendation) -> str:
    """Format K, plus the number of arms that open later."""
    later = describe_deployment(recommendation).extra_arms
    return f"{recommendation.arms} + {later}" if later else str(recommendation.arms)


def escape(text: str) -> str:
    """Escape text, so that it contains no markup, no HTML, and starts no cell or row.

    >>> escape("a|b <i> *c*")
    'a\\\\|b &lt;i&gt; \\\\*c\\\\*'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]|~$@])", r"\\\1", text)
    return "".join(letter if letter.isprintable() else f"&#{ord(letter)};" for letter in text)
