"""Candidates by their number alone: a low-discrepancy sequence, and a grid that refines itself.

Neither depends on how many are wanted, so a search that is extended goes on where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from environments.errors import InputError
from environments.world import Floats
from studies.paper.advice import paper_advice
from studies.registry import SAMPLERS
from studies.spec.distributions import make_distributions, to_trial_params
from studies.spec.study import StudySpec

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution


def sobol_points(dimensions: int, first: int, count: int, seed: int) -> Floats:
    """Scrambled Sobol points number first … first + count − 1 in the unit cube.

    >>> both = sobol_points(2, 0, 8, seed=1)
    >>> bool((sobol_points(2, 3, 5, seed=1) == both[3:]).all())
    True
    """
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    points = sequence.random_base2((first + count - 1).bit_length())
    return np.asarray(points[first : first + count])


def grid_points(dimensions: int, first: int, count: int) -> Floats:
    """Grid points number first … first + count − 1: ends and middle of every axis, then halfway between, and so on.

    >>> grid_points(1, 0, 5).ravel().tolist()
    [0.0, 0.5, 1.0, 0.25, 0.75]
    """
    return np.array(_refined(dimensions, first + count)[first : first + count])


@cache
def _refined(dimensions: int, count: int) -> list[tuple[float, ...]]:
    return list(islice(_refining(dimensions), count))


def _refining(dimensions: int) -> Iterator[tuple[float, ...]]:
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
"""Every argument that decides what is sampled is written out: a later Optuna must not change old studies."""

SMALLEST_GENERATION = 4
"""A batch is a generation of CMA-ES."""

CMA_STEP = 1.0 / 6.0
"""First standard deviation of CMA-ES, of the unit cube."""


First = dict[str, float | int]
"""A candidate that is tried before any sampler is asked."""


def batch_seed(seed: int, batch: int) -> int:
    """The seed of a batch's sampler."""
    return int(np.random.SeedSequence([seed, batch]).generate_state(1)[0])


def first_candidates(spec: StudySpec) -> list[First]:
    """What every search tries first: the policy's defaults and the paper's advice, where they lie in the box."""
    here = spec.resolved()
    return inside_the_box(here, [{}, advice_for(here, here.scenario) or {}])


def advice_for(spec: StudySpec, scenario: str) -> dict[str, float] | None:
    """What the paper advises in a scenario at a study's horizon; None where it has no advice for the policy.

    >>> advice_for(StudySpec(scenario="blips", horizon=1000), "blips")
    {'alpha0': 1.0, 'beta0': 5.0, 'epsilon': 0.1}
    """
    here = spec.resolved()
    return paper_advice(scenario, here.horizon, here.policy)


def inside_the_box(spec: StudySpec, wanted: Sequence[Mapping[str, Any]]) -> list[First]:
    """Parameters as trials hold them, each once, those outside the box left out."""
    first: list[First] = []
    for params in wanted:
        inside = to_trial_params(spec, params)
        if inside is not None and inside not in first:
            first.append(inside)
    return first


def ask_batch(
    spec: StudySpec, mirror: optuna.Study, batch: int, first: Sequence[First] | None = None
) -> list[optuna.Trial]:
    """Ask the mirror for the whole of a batch, given that it holds just the trials before it.

    `first` stands in for the usual first candidates.
    """
    start = batch * spec.batch
    space = make_distributions(spec)
    first = first_candidates(spec) if first is None else first
    build = _random if spec.sampler in POINT_SAMPLERS else OPTUNA_SAMPLERS[spec.sampler]
    mirror.sampler = build(batch_seed(spec.seed, batch))
    for params in first[start : start + spec.batch]:
        mirror.enqueue_trial(params)
    queued = max(0, min(len(first) - start, spec.batch))
    if spec.sampler in POINT_SAMPLERS and queued < spec.batch:
        wanted = _Wanted(spec, mirror, space, batch, start + queued - len(first), spec.batch - queued)
        for point in POINT_SAMPLERS[spec.sampler](wanted):
            mirror.enqueue_trial(_from_unit(space, point))
    return [mirror.ask(space) for _ in range(spec.batch)]


def _tpe(seed: int) -> optuna.samplers.BaseSampler:
    import optuna

    return optuna.samplers.TPESampler(seed=seed, **TPE)


def _gp(seed: int) -> optuna.samplers.BaseSampler:
    import optuna

    try:
        import torch  # noqa: F401
    except ImportError:
        install = f"pip install 'ravenlab[{SAMPLERS['gp'].extra}]'"
        raise InputError(f"sampler gp needs torch, which is not installed; {install}.") from None
    return optuna.samplers.GPSampler(seed=seed, **GP)


def _random(seed: int) -> optuna.samplers.BaseSampler:
    import optuna

    return optuna.samplers.RandomSampler(seed=seed)


OPTUNA_SAMPLERS: dict[str, Callable[[int], optuna.samplers.BaseSampler]] = {"tpe": _tpe, "gp": _gp, "random": _random}
"""Registered samplers of Optuna, built from the seed of a batch."""


@dataclass(frozen=True)
class _Wanted:
    """The points of the unit cube that a batch still needs: `count` of them, the first with the number `first`."""

    spec: StudySpec
    mirror: optuna.Study
    space: Mapping[str, BaseDistribution]
    batch: int
    first: int
    count: int


def _qmc_points(wanted: _Wanted) -> Floats:
    return sobol_points(len(wanted.space), wanted.first, wanted.count, wanted.spec.seed)


def _grid_points(wanted: _Wanted) -> Floats:
    return grid_points(len(wanted.space), wanted.first, wanted.count)


def _cma_points(wanted: _Wanted) -> Floats:
    """The next generation of CMA-ES after all batches before it have been told to a fresh one in turn.

    A trial that was no proposal of CMA-ES (the first candidates) takes the place of one.
    """
    from cmaes import CMA

    spec, mirror, space = wanted.spec, wanted.mirror, wanted.space
    size, dimensions = spec.batch, len(space)
    if dimensions < 2:
        raise InputError(f"sampler cmaes needs at least 2 parameters to search but got {dimensions}.")
    if size < SMALLEST_GENERATION:
        raise InputError(f"batch must be at least {SMALLEST_GENERATION} with sampler cmaes but got {size}.")
    cma = CMA(
        mean=np.full(dimensions, 0.5),
        sigma=CMA_STEP,
        bounds=np.tile([0.0, 1.0], (dimensions, 1)),
        population_size=size,
        seed=batch_seed(spec.seed, 0),
    )
    sign = -1.0 if mirror.direction.name == "MAXIMIZE" else 1.0
    past = mirror.get_trials(deepcopy=False)
    for past_batch in range(wanted.batch):
        for _ in range(size):
            cma.ask()
        generation = past[past_batch * size : (past_batch + 1) * size]
        cma.tell([(_to_unit(space, trial.params), sign * float(trial.value or 0.0)) for trial in generation])
    return np.array([cma.ask() for _ in range(size)])[-wanted.count :]


POINT_SAMPLERS: dict[str, Callable[[_Wanted], Floats]] = {
    "qmc": _qmc_points,
    "grid": _grid_points,
    "cmaes": _cma_points,
}
"""Registered samplers that compute points of the unit cube."""


def _from_unit(space: Mapping[str, BaseDistribution], point: Floats) -> dict[str, float | int]:
    """A point of the unit cube as a trial's parameters."""
    from optuna.distributions import IntDistribution

    params: dict[str, float | int] = {}
    for (name, distribution), u in zip(space.items(), point, strict=True):
        low, high, log = distribution.low, distribution.high, distribution.log  # type: ignore[attr-defined]
        value = low * (high / low) ** float(u) if log else low + (high - low) * float(u)
        value = min(max(value, low), high)
        params[name] = round(value) if isinstance(distribution, IntDistribution) else float(value)
    return params


def _to_unit(space: Mapping[str, BaseDistribution], params: Mapping[str, Any]) -> Floats:
    """The inverse of `_from_unit`."""
    point = []
    for name, distribution in space.items():
        low, high, log = distribution.low, distribution.high, distribution.log  # type: ignore[attr-defined]
        value = params[name]
        point.append(np.log(value / low) / np.log(high / low) if log else (value - low) / (high - low))
    return np.asarray(np.clip(point, 0.0, 1.0), dtype=np.float64)
