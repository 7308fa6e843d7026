"""What a trace is, for the section of a study that was tuned on one."""

from __future__ import annotations

from dashboards.report.definitions import Definition
from environments.text import format_count, format_number
from studies.describe import format_estimate, format_segment
from studies.recommendation import ENOUGH_ROWS, Recommendation, TraceFacts


def define_trace(each: Recommendation, facts: TraceFacts) -> Definition:
    """Rows, arms, stretches and how regret was measured."""
    missing = sum(facts.arms.values())
    cells = facts.rows * len(facts.arms)
    unit = "cost" if facts.minimize else "reward"
    warning = "" if facts.enough else f" That is too small for a reliable interval ({ENOUGH_ROWS} are needed)."
    return Definition(
        meaning=f"a recorded trace, {facts.file}: one row per step, one column per arm",
        plain=[
            "All rewards are known, so the regret of any policy is exact."
            " How well the trace represents the future is unknown."
        ],
        formulas=[
            "Regret at a row is the centred mean over 25 rows of the best available arm minus that of the pulled arm."
            " An arm is unavailable where its cell is missing.",
            f"Replications are windows of {each.horizon:,} rows from random offsets. The search used"
            f" {format_segment(facts, 'search')}, the selection {format_segment(facts, 'selection')}; reported regrets"
            f" are from {format_segment(facts, 'report')}, which were not used before.",
            f"Intervals are from a moving-block bootstrap of these rows (blocks of {facts.block}); effective sample"
            f" size {format_number(round(facts.effective))}.{warning}",
            f"Regret against the best fixed arm of each window: {format_estimate(facts.regret_fixed)}; where that arm"
            f" is unavailable, the mean of the available arms is used. Mean {unit} per step:"
            f" {format_number(facts.per_step)}.",
        ],
        parameters=[
            ("rows", format_count(facts.rows)),
            ("arms", str(len(facts.arms))),
            ("window", format_count(each.horizon)),
            ("missing cells", f"{missing:,} ({format_number(100 * missing / cells)} %)" if missing else "none"),
            *([("empty rows", str(facts.empty_rows))] if facts.empty_rows else []),
            ("cells are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )
