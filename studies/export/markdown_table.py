"""Markdown: a table for a README or an issue."""

from __future__ import annotations

import re
from collections.abc import Sequence

from environments.text import format_interval, format_number
from studies.results.recommendation import Recommendation
from studies.results.robust import RobustRecommendation, flatten_recommendations
from studies.symbols import format_params

COLUMNS = ("Study", "Policy", "Scenario", "T", "K", "Parameters", "Regret (95 %)", "Paper's advice", "Defaults")


def write(recommendations: Sequence[Recommendation | RobustRecommendation]) -> str:
    """A table, one row a recommendation; the last two columns say what they would cost more."""
    lines: list[tuple[str, ...]] = [COLUMNS, ("---", "---", "---", "---:", "---:", "---", "---:", "---:", "---:")]
    lines += [_cells(each) for each in flatten_recommendations(recommendations)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _cells(each: Recommendation) -> tuple[str, ...]:
    rivals = {
        rival.name: f"{rival.difference:+.4g} ({format_number(rival.low)} to {format_number(rival.high)})"
        + (", not decidable" if rival.decidable is not None and not rival.significant and not rival.same else "")
        for rival in each.versus
    }
    regret = each.regret
    return (
        escape(each.study),
        escape(each.policy),
        escape(each.scenario),
        str(each.horizon),
        str(each.arms),
        escape(format_params(each.params)),
        f"{format_interval(regret.mean, regret.low, regret.high, level=None)}",
        rivals.get("paper", "–"),
        rivals.get("defaults", "–"),
    )


def escape(text: str) -> str:
    """Text that is shown as it is: no markup, no HTML, no new cell or row.

    >>> escape("a|b <i> *c*")
    'a\\\\|b &lt;i&gt; \\\\*c\\\\*'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]|~$@])", r"\\\1", text)
    return "".join(each if each.isprintable() else f"&#{ord(each)};" for each in text)
