"""What a log is, for the section of a study that was tuned on one."""

from __future__ import annotations

from dashboards.report.definitions import Definition
from studies.log_words import RULE, events_in_words, needed_in_words, warning
from studies.recommendation import ENOUGH_EVENTS, LogFacts
from studies.words import short


def define_log(facts: LogFacts) -> Definition:
    """Events, arms, stretches, how scores were measured, and what is not known."""
    unit = "cost" if facts.minimize else "reward"
    score, logged = facts.score, facts.logged
    weights = (
        f" Matched events are weighted by the inverse of their propensity, at most {short(facts.clip)}"
        f" ({facts.clipped} reported events are clipped); their weights are worth"
        f" {short(round(facts.effective))} equal ones."
        if facts.propensities
        else ""
    )
    return Definition(
        meaning=f"a log, {facts.file}: one row an event, with the arm that was pulled and what it paid",
        plain=[
            "Only the pulled arm's reward is known, so policies are replayed: an event counts, and is learned from,"
            " only when the policy picks the arm that was logged.",
            *([] if facts.enough else [warning(facts)]),
        ],
        formulas=[
            f"{facts.matched} of the reported events match. Replay score, the mean {unit} of such events over orders of"
            f" the log: {short(score.mean)} ({short(score.low)} to {short(score.high)}); the logging policy's own mean"
            f" {unit}: {short(logged.mean)} ({short(logged.low)} to {short(logged.high)}).{weights}",
            "Regret on this page is the logging policy's mean less the score, an event: below 0 where the policy does"
            " better than the one that made the log.",
            f"The search used {events_in_words(facts, 'search')}, the choice among its best"
            f" {events_in_words(facts, 'selection')}; what is reported comes from {events_in_words(facts, 'report')},"
            " which nothing had seen.",
            f"Intervals are from replays of resampled logs (local block bootstrap, blocks of {facts.block}), each in"
            f" several orders; below {ENOUGH_EVENTS} effective events nothing is concluded, and what would be needed is"
            f" {RULE}.",
            *needed_in_words(facts, rule=""),
        ],
        parameters=[
            ("events", str(facts.events)),
            ("arms", str(len(facts.arms))),
            ("propensities", "known" if facts.propensities else "not known"),
            ("matched events", str(facts.matched)),
            ("effective", short(round(facts.effective))),
            ("rewards are", "costs" if facts.minimize else "rewards"),
            ("scale", short(facts.scale)),
        ],
        category="",
    )
