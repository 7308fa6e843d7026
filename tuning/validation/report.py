"""The report of a study of one source of rewards: the verdict and the recommendation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import cast

from ravenlab.common.interval import TIE_MARGIN, Interval
from ravenlab.common.text import format_count, format_ends, format_interval, format_percent, plural
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.studies.results.grid import Grid
from ravenlab.studies.results.recommendation import (
    FIXED_ARM,
    LOGGING_POLICY,
    Alternative,
    Baseline,
    BaselineName,
    Estimate,
    Failures,
    KeptState,
    LogFacts,
    Recommendation,
    RewardStatistics,
    TraceFacts,
)
from ravenlab.studies.results.verdict import Decision, Excess, Verdict
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.bootstrap import MIN_EFFECTIVE_ROWS
from ravenlab.studies.statistics.files import FileEstimate
from ravenlab.studies.statistics.paired import StudentEstimate, simultaneous_levels
from ravenlab.studies.symbols import format_params
from ravenlab.tuning.validation.choice import find_changed, least_trials
from ravenlab.tuning.validation.held_out import MIN_WORLDS, ChosenParameters, HeldOutData, Selection

MAX_FACTOR = 100.0
"""Multiple of the data above which asking for more is no advice."""


@dataclass(frozen=True)
class BaselineDifference:
    """A baseline's regret, and its excess over the selected parameters' regret."""

    regret: float
    difference: Interval
    conclusive: bool | None = None
    """Whether a trace or log has enough independent rows or events; None in simulated worlds."""
    failure_rate: float | None = None
    """Share of the worlds in which the baseline fails; None on recorded data."""


@dataclass(frozen=True)
class Report:
    """The selected parameters and the baselines on the report data."""

    regret: Estimate
    differences: list[BaselineDifference]
    """In the order of the baselines; the defaults are the last one."""
    scale: RewardStatistics
    trace: TraceFacts | None = None
    log: LogFacts | None = None
    kept: KeptState | None = None
    alternatives: list[Alternative] = field(default_factory=list)
    """On recorded data: what may be used instead of the policy."""
    failures: Failures | None = None
    """None on recorded data."""
    attainable: float | None = None
    """Mean reward of the best arms over the horizon; None on recorded data."""
    sensitivity: Grid | None = None

    @property
    def recorded(self) -> bool:
        """Whether the data are a trace or log."""
        return self.trace is not None or self.log is not None

    @property
    def shortage(self) -> str | None:
        """Why recorded data are not sufficient, if they are not."""
        trace = self.trace
        if trace is not None and not trace.enough:
            count = max(1, round(trace.effective))
            more = MIN_EFFECTIVE_ROWS / max(trace.effective, 1.0)
            return (
                f"the autocorrelated rows of the report segment count as {plural(count, 'independent one')} and"
                f" {MIN_EFFECTIVE_ROWS} are needed, as in about {more:.2g} times as much data"
            )
        return None if self.log is None else self.log.inconclusive


@dataclass(frozen=True)
class Rival:
    """An alternative, and its regret minus that of the selected parameters."""

    name: str
    difference: StudentEstimate | FileEstimate
    decidable: bool
    params: Mapping[str, Value] = field(default_factory=dict)
    arm: str | None = None


def list_alternatives(rivals: Sequence[Rival]) -> list[Alternative]:
    """Return rivals with intervals that hold together.

    >>> rivals = [Rival("raven-auto", StudentEstimate(mean, 1.0, 50.0), decidable=True) for mean in (-9.0, 2.0)]
    >>> [alternative.wins for alternative in list_alternatives(rivals)]
    [True, False]
    """
    levels = simultaneous_levels([rival.difference.p_value for rival in rivals])
    return [
        Alternative(
            name=rival.name,
            params=dict(rival.params),
            arm=rival.arm,
            **rival.difference.interval(level).as_object("difference"),
            decidable=rival.decidable,
        )
        for rival, level in zip(rivals, levels, strict=True)
    ]


def make_recommendation(data: HeldOutData[Recommendation], selection: Selection, report: Report) -> Recommendation:
    """Return the recommendation of a study."""
    defaults = selection.baselines["defaults"].values
    versus = [
        Baseline(
            name=cast(BaselineName, name),
            params=baseline.shown,
            regret=measured.regret,
            **measured.difference.as_object("difference"),
            decidable=measured.conclusive,
            failure_rate=measured.failure_rate,
        )
        for (name, baseline), measured in zip(selection.baselines.items(), report.differences, strict=True)
    ]
    return Recommendation(
        **data.shared_fields(selection),
        scenario=selection.spec.scenario,
        objective=selection.spec.objective,
        verdict=judge(selection.spec, selection.choice, defaults, selection.complete, report),
        versus=versus,
        **{name: value for name, value in vars(report).items() if name != "differences"},
    )


def judge(spec: StudySpec, choice: ChosenParameters, defaults: Values, trials: int, report: Report) -> Verdict:
    """Decide between the defaults and the chosen parameters and, on recorded data, what was done without them."""
    behind = report.differences[-1]
    verdict = decide(
        spec,
        choice,
        defaults,
        trials,
        better=behind.difference.low > 0.0,
        recorded=report.recorded,
        shortage=report.shortage,
        beaten=behind.difference.high < 0.0 and behind.conclusive is not False,
    )
    better = min(
        (alternative for alternative in report.alternatives if alternative.wins),
        key=lambda alternative: alternative.difference,
        default=None,
    )
    if better is not None:
        return _prefer(verdict, better)
    logging = next((each for each in report.alternatives if each.name == LOGGING_POLICY), None)
    if logging is None or not logging.decidable or logging.low > 0.0 or verdict.decision == "inconclusive":
        return verdict
    gain = format_interval(logging.interval, "simultaneous 95 % CI")
    reason = f"the gain over the logging policy is not significant: {gain} per step"
    return verdict.model_copy(update={"decision": "inconclusive", "reason": reason})


def _prefer(verdict: Verdict, better: Alternative) -> Verdict:
    """Return the verdict if an alternative is better."""
    update: dict[str, str | None] = {"reason": None}
    if better.name == FIXED_ARM:
        update |= {"decision": "use one arm", "arm": better.arm}
    elif better.name == LOGGING_POLICY:
        update["decision"] = "keep the logging policy"
    else:
        update |= {"decision": "use another policy", "policy": better.name}
    return verdict.model_copy(update=update)


def _describe_needed(excess: Excess, recorded: bool) -> str:
    """Describe how much data would decide on which side of the margin an excess is, after a comma.

    >>> _describe_needed(Excess(0.06, 0.01, 0.11, worlds=1000, tied=False, worse=False), recorded=False)
    ', which about 1,600 worlds would decide if the estimate stays'
    """
    bound = excess.low if excess.mean > TIE_MARGIN else excess.high
    distance = excess.mean - TIE_MARGIN
    factor = ((excess.mean - bound) / distance) ** 2 if distance else inf
    if factor > MAX_FACTOR:
        return ", too close to the limit to be decided"
    worlds = format_count(int(float(f"{factor * excess.worlds:.2g}")))
    needed = f"{factor:.2g} times as much data" if recorded else f"{worlds} worlds"
    return f", which about {needed} would decide if the estimate stays"


def decide(
    spec: StudySpec,
    choice: ChosenParameters,
    defaults: Values,
    trials: int,
    better: bool,
    recorded: bool = False,
    shortage: str | None = None,
    beaten: bool = False,
) -> Verdict:
    """Return the verdict.

    Args:
        trials: Number of complete trials.
        better: Whether the chosen parameters are significantly better than the defaults on the report data.
        recorded: Whether the data are a trace or log, which may be too short to bound the excess.
        shortage: Why recorded data are not sufficient, if they are not.
        beaten: Whether the defaults are significantly better than the chosen parameters on the report data.
    """
    named = "the defaults"
    if spec.reward_factor() != 1.0:
        named = f"the scaled defaults ({format_params({name: defaults[name] for name in spec.space})})"
    report = f"the report {'segment' if recorded else 'worlds'}"
    changed = find_changed(spec, choice.values, defaults)
    excess = choice.excess_of_defaults
    worse = better if recorded else excess is not None and excess.worse
    reason = shortage
    if reason is None and excess is None and spec.space:
        reason = (
            f"{format_count(spec.selection)} selection worlds are too few to compare candidates with {named};"
            f" at least {format_count(MIN_WORLDS)} are needed"
        )
    if reason is None and trials < least_trials(spec) and not (changed and worse):
        reason = (
            f"{plural(trials, 'complete trial')} are too few to find out whether other parameters are better than"
            f" {named}; at least {format_count(least_trials(spec))} are needed"
        )
    if reason is None and excess is not None and not (worse or recorded if changed else excess.tied):
        data = "the selection segment does" if recorded else f"{format_count(excess.worlds)} worlds do"
        reason = (
            f"{data} not decide whether {named} are within {format_percent(TIE_MARGIN)} of the best: their excess is"
            f" {format_ends(excess, format_percent)}{_describe_needed(excess, recorded)}"
        )
    if reason is None and changed and beaten:
        reason = f"tuning did not help: {named} have less regret on {report}"
    if reason is None and changed and not better:
        reason = f"the difference from {named} on {report} is not significant"
    decision: Decision = "use these values"
    if reason is not None:
        decision = "inconclusive"
    elif not changed:
        decision = "keep the defaults"
    elif len(changed) == 1 < len(spec.space):
        decision = "set one parameter"
    return Verdict(decision=decision, set=changed, defaults=excess, excess=choice.excess, reason=reason)
