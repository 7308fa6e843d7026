"""What a recommendation that was tuned on a trace says of the trace, in sentences."""

from __future__ import annotations

from studies.recommendation import ENOUGH_ROWS, Recommendation, TraceFacts
from studies.words import short

NOT_DECIDABLE = "not decidable on these data"


def rows_in_words(facts: TraceFacts, stretch: str) -> str:
    """A stretch as its rows.

    >>> from studies.recommendation import Estimate
    >>> facts = TraceFacts(
    ...     file="a.csv", digest="", rows=400, empty_rows=0, arms={"a": 0, "b": 0}, minimize=False,
    ...     stretches={"report": (281, 400)}, block=9, effective=30.5, enough=True, per_step=0.4, scale=1.0,
    ...     regret_fixed=Estimate(mean=1.0, low=0.5, high=1.5, replications=10),
    ... )
    >>> rows_in_words(facts, "report")
    'rows 281 to 400'
    """
    first, last = facts.stretches[stretch]
    return f"rows {first} to {last}"


def regret_in_words(each: Recommendation, facts: TraceFacts) -> list[str]:
    """How the chosen parameters did on time that nobody had seen, and what that is worth."""
    regret, fixed = each.regret, facts.regret_fixed
    lines = [
        f"Mean regret {short(regret.mean)} a window of {each.horizon} steps (95 %: {short(regret.low)} to"
        f" {short(regret.high)}), in {regret.replications} windows of {rows_in_words(facts, 'report')}, which neither"
        f" searched nor chose; the search saw {short(each.search_estimate)}.",
        f"Against the best fixed arm of each window: {short(fixed.mean)} (95 %: {short(fixed.low)} to"
        f" {short(fixed.high)}). Mean {'cost' if facts.minimize else 'reward'} a step {short(facts.per_step)}.",
    ]
    worth = f"Those rows overlap and remember: they are worth {short(round(facts.effective))} independent ones"
    needed = f"; at least {ENOUGH_ROWS} are needed for that interval to be believed"
    lines.append(f"{worth}{'' if facts.enough else needed}.")
    return lines


def trace_in_words(each: Recommendation, facts: TraceFacts) -> list[str]:
    """Rows, arms, what is missing, and how the rows were used."""
    missing = sum(facts.arms.values())
    lacking = sum(count > 0 for count in facts.arms.values())
    arms = "one arm" if lacking == 1 else f"{lacking} arms"
    holes = f"{missing} cells of {arms} are missing, where the arm is closed" if missing else "no cell is missing"
    empty = f"; {facts.empty_rows} rows without any value were left out" if facts.empty_rows else ""
    lines = [
        f"{facts.file}: {facts.rows} rows, {len(facts.arms)} arms; {holes}{empty}.",
        f"Searched on {rows_in_words(facts, 'search')}, chosen on {rows_in_words(facts, 'selection')}, reported on"
        f" {rows_in_words(facts, 'report')}; windows of {each.horizon} rows.",
        f"Ranges and defaults that follow the size of rewards are those for rewards {short(facts.scale)} times as large"
        " as a simulated world's.",
    ]
    if facts.minimize:
        lines.append("Cells are costs: give the policy their negatives as rewards.")
    return lines
