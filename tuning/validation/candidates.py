"""Candidates for a recommendation: the trials of a search and baselines, and what the search says about them.

The functions of points convert, round and vary parameters on their search scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value, Values
from ravenlab.studies.results.recommendation import Edge, Parameters
from ravenlab.studies.spec.distributions import from_trial_params, make_distributions, trial_param_name
from ravenlab.studies.spec.study import StudySpec
from ravenlab.tuning.search.loop import convert_trial
from ravenlab.tuning.search.samplers import advice_for
from ravenlab.tuning.search.widening import extend_range

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


NEAR_BOUNDARY = 0.01
"""Share of a range, on its search scale, within which a value counts as being at the boundary."""

LOG_EXTENSION = 3.0  # factor by which a log range is extended; a linear one is extended by its width
MIN_TRIALS_FOR_IMPORTANCE = 20
SHARE_DECIMALS = 9  # of importances

PAPER = "paper"
AS_CONSTRUCTED = "as constructed"
DEFAULTS = "defaults"


@dataclass(frozen=True)
class Candidate:
    """Parameters that may be recommended."""

    values: Values
    """All parameters of the policy."""
    shown: Parameters
    """Those that were searched, fixed or set."""
    estimate: float | None = None
    """The objective in the search, if it was a trial."""


def make_candidate(spec: StudySpec, params: Mapping[str, float], estimate: float | None = None) -> Candidate:
    """Return parameters as a candidate; missing ones have their defaults."""
    values = spec.resolve_params(dict(params))
    shown = {name: value for name, value in values.items() if name in {*spec.space, *spec.fixed, *params}}
    return Candidate(values, shown, estimate)


def make_baseline(spec: StudySpec, params: Mapping[str, float]) -> Candidate:
    """Return parameters as a candidate in which the parameters that the study fixes stay fixed."""
    return make_candidate(spec, {name: value for name, value in params.items() if name not in spec.fixed})


def list_baselines(spec: StudySpec) -> dict[str, Candidate]:
    """Return the paper's advice, if any, the class as constructed if it differs from the defaults, and the defaults.

    The advice and the defaults are scaled to the rewards.
    """
    baselines: dict[str, Candidate] = {}
    advice = advice_for(spec, spec.scenario)
    if advice is not None:
        baselines[PAPER] = make_baseline(spec, advice)
    defaults = make_candidate(spec, {})
    kept = {name: value for name, value in spec.fixed.items() if name not in ("unit", "low", "high")}
    constructed = find_policy(spec.policy).resolve(kept, spec.arms + spec.source.extra_arms, spec.horizon)
    if constructed != defaults.values:
        baselines[AS_CONSTRUCTED] = Candidate(constructed, {name: constructed[name] for name in defaults.shown})
    baselines[DEFAULTS] = defaults
    return baselines


@dataclass(frozen=True)
class CompleteTrials:
    """The complete trials of a study in their order, and their objective."""

    candidates: list[Candidate]
    values: Floats


def complete_trials(spec: StudySpec, trials: Iterable[FrozenTrial]) -> CompleteTrials:
    """Return the complete ones of the trials of a study."""
    complete = _keep_complete(trials)
    candidates = [make_candidate(spec, from_trial_params(spec, trial.params), trial.value) for trial in complete]
    return CompleteTrials(candidates, np.array([trial.value for trial in complete], dtype=np.float64))


def _keep_complete(trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
    complete = (trial for trial in trials if trial.state.name == "COMPLETE")
    return sorted(complete, key=lambda trial: trial.number)


def shortlist(complete: CompleteTrials, count: int, maximize: bool, baselines: Iterable[Candidate]) -> list[Candidate]:
    """Return the best distinct complete trials, at most so many, and the baselines, without duplicates."""
    distinct: list[Candidate] = []
    for i in np.argsort(-complete.values if maximize else complete.values, kind="stable"):
        if len(distinct) < count:
            _add_new(distinct, complete.candidates[i])
    for baseline in baselines:
        _add_new(distinct, baseline)
    return distinct


def _add_new(candidates: list[Candidate], added: Candidate) -> None:
    if all(added.values != candidate.values for candidate in candidates):
        candidates.append(added)


def measure_importance(spec: StudySpec, trials: Sequence[FrozenTrial], maximize: bool) -> dict[str, float] | None:
    """Return the importance of each searched parameter (PED-ANOVA), or None with too few trials."""
    import optuna

    complete = _keep_complete(trials)
    if len(complete) < MIN_TRIALS_FOR_IMPORTANCE or len({trial.value for trial in complete}) == 1:
        return None
    # A copy in memory: a range that was widened must be the same in all trials, and no trial is read again.
    distributions = make_distributions(spec)
    study = optuna.create_study(direction="maximize" if maximize else "minimize")
    study.add_trials(convert_trial(trial, trial.params, distributions) for trial in complete)
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(
        target_quantile=0.1, region_quantile=1.0, evaluate_on_local=True
    )
    try:
        importances = evaluator.evaluate(study, params=list(distributions))
    except (ValueError, RuntimeError):
        return None
    weights = [float(importances[trial_param_name(name, range_)]) for name, range_ in spec.space.items()]
    # Optuna adds with sum() and a BLAS library, whose last digit depends on Python's version and the processor.
    total = math.fsum(weights)
    if not math.isfinite(total):
        return None
    shares = [round(weight / total, SHARE_DECIMALS) if total > 0.0 else 1.0 / len(weights) for weight in weights]
    return dict(zip(spec.space, shares, strict=True))


def bounding_box(spec: StudySpec, candidates: Sequence[Candidate]) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value of each searched parameter."""
    values = {name: [float(candidate.values[name]) for candidate in candidates] for name in spec.space}
    return {name: (min(column), max(column)) for name, column in values.items()}


def boundary_hits(spec: StudySpec, values: Mapping[str, Value]) -> list[Edge]:
    """Return the searched parameters whose value is at or beyond a boundary of the search space.

    `low` and `high` are the extended range, as a study file states it (of 1 − x where 1 − x is searched). A boundary
    that cannot move, because the parameter's limit or the horizon sets it, does not count.

    >>> spec = StudySpec(scenario="blips", horizon=1000)
    >>> hits = boundary_hits(spec, {"alpha0": 9.9, "beta0": 1.0, "epsilon": 0.1})
    >>> [(hit.param, hit.low, hit.high) for hit in hits]
    [('alpha0', 0.01, 30.0)]
    """
    space = spec.space
    hits = []
    for param in find_policy(spec.policy).parameters:
        if param.name in space:
            value = float(values[param.name])
            wider = extend_range(param, space[param.name], value, zone=NEAR_BOUNDARY, factor=LOG_EXTENSION)
            if wider != space[param.name]:
                hits.append(Edge(param=param.name, value=value, low=wider.low, high=wider.high))
    return hits


COPIES = 8  # copies of a candidate in each world at the first look of a race
SPREAD = 0.02  # largest relative difference of a copy's parameters
MAX_DIGITS = 2  # significant digits of recommended values


def to_point(spec: StudySpec, values: Mapping[str, object]) -> Floats:
    """Return the searched parameters on their search scale, in units that do not depend on the scale of the rewards."""
    units = spec.units()
    point = []
    for name, range_ in spec.space.items():
        point.append(range_.to_scale(float(values[name]) / units.get(name, 1.0)))  # type: ignore[arg-type]
    return np.array(point)


def from_point(spec: StudySpec, point: Floats) -> Values:
    """Return the searched parameters of a point on the search scale."""
    units = spec.units()
    values: Values = {}
    for (name, range_), coordinate in zip(spec.space.items(), point.tolist(), strict=True):
        values[name] = clip_value(spec, name, range_.from_scale(coordinate) * units.get(name, 1.0))
    return values


def find_bounds(spec: StudySpec) -> tuple[Floats, Floats]:
    """Return the ends of the search space on the search scale."""
    rows = zip(*(range_.bounds() for range_ in spec.space.values()), strict=True)
    ends = [to_point(spec, dict(zip(spec.space, row, strict=True))) for row in rows]
    return np.minimum(*ends), np.maximum(*ends)


def round_values(spec: StudySpec, values: Values, names: Sequence[str], digits: int) -> Values:
    """Round to significant digits, in units of the scale of the rewards (of 1 − x where that is searched)."""
    units = spec.units()
    rounded: Values = {}
    for name in names:
        unit = units.get(name, 1.0)
        range_ = spec.space[name]
        number = range_.searched(float(values[name]) / unit)
        value = range_.parameter(float(f"{number:.{digits}g}")) * unit
        rounded[name] = clip_value(spec, name, round(value, 15) if range_.scale == "one-minus" else value)
    return rounded


def make_copies(spec: StudySpec, values: Values) -> list[Values]:
    """Return copies whose searched parameters (1 − x where that is searched) differ by up to `SPREAD`.

    The nearest come first.
    """
    copies = []
    factors = np.linspace(1.0 - SPREAD, 1.0 + SPREAD, COPIES)
    for factor in sorted(factors.tolist(), key=lambda factor: abs(factor - 1.0)):
        copy = dict(values)
        for name, range_ in spec.space.items():
            number = range_.searched(float(values[name])) * factor
            copy[name] = clip_value(spec, name, range_.parameter(number))
        copies.append(copy)
    return copies


def clip_value(spec: StudySpec, name: str, value: float) -> float:
    """Return a value that the policy allows: within its limits, and whole if the parameter is."""
    (param,) = (param for param in find_policy(spec.policy).parameters if param.name == name)
    value = min(max(value, param.least), param.most)
    return float(round(value)) if param.integer else value
