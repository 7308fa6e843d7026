"""What recommendations from traces and logs add: regret or score on held-out rows, the file, and the data needed."""

from ravenlab.common.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    join_words,
    plural,
)
from ravenlab.studies.results.baselines import describe_baseline, name_defaults
from ravenlab.studies.results.recommendation import LogFacts, Recommendation, TraceFacts
from ravenlab.studies.results.verdict import INSTEAD
from ravenlab.studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS

MAX_LOG_RATIO = 100
"""Size of a log, relative to the present one, above which collecting it is no advice."""

SAMPLE_SIZE_RULE = "n·(half-width / difference)², because standard errors shrink with √n"


def name_tuned(recommendation: Recommendation) -> str:
    """Name what was measured if something else is recommended; the end is a space."""
    return "of the best parameters found " if recommendation.verdict.decision in INSTEAD else ""


def format_segment(facts: TraceFacts | LogFacts, name: str) -> str:
    """Format the rows or events of one segment: search, selection or report."""
    first, last = facts.segments[name]
    unit = "rows" if isinstance(facts, TraceFacts) else "events"
    if isinstance(facts, TraceFacts) and facts.files is not None:
        return plural(len(facts.files[name]), "file")
    return f"{unit} {format_count(first)} to {format_count(last)}"


def warn_inconclusive(facts: LogFacts) -> list[str]:
    """Warn that the log does not support a conclusion, with what would be needed."""
    return [] if facts.inconclusive is None else [f"Inconclusive: {facts.inconclusive}."]


def describe_needed_events(
    recommendation: Recommendation, facts: LogFacts, rule: str = f" ({SAMPLE_SIZE_RULE})"
) -> list[str]:
    """Describe the size of a log that would make each inconclusive difference significant."""
    compared = {
        f"the {name_defaults(recommendation.unit)}": facts.versus_defaults,
        "the logging policy": facts.versus_logged,
    }
    lines = []
    for name, needed in compared.items():
        if needed is None:
            continue
        if needed.effective is None or needed.events is None:
            size = "no log is large enough, because the estimated difference is zero"
        elif needed.events > MAX_LOG_RATIO * facts.events:
            size = (
                f"more than {MAX_LOG_RATIO} logs of this size; the difference is too small to matter or to be measured"
            )
        else:
            effective, total = (format_count(int(float(f"{count:.2g}"))) for count in (needed.effective, needed.events))
            size = f"about {effective} effective events, that is a log of about {total} events"
        lines.append(f"Sample size needed for a significant difference from {name}: {size}{rule}.")
    return lines


def describe_trace_regret(recommendation: Recommendation, facts: TraceFacts) -> list[str]:
    unit = "cost" if facts.minimize else "reward"
    regret = recommendation.regret
    needed = "" if facts.enough else f"; at least {MIN_EFFECTIVE_ROWS} are needed for a reliable interval"
    sample = (
        f"Rows overlap and are autocorrelated; effective sample size {format_count(round(facts.effective))}{needed}."
    )
    if facts.files is not None:
        sample = "Each file counts as one independent replication."
    return [
        f"Mean regret {name_tuned(recommendation)}{format_interval(regret)}{recommendation.regret_unit}, on"
        f" {format_count(regret.replications)} windows of {format_segment(facts, 'report')}, which were not used"
        f" for search or selection; the search estimate was {format_number(recommendation.search_estimate)}.",
        *map(describe_baseline, recommendation.alternative_comparisons),
        f"Regret against the best fixed arm of each window, in hindsight: {format_interval(facts.regret_fixed)}."
        f" Mean {unit} per step: {format_number(facts.per_step)}.",
        sample,
    ]


def describe_log_score(recommendation: Recommendation, facts: LogFacts) -> list[str]:
    unit = "cost" if facts.minimize else "reward"
    first, last = facts.segments["report"]
    return [
        *warn_inconclusive(facts),
        f"Replay score {name_tuned(recommendation)}{format_interval(facts.score)}, the mean {unit} per step"
        f" if deployed for {format_count(last - first + 1)} steps, estimated from {format_segment(facts, 'report')},"
        f" which were not used for search or selection ({format_count(round(facts.effective))} effective events).",
        f"Estimator: {facts.estimator}.",
        f"Mean {unit} of the logging policy there: {format_interval(facts.logged)}.",
        *map(describe_baseline, recommendation.alternative_comparisons),
        *describe_needed_events(recommendation, facts),
    ]


def describe_file(recommendation: Recommendation, facts: TraceFacts | LogFacts) -> list[str]:
    """Describe the rows or events of a file, and which of them were used for what."""
    uses = [f"{name} on {format_segment(facts, name)}" for name in ("search", "selection", "report")]
    segments = capitalize_first(join_words(uses, "and"))
    arms = plural(len(facts.arms), "arm")
    if isinstance(facts, LogFacts):
        rarest = min(facts.arms, key=lambda name: facts.arms[name])
        events = plural(facts.arms[rarest], "event")
        blocks = f"; bootstrap blocks of {format_count(facts.block)} events" if facts.block > 1 else ""
        return [
            f"{facts.file}: {plural(facts.events, 'event')}, {arms}; the rarest arm, {rarest!r}, has {events}.",
            f"{segments}{blocks}.",
            *_describe_notes(facts),
        ]
    missing = sum(facts.arms.values())
    gaps = "no missing cells"
    if missing:
        incomplete = sum(count > 0 for count in facts.arms.values())
        gaps = f"{plural(missing, 'missing cell')} in {plural(incomplete, 'arm')}, where the arm is unavailable"
    empty = f"; {plural(facts.empty_rows, 'empty row')} dropped" if facts.empty_rows and not facts.notes else ""
    return [
        f"{facts.file}: {format_count(facts.rows)} rows, {arms}; {gaps}{empty}.",
        f"{segments}; windows of {format_count(recommendation.horizon)} rows.",
        *_describe_notes(facts),
    ]


def _describe_notes(facts: TraceFacts | LogFacts) -> list[str]:
    """Describe what was recognized, sorted or dropped when the file was read."""
    return [f"{capitalize_first('; '.join(facts.notes))}."] if facts.notes else []
