"""Descriptions of recommendations on traces and logs, and of the scale of the rewards."""

from ravenlab.common.text import (
    capitalize_first,
    format_count,
    format_interval,
    format_number,
    join_words,
    plural,
)
from ravenlab.studies.results.baselines import describe_baseline
from ravenlab.studies.results.naming import (
    name_defaults,
)
from ravenlab.studies.results.recommendation import (
    LogFacts,
    Recommendation,
    RequiredSample,
    TraceFacts,
)
from ravenlab.studies.results.robust import RobustRecommendation
from ravenlab.studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS

USUAL = "the scenario at its default settings"

MAX_LOG_RATIO = 100
"""Size of a log, relative to the present one, above which collecting it is no advice."""


SAMPLE_SIZE_RULE = "n·(half-width / difference)², because standard errors shrink with √n"


def format_segment(facts: TraceFacts | LogFacts, name: str) -> str:
    """Format the rows or events of one segment: search, selection or report."""
    first, last = facts.segments[name]
    unit = "rows" if isinstance(facts, TraceFacts) else "events"
    return f"{unit} {format_count(first)} to {format_count(last)}"


def warn_inconclusive(facts: LogFacts) -> list[str]:
    """Warn that the log does not support a conclusion, with what would be needed."""
    return [] if facts.inconclusive is None else [f"Inconclusive: {facts.inconclusive}."]


def describe_needed_events(
    recommendation: Recommendation, facts: LogFacts, rule: str = f" ({SAMPLE_SIZE_RULE})"
) -> list[str]:
    """Describe the size of a log that would make each inconclusive difference significant."""
    defaults = f"the {name_defaults(recommendation)}"
    baselines = {defaults: facts.versus_defaults, "the logging policy": facts.versus_logged}
    return [
        f"Sample size needed for a significant difference from {name}: {_format_needed(needed, facts.events)}{rule}."
        for name, needed in baselines.items()
        if needed is not None
    ]


def describe_trace_regret(recommendation: Recommendation, facts: TraceFacts) -> list[str]:
    unit = "cost" if facts.minimize else "reward"
    regret = recommendation.regret
    needed = f"; at least {MIN_EFFECTIVE_ROWS} are needed for a reliable interval"
    return [
        f"Mean regret {format_interval(regret)}{recommendation.regret_unit}, on"
        f" {format_count(regret.replications)} windows of {format_segment(facts, 'report')}, which were not used"
        f" for search or selection; the search estimate was {format_number(recommendation.search_estimate)}.",
        *map(describe_baseline, recommendation.alternative_comparisons),
        f"Regret against the best fixed arm of each window, in hindsight: {format_interval(facts.regret_fixed)}."
        f" Mean {unit} per step: {format_number(facts.per_step)}.",
        f"Rows overlap and are autocorrelated; effective sample size {format_count(round(facts.effective))}"
        f"{'' if facts.enough else needed}.",
    ]


def describe_trace(recommendation: Recommendation, facts: TraceFacts) -> list[str]:
    missing = sum(facts.arms.values())
    incomplete = sum(count > 0 for count in facts.arms.values())
    gaps = "no missing cells"
    if missing:
        gaps = f"{plural(missing, 'missing cell')} in {plural(incomplete, 'arm')}, where the arm is unavailable"
    empty = f"; {plural(facts.empty_rows, 'empty row')} dropped" if facts.empty_rows else ""
    return [
        f"{facts.file}: {format_count(facts.rows)} rows, {plural(len(facts.arms), 'arm')}; {gaps}{empty}.",
        f"{_describe_segments(facts)}; windows of {format_count(recommendation.horizon)} rows.",
        *describe_unit(recommendation),
        *(["Cells are costs; a policy loaded from the export takes costs."] if facts.minimize else []),
    ]


def describe_log_score(recommendation: Recommendation, facts: LogFacts) -> list[str]:
    unit = "cost" if facts.minimize else "reward"
    first, last = facts.segments["report"]
    return [
        *warn_inconclusive(facts),
        f"Replay score {format_interval(facts.score)}, the mean {unit} per step if deployed for"
        f" {format_count(last - first + 1)} steps, estimated from {format_segment(facts, 'report')}, which were not"
        f" used for search or selection ({format_count(round(facts.effective))} effective events).",
        f"Estimator: {facts.estimator}.",
        f"Mean {unit} of the logging policy there: {format_interval(facts.logged)}.",
        *map(describe_baseline, recommendation.alternative_comparisons),
        *describe_needed_events(recommendation, facts),
    ]


def describe_log(recommendation: Recommendation, facts: LogFacts) -> list[str]:
    rarest = min(facts.arms, key=lambda name: facts.arms[name])
    blocks = f"; bootstrap blocks of {format_count(facts.block)} events" if facts.block > 1 else ""
    return [
        f"{facts.file}: {plural(facts.events, 'event')}, {plural(len(facts.arms), 'arm')}; the rarest arm, {rarest!r},"
        f" has {plural(facts.arms[rarest], 'event')}.",
        f"{_describe_segments(facts)}{blocks}.",
        *describe_unit(recommendation),
        *(["Rewards in the log are costs; a policy loaded from the export takes costs."] if facts.minimize else []),
    ]


def _describe_segments(facts: TraceFacts | LogFacts) -> str:
    uses = [f"{name} on {format_segment(facts, name)}" for name in ("search", "selection", "report")]
    return capitalize_first(join_words(uses, "and"))


def describe_unit(result: Recommendation | RobustRecommendation) -> list[str]:
    """Describe the scale of the rewards; an empty list if it is the usual one."""
    if result.unit == 1.0:
        return []
    return [describe_scale(result.unit) if result.recorded is not None else describe_scale(result.unit, USUAL)]


def describe_scale(
    scale: float, reference: str = "simulated worlds", scaled: str = "ranges, defaults and the paper's advice"
) -> str:
    """Describe the scale of the rewards relative to that of other worlds, and what follows it, in one sentence."""
    relative = f"{format_number(scale)} times that of {reference}"
    return f"The scale of the rewards is {relative}; {scaled} are scaled accordingly."


def _format_needed(needed: RequiredSample, events: int) -> str:
    if needed.effective is None or needed.events is None:
        return "no log is large enough, because the estimated difference is zero"
    if needed.events > MAX_LOG_RATIO * events:
        return f"more than {MAX_LOG_RATIO} logs of this size; the difference is too small to matter or to be measured"
    effective, total = (format_count(int(float(f"{count:.2g}"))) for count in (needed.effective, needed.events))
    return f"about {effective} effective events, that is a log of about {total} events"
