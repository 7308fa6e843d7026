"""Samplers: Optuna's, and samplers that compute points of the unit cube by their number.

A batch is sampled from the seed, its number and the trials before it, so an extended or resumed search continues the
same sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ravenlab.common.compat.optuna import sort_stably
from ravenlab.common.errors import InputError
from ravenlab.environments.world import Floats
from ravenlab.policies import find_policy
from ravenlab.studies.laws.axes import NoLawError
from ravenlab.studies.laws.law import answer
from ravenlab.studies.paper.advice import paper_advice
from ravenlab.studies.registry import SAMPLERS
from ravenlab.studies.spec.distributions import (
    DIGITS,
    make_distributions,
    make_relative_distributions,
    range_of,
    to_relative,
    to_trial_params,
)
from ravenlab.studies.spec.source import ScenarioSource
from ravenlab.studies.spec.study import StudySpec
from ravenlab.studies.statistics.sobol import scrambled_sobol

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution


def sobol_points(dimensions: int, first: int, count: int, seed: int) -> Floats:
    """Return scrambled Sobol points number first … first + count − 1 in the unit cube.

    >>> points = sobol_points(2, 0, 8, seed=1)
    >>> bool((sobol_points(2, 3, 5, seed=1) == points[3:]).all())
    True
    """
    return scrambled_sobol(dimensions, first + count, seed)[first:]


def grid_points(dimensions: int, first: int, count: int) -> Floats:
    """Return grid points number first … first + count − 1: first ends and middle of every axis, then ever finer.

    >>> grid_points(1, 0, 5).ravel().tolist()
    [0.0, 0.5, 1.0, 0.25, 0.75]
    """
    return np.array(_refined(dimensions, first + count)[first : first + count])


@cache
def _refined(dimensions: int, count: int) -> list[tuple[float, ...]]:
    return list(islice(_refine(dimensions), count))


def _refine(dimensions: int) -> Iterator[tuple[float, ...]]:
    """Yield the points of ever finer grids, without those of the coarser ones."""
    cells = 2
    while True:
        for place in product(range(cells + 1), repeat=dimensions):
            if cells == 2 or any(step % 2 for step in place):
                yield tuple(step / cells for step in place)
        cells *= 2


TPE: dict[str, Any] = {
    "n_startup_trials": 16,
    "n_ei_candidates": 24,
    "multivariate": True,
    "group": False,
    "constant_liar": True,
}
GP: dict[str, Any] = {"n_startup_trials": 16, "deterministic_objective": False}
# All sampler arguments are explicit, so that new defaults of Optuna do not change existing studies.

REQUIRED_PACKAGES = {"gp": "torch"}  # packages of optional dependency groups, by sampler
MIN_GENERATION = 4  # smallest generation of CMA-ES; a batch is one generation
CMA_STEP = 1.0 / 6.0  # initial standard deviation of CMA-ES in the unit cube
CMA_DECIMALS = 6  # of its points in the unit cube; differences in the last digit grow from generation to generation
TrialParams = dict[str, float | int]  # parameters under the names and on the scales of the trials


def batch_seed(seed: int, batch: int) -> int:
    """Return the seed of a batch's sampler."""
    return int(np.random.SeedSequence([seed, batch]).generate_state(1)[0])


def first_candidates(spec: StudySpec, law: bool = True) -> list[TrialParams]:
    """Return the first trials: the policy's defaults, the paper's advice and the law's parameters.

    Those outside the search space are left out, and the law's also if `law` is False.

    >>> first_candidates(StudySpec(scenario="stationary", horizon=1000))[-1]
    {'alpha0': 0.898, 'beta0': 0.346, 'epsilon': 0.0381}
    """
    candidates = [{}, advice_for(spec, spec.scenario) or {}]
    return inside_search_space(spec, [*candidates, law_for(spec) or {}] if law else candidates)


def resume_candidates(
    spec: StudySpec,
    stored: Sequence[Mapping[str, Any]],
    law: bool = True,
    more: Sequence[Mapping[str, Any]] = (),
) -> list[TrialParams]:
    """Return the first candidates of a study that may hold trials already, given by their parameters.

    A study whose first trials are not those of the law continues without it. `more` are further first candidates.
    """
    first = first_candidates(spec, law)
    first += [params for params in inside_search_space(spec, more) if params not in first]
    count = min(len(first), len(stored))
    return first if list(stored[:count]) == first[:count] else first_candidates(spec, law=False)


def advice_for(spec: StudySpec, scenario: str) -> dict[str, float] | None:
    """Return the paper's advice for a scenario at the study's horizon, scaled to the rewards.

    None if the paper has no advice for the policy.

    >>> advice_for(StudySpec(scenario="blips", horizon=1000), "blips")
    {'alpha0': 1.0, 'beta0': 5.0, 'epsilon': 0.1}
    """
    advice = paper_advice(scenario, spec.horizon, spec.policy)
    if advice is None:
        return None
    units = {param.name: spec.unit(param) for param in find_policy(spec.policy).parameters}
    return {name: value * units[name] for name, value in advice.items()}


def law_for(spec: StudySpec) -> dict[str, float] | None:
    """Return the law's parameters for the study, or None if it has no law or would extrapolate.

    >>> law_for(StudySpec(scenario="blips", horizon=1000))
    {'alpha0': 1.42, 'beta0': 0.239, 'epsilon': 0.0315}
    """
    if not isinstance(spec.source, ScenarioSource):
        return None
    try:
        found = answer(spec.source.open(), spec.horizon, spec.arms, spec.policy)
    except NoLawError:
        return None
    return dict(found.answer.params) if found.kind == "interpolated" else None


def inside_search_space(spec: StudySpec, candidates: Sequence[Mapping[str, Any]]) -> list[TrialParams]:
    """Convert parameters to those of trials; drop duplicates and those outside the search space."""
    distinct: list[TrialParams] = []
    for candidate in candidates:
        params = to_trial_params(spec, candidate)
        if params is not None and params not in distinct:
            distinct.append(params)
    return distinct


def check_sampler(spec: StudySpec) -> None:
    """Raise InputError if the study's sampler is not installed or can't search its space.

    >>> check_sampler(StudySpec(scenario="blips"))
    """
    package = REQUIRED_PACKAGES.get(spec.sampler)
    if package is not None and find_spec(package) is None:
        install = f"pip install 'ravenlab[{SAMPLERS[spec.sampler].extra}]'"
        raise InputError(f"sampler {spec.sampler} needs {package}, which is not installed; {install}.", field="sampler")
    if spec.sampler == "cmaes":
        dimensions = len(make_distributions(spec))
        if dimensions < 2:
            raise InputError(f"sampler cmaes needs at least 2 parameters to search but got {dimensions}.")
        if spec.batch < MIN_GENERATION:
            raise InputError(f"batch must be at least {MIN_GENERATION} with sampler cmaes but got {spec.batch}.")


def ask_batch(
    spec: StudySpec, mirror: optuna.Study, batch: int, first: Sequence[TrialParams] | None = None
) -> list[optuna.Trial]:
    """Sample a batch from the mirror, which holds the trials before it, in units of the scale of the rewards.

    `first` replaces the usual first candidates.
    """
    import optuna

    start = batch * spec.batch
    space = make_relative_distributions(spec)
    first = first_candidates(spec) if first is None else first
    kind, options = OPTUNA_SAMPLERS["random" if spec.sampler in POINT_SAMPLERS else spec.sampler]
    if spec.sampler == "tpe":
        sort_stably()
    mirror.sampler = _rounded(getattr(optuna.samplers, kind)(seed=batch_seed(spec.seed, batch), **options))
    for params in first[start : start + spec.batch]:
        mirror.enqueue_trial(to_relative(spec, params))
    queued = max(0, min(len(first) - start, spec.batch))
    if spec.sampler in POINT_SAMPLERS and queued < spec.batch:
        request = _PointRequest(spec, mirror, space, batch, start + queued - len(first), spec.batch - queued)
        for point in POINT_SAMPLERS[spec.sampler](request):
            mirror.enqueue_trial(_from_unit(space, point))
    return [mirror.ask(space) for _ in range(spec.batch)]


def _rounded(sampler: optuna.samplers.BaseSampler) -> optuna.samplers.BaseSampler:
    """Make a sampler round the values that it proposes.

    The last digits of logarithms and matrix products depend on the processor. A trial that differs in the last digit
    may lose the best arm in other worlds, and all later trials would differ.
    """
    relative = sampler.sample_relative
    independent = sampler.sample_independent

    def sample_relative(
        study: optuna.Study, trial: optuna.trial.FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        values = relative(study, trial, search_space)
        return {name: _round_value(search_space[name], value) for name, value in values.items()}

    def sample_independent(
        study: optuna.Study,
        trial: optuna.trial.FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        return _round_value(param_distribution, independent(study, trial, param_name, param_distribution))

    sampler.sample_relative, sampler.sample_independent = sample_relative, sample_independent  # type: ignore[method-assign]
    return sampler


def _round_value(distribution: BaseDistribution, value: float | int) -> float | int:
    """Round a value of a trial within the range of its distribution; integers are unchanged."""
    return value if isinstance(value, int) else range_of(distribution).clip(float(f"{value:.{DIGITS}g}"))


OPTUNA_SAMPLERS: dict[str, tuple[str, dict[str, Any]]] = {
    "tpe": ("TPESampler", TPE),
    "gp": ("GPSampler", GP),
    "random": ("RandomSampler", {}),
}
"""Class and arguments of the samplers of Optuna."""


@dataclass(frozen=True)
class _PointRequest:
    """A request for points number first … first + count − 1 of the unit cube, for a batch."""

    spec: StudySpec
    mirror: optuna.Study
    space: Mapping[str, BaseDistribution]
    batch: int
    first: int
    count: int


def _cma_points(request: _PointRequest) -> Floats:
    """Return the next generation of CMA-ES, rebuilt from the history by telling it all earlier batches.

    The first candidates, which CMA-ES did not propose, count as members of the first generation.
    """
    from cmaes import CMA

    spec = request.spec
    mirror = request.mirror
    space = request.space
    size = spec.batch
    dimensions = len(space)
    cma = CMA(
        mean=np.full(dimensions, 0.5),
        sigma=CMA_STEP,
        bounds=np.tile([0.0, 1.0], (dimensions, 1)),
        population_size=size,
        seed=batch_seed(spec.seed, 0),
    )
    sign = -1.0 if mirror.direction.name == "MAXIMIZE" else 1.0
    past = mirror.get_trials(deepcopy=False)
    for past_batch in range(request.batch):
        for _ in range(size):
            cma.ask()
        generation = past[past_batch * size : (past_batch + 1) * size]
        points = [
            np.clip([range_of(kind).to_unit(trial.params[name]) for name, kind in space.items()], 0.0, 1.0)
            for trial in generation
        ]
        values = [sign * float(trial.value or 0.0) for trial in generation]
        cma.tell(list(zip(points, values, strict=True)))
    return np.round([cma.ask() for _ in range(size)], CMA_DECIMALS)[-request.count :]


POINT_SAMPLERS: dict[str, Callable[[_PointRequest], Floats]] = {
    "qmc": lambda request: sobol_points(len(request.space), request.first, request.count, request.spec.seed),
    "grid": lambda request: grid_points(len(request.space), request.first, request.count),
    "cmaes": _cma_points,
}
"""Samplers that compute points of the unit cube."""


def _from_unit(space: Mapping[str, BaseDistribution], point: Floats) -> TrialParams:
    """Convert a point of the unit cube to the parameters of a trial."""
    from optuna.distributions import IntDistribution

    params: TrialParams = {}
    for (name, distribution), position in zip(space.items(), point.tolist(), strict=True):
        range_ = range_of(distribution)
        value = range_.clip(range_.from_unit(position))
        params[name] = round(value) if isinstance(distribution, IntDistribution) else _round_value(distribution, value)
    return params
