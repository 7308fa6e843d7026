"""What a trace is, for the section of a study that was tuned on one."""

from __future__ import annotations

from dashboards.report.definitions import Definition
from environments.text import format_interval, format_number
from studies.describe import format_segment
from studies.recommendation import Recommendation, TraceFacts


def define_trace(each: Recommendation, facts: TraceFacts) -> Definition:
    """Rows, arms, stretches and how regret was measured."""
    missing = sum(facts.arms.values())
    cells = facts.rows * len(facts.arms)
    fixed = facts.regret_fixed
    how = "" if facts.enough else " That is too few for the interval of the regret to be believed (15 are needed)."
    return Definition(
        meaning=f"a recorded trace, {facts.file}: one row a step, one column an arm",
        plain=[
            "Every cell is known, so the regret of any policy on it is exact;"
            " what is not known is how much the future will be like it."
        ],
        formulas=[
            "Regret at a row is the best open arm's centred mean over 25 rows, less that of the arm that was pulled."
            " An arm is closed where its cell is missing.",
            f"Windows of {each.horizon} rows from random offsets are the replications. The search used"
            f" {format_segment(facts, 'search')}, the choice among its best {format_segment(facts, 'selection')}; the"
            f" regrets on this page come from {format_segment(facts, 'report')}, which nothing had seen.",
            f"Intervals are from a moving-block bootstrap of those rows (blocks of {facts.block}); the rows are worth"
            f" {format_number(round(facts.effective))} independent ones.{how}",
            "Against the best fixed arm of each window the regret is"
            f" {format_interval(fixed.mean, fixed.low, fixed.high, level=None)}; where that arm is closed the mean of"
            " the open ones stands in. Mean"
            f" {'cost' if facts.minimize else 'reward'} a step: {format_number(facts.per_step)}.",
        ],
        parameters=[
            ("rows", str(facts.rows)),
            ("arms", str(len(facts.arms))),
            ("window", str(each.horizon)),
            ("missing cells", f"{missing} ({format_number(100 * missing / cells)} %)" if missing else "none"),
            *([("empty rows", str(facts.empty_rows))] if facts.empty_rows else []),
            ("cells are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )
