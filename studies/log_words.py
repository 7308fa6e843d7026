"""What a recommendation that was tuned on a log says of the log, in sentences."""

from __future__ import annotations

from studies.recommendation import ENOUGH_EVENTS, Estimate, LogFacts, Needed, Recommendation
from studies.words import about, short

RULE = "n·(half-width / difference)², as errors shrink with the root of n"


def events_in_words(facts: LogFacts, stretch: str) -> str:
    """A stretch as its events."""
    first, last = facts.stretches[stretch]
    return f"events {first} to {last}"


def score_in_words(each: Recommendation, facts: LogFacts) -> list[str]:
    """How the chosen parameters did on events that nobody had seen, and what that is worth."""
    first, last = facts.stretches["report"]
    among = f"{facts.matched} of {last - first + 1}"
    unit = "cost" if facts.minimize else "reward"
    weighted = ", weighted by inverse propensities" if facts.propensities else ""
    worth = f", worth {short(round(facts.effective))} of equal weight" if facts.propensities else ""
    lines = [
        f"Replay score {_spelled(facts.score)}, the mean {unit} over the log's orders; {among} events match"
        f"{weighted}{worth}, among {events_in_words(facts, 'report')}, which neither searched nor chose.",
        f"The logging policy's own mean {unit} there: {_spelled(facts.logged)}; {_against_the_logging(each, facts)}.",
    ]
    if not facts.enough:
        lines.insert(0, warning(facts))
    lines += needed_in_words(facts)
    return lines


def warning(facts: LogFacts) -> str:
    """That too few events match to conclude anything."""
    times = ENOUGH_EVENTS / max(1.0, facts.effective)
    return (
        f"Too few events match to conclude anything: {facts.matched}, worth {short(round(facts.effective))}, where"
        f" {ENOUGH_EVENTS} are needed; a log of about {about(times * facts.events)} events would have them."
    )


def needed_in_words(facts: LogFacts, rule: str = f" ({RULE})") -> list[str]:
    """How long a log would have to be to settle what this one does not."""
    lines = []
    for what, needed in (("the defaults", facts.versus_defaults), ("the logging policy", facts.versus_logged)):
        if needed is not None:
            lines.append(f"To tell it from {what}: {_amount(needed)}{rule}.")
    return lines


def log_in_words(facts: LogFacts) -> list[str]:
    """Events, arms, and how the events were used."""
    rare = min(facts.arms, key=lambda name: facts.arms[name])
    known = "with propensities" if facts.propensities else "no propensities"
    clipped = f"; {facts.clipped} reported weights were clipped at {short(facts.clip)}" if facts.clipped else ""
    lines = [
        f"{facts.file}: {facts.events} events, {len(facts.arms)} arms, {known}{clipped}; the rarest arm, {rare!r}, has"
        f" {facts.arms[rare]} events.",
        f"Searched on {events_in_words(facts, 'search')}, chosen on {events_in_words(facts, 'selection')}, reported on"
        f" {events_in_words(facts, 'report')}; resampled in blocks of {facts.block}.",
        f"Ranges and defaults that follow the size of rewards are those for rewards {short(facts.scale)} times as large"
        " as a simulated world's.",
    ]
    if facts.minimize:
        lines.append("Rewards of the log are costs: give the policy their negatives.")
    return lines


def _against_the_logging(each: Recommendation, facts: LogFacts) -> str:
    """What the policy gains or loses against the one that made the log."""
    lost = each.regret
    told = facts.enough and not lost.low <= 0.0 <= lost.high
    verdict = "" if told else ", not decidable on this log"
    better = "better" if lost.mean < 0.0 else "worse"
    ends = sorted((abs(lost.low), abs(lost.high))) if told else (-lost.high, -lost.low)
    what = "95 %" if told else "95 % of what is gained"
    return f"the policy does {short(abs(lost.mean))} {better} ({what}: {short(ends[0])} to {short(ends[1])}{verdict})"


def _amount(needed: Needed) -> str:
    if needed.matched is None or needed.events is None:
        return "no log is long enough, as no difference shows"
    return f"about {about(needed.matched)} matched events, a log of about {about(needed.events)}"


def _spelled(found: Estimate) -> str:
    return f"{short(found.mean)} (95 %: {short(found.low)} to {short(found.high)})"
