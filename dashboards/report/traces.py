"""What a trace is, for the section of a study that was tuned on one."""

from __future__ import annotations

from dashboards.report.definitions import Definition
from studies.recommendation import Recommendation, TraceFacts
from studies.trace_words import rows_in_words
from studies.words import short


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
            f" {rows_in_words(facts, 'search')}, the choice among its best {rows_in_words(facts, 'selection')}; the"
            f" regrets on this page come from {rows_in_words(facts, 'report')}, which nothing had seen.",
            f"Intervals are from a moving-block bootstrap of those rows (blocks of {facts.block}); the rows are worth"
            f" {short(round(facts.effective))} independent ones.{how}",
            f"Against the best fixed arm of each window the regret is {short(fixed.mean)} ({short(fixed.low)} to"
            f" {short(fixed.high)}); where that arm is closed the mean of the open ones stands in. Mean"
            f" {'cost' if facts.minimize else 'reward'} a step: {short(facts.per_step)}.",
        ],
        parameters=[
            ("rows", str(facts.rows)),
            ("arms", str(len(facts.arms))),
            ("window", str(each.horizon)),
            ("missing cells", f"{missing} ({short(100 * missing / cells)} %)" if missing else "none"),
            *([("empty rows", str(facts.empty_rows))] if facts.empty_rows else []),
            ("cells are", "costs" if facts.minimize else "rewards"),
            ("scale", short(facts.scale)),
        ],
        category="",
    )
