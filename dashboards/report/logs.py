"""What a log is, for the section of a study that was tuned on one."""

from __future__ import annotations

from dashboards.report.definitions import Definition
from environments.text import format_count, format_number
from studies.describe import SAMPLE_SIZE_RULE, describe_needed_events, format_estimate, format_segment, warn_few_events
from studies.recommendation import ENOUGH_EVENTS, LogFacts


def define_log(facts: LogFacts) -> Definition:
    """Events, arms, stretches, how scores were measured, and what is not known."""
    unit = "cost" if facts.minimize else "reward"
    weights = (
        f" Matched events are weighted by the inverse of their propensity, at most {format_number(facts.clip)}"
        f" ({facts.clipped:,} reported events are clipped); effective sample size"
        f" {format_count(round(facts.effective))}."
        if facts.propensities
        else ""
    )
    return Definition(
        meaning=f"a log, {facts.file}: one row per event, with the pulled arm and its reward",
        plain=[
            "Only the reward of the pulled arm is known, so policies are replayed: the policy sees an event, and the"
            " event counts, only if the policy chooses the logged arm.",
            *([] if facts.enough else [warn_few_events(facts)]),
        ],
        formulas=[
            f"{facts.matched:,} of the reported events match. Replay score, the mean {unit} of matched events over"
            f" resampled orders of the log: {format_estimate(facts.score)}; mean {unit} of the logging policy:"
            f" {format_estimate(facts.logged)}.{weights}",
            "Regret in this report is the mean of the logging policy minus the replay score, per event. It is negative"
            " where the policy is better than the logging policy.",
            f"The search used {format_segment(facts, 'search')}, the selection"
            f" {format_segment(facts, 'selection')}; reported values are from {format_segment(facts, 'report')},"
            " which were not used before.",
            f"Intervals are from replays of resampled logs (local block bootstrap, blocks of {facts.block}), each in"
            f" several orders; below {ENOUGH_EVENTS} effective events results are inconclusive. The sample"
            f" size needed is {SAMPLE_SIZE_RULE}.",
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
