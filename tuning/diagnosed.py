"""From a diagnosis to parameters: the kind, rate and noise that a trace or log shows, answered by the law.

If there are several kinds, the one with the largest expected regret determines the parameters.

On a trace the answer is checked by its regret on the report segment, relative to the defaults. The parameters were not
selected by their regret on these rows, so the check has no selection bias. The diagnosis itself uses all rows.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ravenlab.common.checks import parse_steps
from ravenlab.common.interval import Interval
from ravenlab.common.text import format_count, format_ends, format_number, format_percent, join_words
from ravenlab.dashboards.pages.diagnosis import NextStep
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.diagnosis.findings import NEVER
from ravenlab.studies.diagnosis.result import STATIONARY, Diagnosis
from ravenlab.studies.laws.axes import NoLawError
from ravenlab.studies.laws.recommendation import (
    RecommendationQuery,
    RecommendedParameters,
    describe_excess,
    recommend_parameters,
)
from ravenlab.studies.spec.parse import parse_study_spec
from ravenlab.studies.symbols import format_params
from ravenlab.tuning.validation.trace import TraceData
from ravenlab.tuning.workers.problem import Evaluator

WINDOWS = 200  # windows of the report segment
LONGEST = {"every": 0.5, "lasting": 0.25, "period": 1.0, "over": 1000.0}
"""Settings that are lengths of time, and their largest share of a horizon in the design of the laws."""


@dataclass(frozen=True)
class TraceCheck:
    """Regret of the law's parameters on windows of the last 30 % of the rows of a trace, and that of the defaults."""

    window: int
    params: dict[str, Value]
    regret: float
    defaults: float
    difference: Interval
    """Regret of the defaults minus that of the law's parameters."""
    enough: bool
    """Whether the trace has enough independent rows for a conclusion."""

    def as_object(self) -> dict[str, Any]:
        """Convert to plain JSON data."""
        fields = {name: getattr(self, name) for name in ("window", "params", "regret", "defaults")}
        return {**fields, "low": self.difference.low, "high": self.difference.high, "enough": self.enough}

    def describe(self) -> str:
        """Describe the check in one sentence."""
        text = (
            f"Check on windows of {format_count(self.window)} rows, each of which starts from nothing, in the last 30 %"
            f" of the trace, with the law's {format_params(self.params)} for them: regret {format_number(self.regret)},"
            f" with the defaults {format_number(self.defaults)} (95 % CI of the difference"
            f" {format_ends(self.difference)})"
        )
        return f"{text}." if self.enough else f"{text}; there are too few independent rows for a conclusion."


def recommend_for_diagnosis(
    diagnosis: Diagnosis, horizon: int | None = None, in_steps: bool = False
) -> RecommendedParameters:
    """Return the law's parameters for data like those of a diagnosis.

    If the data show several kinds of change, these are the parameters for the kind with the largest expected regret.

    Args:
        diagnosis: The diagnosis.
        horizon: Number of steps; by default the number of rows.
        in_steps: Whether periods keep their length in steps at another horizon, as far as the laws allow it, and not
            their share of it.

    Raises:
        NoLawError: No law holds for one of the kinds of change, or for the noise or the rates.

    >>> base = {"mean_low": 0.3, "mean_high": 0.8, "variance_low": 0.01, "variance_high": 0.09}
    >>> recommend_for_diagnosis(Diagnosis(("a", "b"), 1000, (), base=base)).scenario
    'stationary'
    """
    if not diagnosis.conclusive:
        raise NoLawError(diagnosis.reason)
    if diagnosis.mismatch:
        raise NoLawError(diagnosis.mismatch)
    found = [finding for finding in diagnosis.findings if finding.modeled]
    if any(NEVER in (finding.settings.get("opens"), finding.settings.get("closes")) for finding in found):
        raise NoLawError("there is no law for arms of which some only open or only close")
    if not found:
        return _ask_law(diagnosis, STATIONARY, {}, diagnosis.arms, horizon, in_steps)
    arms = diagnosis.arms - any(finding.numbers.get("came") for finding in found)
    answers = [_ask_law(diagnosis, finding.kind, finding.settings, arms, horizon, in_steps) for finding in found]
    chosen = max(answers, key=lambda result: result.regret.mean)
    others = [result.scenario for result in answers if result is not chosen]
    if not others:
        return chosen
    assert chosen.law is not None
    reason = f"the data also show {join_words(others, 'and')}, which adds to the regret"
    law = replace(chosen.law, kind="extrapolated", outside=[*chosen.law.outside, reason])
    return replace(chosen, kind="extrapolated", law=law)


def _ask_law(
    diagnosis: Diagnosis, kind: str, rates: Mapping[str, Any], arms: int, horizon: int | None, in_steps: bool
) -> RecommendedParameters:
    """Return the law's answer for one kind of change with the noise and the means of a diagnosis."""
    steps = diagnosis.rows if horizon is None else horizon
    settings: dict[str, Any] = {**diagnosis.base, "noise": diagnosis.noise, **rates}
    for name, most in LONGEST.items() if in_steps else ():
        if name in settings:
            length = parse_steps(name, settings[name], diagnosis.rows)
            settings[name] = min(length, max(1, int(most * steps)))
    return recommend_parameters(RecommendationQuery(kind, steps, arms=arms, settings=settings), [])


def suggest_next(
    diagnosis: Diagnosis,
    file: Path,
    study_file: Path | None = None,
    recommendation: RecommendedParameters | None = None,
    minimize: bool = False,
) -> NextStep | None:
    """Suggest the command that makes the most of a diagnosis; None if there are too few data for any.

    Args:
        diagnosis: The diagnosis.
        file: The trace or log.
        study_file: The written proposal of a study, if any.
        recommendation: The law's answer for the diagnosis, if any.
        minimize: Whether the file holds costs.

    >>> suggest_next(Diagnosis(("a", "b"), 1000, (), mismatch="it has waves"), Path("my log.csv")).command
    "ravenlab tune --trace 'my log.csv'"
    """
    if not diagnosis.conclusive:
        return None
    if not diagnosis.proposes:
        words = ["ravenlab", "tune", f"--{diagnosis.kind}", str(file), *(["--minimize"] if minimize else [])]
        effect = "no scenario resembles the data, so parameters are searched on the rows themselves and compared with"
        return NextStep(shlex.join(words), f"{effect} the defaults on held-out rows.")
    law = None if recommendation is None else recommendation.law
    if recommendation is not None and law is not None and law.better is not None:
        better = law.better
        asked = recommendation.scenario, recommendation.horizon, better.policy
        query = RecommendationQuery(*asked, arms=recommendation.arms, settings=recommendation.settings)
        regret = format_number(recommendation.regret.mean)
        share = format_percent(1.0 - better.regret.mean / recommendation.regret.mean)
        effect = f"a regret of {format_number(better.regret.mean)} instead of {regret} with {recommendation.policy}"
        return NextStep(query.tune_command(), f"{effect}, which is {share} less.")
    name = "proposed.toml" if study_file is None else str(study_file)
    effect = "not known in advance, because there is no law for this scenario; the study states it beside the defaults."
    if law is not None and law.answer.excess is not None:
        excess = describe_excess(law.answer.excess)
        effect = f"little, because the parameters below need no search. Their excess regret over {excess}."
    command = shlex.join(["ravenlab", "tune", "--study", name])
    return NextStep(command, effect, to_save="" if study_file is not None else name)


def check_on_trace(diagnosis: Diagnosis, path: Path, minimize: bool = False) -> TraceCheck:
    """Compare the law's parameters for the length of a window with the defaults, on the report segment of a trace.

    Raises:
        InputError: The trace cannot be divided into segments.
        NoLawError: No law holds for the length of a window.
    """
    spec = parse_study_spec({"trace": str(path), "minimize": minimize, "report": WINDOWS, "selection": 2})
    evaluator = Evaluator(spec)
    result = recommend_for_diagnosis(diagnosis, spec.horizon, in_steps=True)
    values = [spec.resolve_params(params) for params in (result.params, {})]
    report = TraceData(spec, evaluator).evaluate(values)
    (defaults,) = report.differences
    return TraceCheck(
        window=spec.horizon,
        params=result.params,
        regret=report.regret.mean,
        defaults=defaults.regret,
        difference=defaults.difference,
        enough=bool(defaults.conclusive),
    )
