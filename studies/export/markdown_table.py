"""Markdown: a table for a README or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from environments.text import format_count, format_interval, format_number, format_signed
from studies.export.deployment import describe_deployment
from studies.results.describe import format_failures
from studies.results.recommendation import Baseline, Recommendation
from studies.results.robust import RobustRecommendation, flatten_recommendations
from studies.symbols import format_params

COLUMNS = (
    "Study",
    "Policy",
    "Scenario",
    "T",
    "K",
    "Parameters",
    "Regret (95 %)",
    "Failures",
    "Paper's advice",
    "Defaults",
)
ALIGNMENT = ("---", "---", "---", "---:", "---:", "---", "---:", "---:", "---:", "---:")


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """Write a table with one row per recommendation; the last two columns are the excess regret of the baselines."""
    rows = [_format_cells(recommendation) for recommendation in flatten_recommendations(recommendations)]
    return format_rows([COLUMNS, ALIGNMENT, *rows]) + "\n"


def format_rows(rows: Iterable[Sequence[str]]) -> str:
    """Join cells to the lines of a table.

    >>> format_rows([("Policy", "T"), ("---", "---:"), ("ucb1", "100")])
    '| Policy | T |\\n| --- | ---: |\\n| ucb1 | 100 |'
    """
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _format_cells(recommendation: Recommendation) -> tuple[str, ...]:
    baselines = {baseline.name: _format_baseline(baseline) for baseline in recommendation.versus}
    regret = recommendation.regret
    return (
        escape(recommendation.study),
        escape(recommendation.policy),
        escape(name_problem(recommendation)),
        format_count(recommendation.horizon),
        format_arms(recommendation),
        escape(format_params(recommendation.params)),
        format_interval(regret.mean, regret.low, regret.high, level=None),
        format_failures(recommendation.failures),
        baselines.get("paper", "–"),
        baselines.get("defaults", "–"),
    )


def name_problem(recommendation: Recommendation) -> str:
    """Return the name of the scenario, trace or log; costs are mentioned."""
    costs = describe_deployment(recommendation).feedback == "costs"
    return f"{recommendation.scenario}{' (costs)' if costs else ''}"


def format_arms(recommendation: Recommendation) -> str:
    """Format K, plus the number of arms that open later."""
    later = describe_deployment(recommendation).extra_arms
    return f"{recommendation.arms} + {later}" if later else str(recommendation.arms)


def _format_baseline(baseline: Baseline) -> str:
    inconclusive = baseline.decidable is not None and not baseline.significant and not baseline.same
    low, high = format_number(baseline.low), format_number(baseline.high)
    return f"{format_signed(baseline.difference)} ({low} to {high}){', inconclusive' if inconclusive else ''}"


def escape(text: str) -> str:
    """Escape text, so that it contains no markup, no HTML, and starts no cell or row.

    >>> escape("a|b <i> *c*")
    'a\\\\|b &lt;i&gt; \\\\*c\\\\*'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]|~$@])", r"\\\1", text)
    return "".join(letter if letter.isprintable() else f"&#{ord(letter)};" for letter in text)
