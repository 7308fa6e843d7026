"""What a log is, for the section of a study that was tuned on one."""

from __future__ import annotations

from dashboards.report.definitions import Definition
from environments.text import format_interval, format_number
from studies.describe import SAMPLE_SIZE_RULE, describe_needed_events, format_segment, warn_few_events
from studies.recommendation import ENOUGH_EVENTS, LogFacts


def define_log(facts: LogFacts) -> Definition:
    """Events, arms, stretches, how scores were measured, and what is not known."""
    unit = "cost" if facts.minimize else "reward"
    score, logged = facts.score, facts.logged
    weights = (
        f" Matched events are weighted by the inverse of their propensity, at most {format_number(facts.clip)}"
        f" ({facts.clipped} reported events are clipped); their weights are worth"
        f" {format_number(round(facts.effective))} equal ones."
        if facts.propensities
        else ""
    )
    return Definition(
        meaning=f"a log, {facts.file}: one row an event, with the arm that was pulled and what it paid",
        plain=[
            "Only the pulled arm's reward is known, so policies are replayed: an event counts, and is learned from,"
            " only when the policy picks the arm that was logged.",
            *([] if facts.enough else [warn_few_events(facts)]),
        ],
        formulas=[
            f"{facts.matched} of the reported events match. Replay score, the mean {unit} of such events over orders of"
            f" the log: {format_interval(score.mean, score.low, score.high, level=None)}; the logging policy's own mean"
            f" {unit}: {format_interval(logged.mean, logged.low, logged.high, level=None)}.{weights}",
            "Regret on this page is the logging policy's mean less the score, an event: below 0 where the policy does"
            " better than the one that made the log.",
            f"The search used {format_segment(facts, 'search')}, the choice among its best"
            f" {format_segment(facts, 'selection')}; what is reported comes from {format_segment(facts, 'report')},"
            " which nothing had seen.",
            f"Intervals are from replays of resampled logs (local block bootstrap, blocks of {facts.block}), each in"
            f" several orders; below {ENOUGH_EVENTS} effective events nothing is concluded, and what would be needed is"
            f" {SAMPLE_SIZE_RULE}.",
            *describe_needed_events(facts, rule=""),
        ],
        parameters=[
            ("events", str(facts.events)),
            ("arms", str(len(facts.arms))),
            ("propensities", "known" if facts.propensities else "not known"),
            ("matched events", str(facts.matched)),
            ("effective", format_number(round(facts.effective))),
            ("rewards are", "costs" if facts.minimize else "rewards"),
            ("scale", format_number(facts.scale)),
        ],
        category="",
    )
