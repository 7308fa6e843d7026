"""From a diagnosis to parameters: the kind, rate and noise that a trace or log shows, answered by the law.

On a trace the answer is checked by its regret on the report segment, relative to the defaults. The parameters were not
selected by regret, so the check is not optimistically biased.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments.checks import parse_steps
from environments.recorded.trace_world import TraceScenario
from environments.text import format_count, format_number
from policies.engine.base import Value
from studies.diagnosis.result import STATIONARY, Diagnosis
from studies.laws.axes import NoLawError
from studies.laws.recommendation import RecommendationQuery, RecommendedParameters, recommend_parameters
from studies.spec.parse import parse_study_spec
from studies.symbols import format_params
from tuning.validation.choice import ChosenParameters
from tuning.validation.recorded import validate_on_trace
from tuning.workers.problem import Evaluator

WINDOWS = 200  # windows of the report segment
LONGEST = {"every": 0.5, "lasting": 0.25, "period": 1.0, "over": 1000.0}
"""Settings that are lengths of time, and their largest share of a horizon in the design of the laws."""


@dataclass(frozen=True)
class TraceCheck:
    """Regret of the law's parameters on the held-out windows of a trace, and that of the defaults."""

    window: int
    params: dict[str, Value]
    regret: float
    defaults: float
    low: float
    """Lower end of the 95 % interval of the regret of the defaults minus that of the law's parameters."""
    high: float
    enough: bool
    """Whether the trace has enough independent rows for a conclusion."""

    def describe(self) -> str:
        """Describe the check in one sentence."""
        text = (
            f"Check on held-out windows of {format_count(self.window)} rows of the trace, with the law's"
            f" {format_params(self.params)} for them: regret {format_number(self.regret)}, with the defaults"
            f" {format_number(self.defaults)} (95 % CI of the difference {format_number(self.low)} to"
            f" {format_number(self.high)})"
        )
        return f"{text}." if self.enough else f"{text}; there are too few independent rows for a conclusion."


def recommend_for_diagnosis(
    diagnosis: Diagnosis, horizon: int | None = None, in_steps: bool = False
) -> RecommendedParameters:
    """Return the law's parameters for data like those of a diagnosis.

    Args:
        diagnosis: The diagnosis.
        horizon: Number of steps; by default the number of rows.
        in_steps: Whether periods keep their length in steps at another horizon, as far as the laws allow it, and not
            their share of it.

    Raises:
        NoLawError: No law holds for the kinds of change, or for the noise or the rates.

    >>> base = {"mean_low": 0.3, "mean_high": 0.8, "variance_low": 0.01, "variance_high": 0.09}
    >>> recommend_for_diagnosis(Diagnosis(("a", "b"), 1000, (), base=base)).scenario
    'stationary'
    """
    if not diagnosis.conclusive:
        raise NoLawError(diagnosis.reason)
    steps = diagnosis.rows if horizon is None else horizon
    found = [finding for finding in diagnosis.findings if finding.found]
    if len(found) > 1:
        raise NoLawError(f"there is no law for {diagnosis.verdict}")
    settings: dict[str, Any] = {**diagnosis.base, "noise": diagnosis.noise}
    if found:
        settings |= found[0].settings
        for name, most in LONGEST.items() if in_steps else ():
            if name in settings:
                length = parse_steps(name, settings[name], diagnosis.rows)
                settings[name] = min(length, max(1, int(most * steps)))
    opened = any(finding.numbers.get("came") for finding in found)
    scenario = found[0].kind if found else STATIONARY
    query = RecommendationQuery(scenario, steps, arms=diagnosis.arms - opened, settings=settings)
    return recommend_parameters(query, [])


def check_on_trace(diagnosis: Diagnosis, path: Path, minimize: bool = False) -> TraceCheck:
    """Compare the law's parameters for the length of a window with the defaults, on the report segment of a trace.

    Raises:
        InputError: The trace cannot be divided into segments.
        NoLawError: No law holds for the length of a window.
    """
    spec = parse_study_spec({"trace": str(path), "minimize": minimize, "report": WINDOWS, "selection": 2}).resolved()
    evaluator = Evaluator(spec)
    scenario = evaluator.problem.scenario
    assert isinstance(scenario, TraceScenario)
    result = recommend_for_diagnosis(diagnosis, spec.horizon, in_steps=True)
    values, defaults = spec.resolve_params(result.params), spec.resolve_params({})
    validation = validate_on_trace(
        spec, str(path), scenario, evaluator, [values], [defaults], lambda _: ChosenParameters(values)
    )
    (difference,) = validation.differences
    return TraceCheck(
        window=spec.horizon,
        params=result.params,
        regret=validation.regret.mean,
        defaults=difference.regret,
        low=difference.low,
        high=difference.high,
        enough=bool(difference.conclusive),
    )
