"""Conversion between a policy's parameters and the parameters of Optuna trials.

A trial holds only the searched parameters, under their own names and with their own values. The exception is a rate
near 1, of which 1 − x is searched on a log scale: it is stored as `one_minus_<name>`, so that samplers, importances and
figures see the searched variable.
"""

from collections.abc import Mapping
from typing import Any

from ravenlab.common.compat.optuna import BaseDistribution
from ravenlab.policies import find_policy
from ravenlab.policies.engine.parameters import Value
from ravenlab.studies.spec.space import Range
from ravenlab.studies.spec.study import StudySpec

ONE_MINUS = "one_minus_"

DIGITS = 8  # significant digits of proposed values

# Relative tolerance at the ends of a range: 1 − (1 − x) may differ from x by rounding.
TOLERANCE = 1e-9


def trial_param_name(name: str, range_: Range) -> str:
    """Return the name of a parameter in trials.

    >>> trial_param_name("gamma", Range(low=1e-5, high=0.3, scale="one-minus"))
    'one_minus_gamma'
    """
    return f"{ONE_MINUS}{name}" if range_.scale == "one-minus" else name


def make_distributions(spec: StudySpec) -> dict[str, BaseDistribution]:
    """Return Optuna's distribution of every searched parameter, by its name in trials.

    >>> list(make_distributions(StudySpec(scenario="blips", policy="d-raven")))
    ['alpha0', 'beta0', 'epsilon', 'one_minus_gamma']
    """
    from optuna.distributions import FloatDistribution, IntDistribution

    integers = _integer_params(spec)
    distributions: dict[str, BaseDistribution] = {}
    for name, range_ in spec.space.items():
        if name in integers:
            low = round(range_.low)
            high = round(range_.high)
            distributions[name] = IntDistribution(low, high, log=range_.logarithmic)
        else:
            distribution = FloatDistribution(range_.low, range_.high, log=range_.logarithmic)
            distributions[trial_param_name(name, range_)] = distribution
    return distributions


def range_of(distribution: BaseDistribution) -> Range:
    """Return the range of a distribution of `make_distributions`; its searched number is the value in trials.

    >>> range_of(make_distributions(StudySpec(scenario="blips", policy="d-raven"))["one_minus_gamma"])
    Range(low=1e-05, high=0.3, scale='log')
    """
    low, high, log = distribution.low, distribution.high, distribution.log  # type: ignore[attr-defined]
    return Range(low=float(low), high=float(high), scale="log" if log else "linear")


def make_relative_distributions(spec: StudySpec) -> dict[str, BaseDistribution]:
    """Return the distributions in units of the scale of the rewards, in which samplers work.

    Problems that differ only in the unit of their rewards are then searched alike.

    >>> make_relative_distributions(StudySpec(scenario="blips", scale=4.0))["alpha0"].high
    10.0
    """
    from optuna.distributions import FloatDistribution

    distributions = make_distributions(spec)
    for name, unit in spec.units().items():
        range_ = spec.space[name]
        distributions[name] = FloatDistribution(range_.low / unit, range_.high / unit, log=range_.logarithmic)
    return distributions


def to_relative(spec: StudySpec, trial_params: Mapping[str, Any]) -> dict[str, Any]:
    """Convert parameters of a trial to units of the scale of the rewards, without the last digits, which are errors."""
    units = spec.units()
    space = spec.space
    relative = dict(trial_params)
    for name, unit in units.items():
        value = float(f"{trial_params[name] / unit:.{DIGITS}g}")
        relative[name] = min(max(value, space[name].low / unit), space[name].high / unit)
    return relative


def from_relative(spec: StudySpec, relative: Mapping[str, Any]) -> dict[str, Any]:
    """Convert parameters in units of the scale of the rewards to those of a trial.

    >>> spec = StudySpec(scenario="blips", scale=4.0)
    >>> from_relative(spec, {"alpha0": 2.0, "beta0": 1.0, "epsilon": 0.1})
    {'alpha0': 8.0, 'beta0': 1.0, 'epsilon': 1.6}
    """
    space = spec.space
    trial_params = dict(relative)
    for name, unit in spec.units().items():
        trial_params[name] = space[name].clip(relative[name] * unit)
    return trial_params


def from_trial_params(spec: StudySpec, trial_params: Mapping[str, Any]) -> dict[str, float]:
    """Convert the parameters of a trial to those of the policy.

    >>> spec = StudySpec(scenario="blips", policy="d-ucb", fixed={"xi": 0.5})
    >>> from_trial_params(spec, {"one_minus_gamma": 0.25})
    {'gamma': 0.75}
    """
    params: dict[str, float] = {}
    for name, range_ in spec.space.items():
        params[name] = range_.parameter(float(trial_params[trial_param_name(name, range_)]))
    return params


def to_trial_params(spec: StudySpec, params: Mapping[str, Value]) -> dict[str, float | int] | None:
    """Convert parameters of the policy to those of a trial; None if they are outside the search space.

    Missing parameters have their defaults. Parameters that the study fixes are ignored.

    >>> spec = StudySpec(scenario="blips", fixed={"epsilon": 0.1})
    >>> to_trial_params(spec, {"alpha0": 2.0, "beta0": 1.0})
    {'alpha0': 2.0, 'beta0': 1.0}
    >>> to_trial_params(spec, {"alpha0": 2000.0}) is None
    True
    """
    free = {name: value for name, value in params.items() if name not in spec.fixed}
    values = spec.resolve_params(free)
    searched = {name: value for name, value in free.items() if name in spec.space}
    if values != spec.resolve_params(searched):
        return None
    integers = _integer_params(spec)
    trial_params: dict[str, float | int] = {}
    for name, range_ in spec.space.items():
        number = range_.searched(float(values[name]))
        if not range_.low - TOLERANCE * abs(range_.low) <= number <= range_.high + TOLERANCE * abs(range_.high):
            return None
        number = range_.clip(number)
        trial_params[trial_param_name(name, range_)] = int(number) if name in integers else number
    return trial_params


def _integer_params(spec: StudySpec) -> set[str]:
    """Return the names of the parameters that are searched as integers."""
    space = spec.space
    return {
        param.name
        for param in find_policy(spec.policy).parameters
        if param.integer and param.name in space and space[param.name].scale != "one-minus"
    }
