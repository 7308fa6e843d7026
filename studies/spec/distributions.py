"""How parameters stand in Optuna's trials, and back.

A trial holds the searched parameters alone, under their own names and with their own values; only a
rate near 1, of which 1 − x is searched on a log scale, is kept as `one_minus_<name>`, so that what
samplers, importances and pictures see is what was searched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policies import find_policy
from policies.engine.base import Value
from studies.spec.space import Range
from studies.spec.study import StudySpec

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


ONE_MINUS = "one_minus_"

ROUNDING = 1e-9
"""1 − (1 − x) may miss the end of a range by rounding; this much of the end is forgiven."""


def trial_param_name(name: str, range_: Range) -> str:
    """The name under which a parameter stands in a trial.

    >>> trial_param_name("gamma", Range(low=1e-5, high=0.3, scale="one-minus"))
    'one_minus_gamma'
    """
    return f"{ONE_MINUS}{name}" if range_.scale == "one-minus" else name


def make_distributions(spec: StudySpec) -> dict[str, BaseDistribution]:
    """Optuna's distribution of every searched parameter, under the names that trials use.

    >>> list(make_distributions(StudySpec(scenario="blips", policy="d-raven")))
    ['alpha0', 'beta0', 'epsilon', 'one_minus_gamma']
    """
    from optuna.distributions import FloatDistribution, IntDistribution

    whole = _whole(spec)
    out: dict[str, BaseDistribution] = {}
    for name, range_ in spec.resolved().space.items():
        log = range_.scale != "linear"
        if name in whole:
            out[name] = IntDistribution(low=round(range_.low), high=round(range_.high), log=log, step=1)
        else:
            out[trial_param_name(name, range_)] = FloatDistribution(
                low=range_.low, high=range_.high, log=log, step=None
            )
    return out


def from_trial_params(spec: StudySpec, trial_params: Mapping[str, Any]) -> dict[str, float]:
    """The searched parameters of a trial under their own names and with their own values.

    >>> spec = StudySpec(scenario="blips", policy="d-ucb", fixed={"xi": 0.5})
    >>> from_trial_params(spec, {"one_minus_gamma": 0.25})
    {'gamma': 0.75}
    """
    out: dict[str, float] = {}
    for name, range_ in spec.resolved().space.items():
        value = float(trial_params[trial_param_name(name, range_)])
        out[name] = 1.0 - value if range_.scale == "one-minus" else value
    return out


def to_trial_params(spec: StudySpec, params: Mapping[str, Value]) -> dict[str, float | int] | None:
    """What a trial would hold for these parameters; None where they lie outside what is searched.

    A parameter left out has its default. The study's fixed ones override: they are no part of a trial.

    >>> spec = StudySpec(scenario="blips", fixed={"epsilon": 0.1})
    >>> to_trial_params(spec, {"alpha0": 2.0, "beta0": 1.0})
    {'alpha0': 2.0, 'beta0': 1.0}
    >>> to_trial_params(spec, {"alpha0": 2000.0}) is None
    True
    """
    here = spec.resolved()
    free = {name: value for name, value in params.items() if name not in here.fixed}
    played = here.values(free)  # type: ignore[arg-type]
    usual = here.values({name: value for name, value in free.items() if name in here.space})  # type: ignore[misc]
    if played != usual:
        return None
    whole = _whole(here)
    out: dict[str, float | int] = {}
    for name, range_ in here.space.items():
        value = float(played[name])
        if range_.scale == "one-minus":
            value = 1.0 - value
        if not range_.low - ROUNDING * abs(range_.low) <= value <= range_.high + ROUNDING * abs(range_.high):
            return None
        value = min(max(value, range_.low), range_.high)
        out[trial_param_name(name, range_)] = int(value) if name in whole else value
    return out


def _whole(spec: StudySpec) -> set[str]:
    """Names of the parameters that are whole numbers and searched as such."""
    space = spec.resolved().space
    return {
        param.name
        for param in find_policy(spec.policy).parameters
        if param.integer and param.name in space and space[param.name].scale != "one-minus"
    }
