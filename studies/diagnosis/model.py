"""A model of a trace: terms fitted to block means and to the variance around them, and what it is worth.

Means are fitted by least squares, weighted by the noise of each block; variances by the quasi-likelihood of a gamma.
Both are scaled by the unrest of neighbouring blocks, so that rows that depend on each other count for less. Models
are compared by the Bayesian information criterion; arms may share their noise, which the sum over arms does not know,
that p-values come from single arms (see `choose`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from environments.world import Floats
from studies.diagnosis.blocks import TraceBlocks, neighbor_dispersion

ROUNDS = 3
"""Of reweighting the variances."""
RIDGE = 1e-9
"""Keeps least squares solvable where columns are alike."""
FLOOR = 0.02
"""Smallest variance, as a share of an arm's own."""


@dataclass(frozen=True)
class NoiseScale:
    """How noisy block means and block variances are, against independent normal rows."""

    mean: Floats
    """[K] at least 1."""
    variance: Floats
    """[K] relative variance of a block's variance, times its rows."""
    together: float
    """How many arms move as one: 1 for independent noise, K where all arms share theirs."""


@dataclass(frozen=True)
class FittedModel:
    """Terms with their coefficients."""

    terms: tuple[Term, ...]
    mean_weights: list[Floats]
    """For each term [p, K]; 0 where a column is not in use."""
    variance_weights: list[Floats]
    base_mean: Floats
    base_variance: Floats
    residuals: Floats
    """[N, K] rewards minus the fitted means."""
    rest: Floats
    """[B, K] block means minus the fitted ones."""
    spread: Floats
    """[B, K] variance of the residuals within each block: what block means say is not said twice."""
    variance: Floats
    """[B, K] the fitted variances."""
    mean_errors: list[Floats]
    """Standard errors like `mean_weights`."""
    variance_errors: list[Floats]
    parameters: int
    """Coefficients of arms."""

    def misfit(self, blocks: TraceBlocks, scale: NoiseScale) -> tuple[Floats, Floats]:
        """Minus twice the log-likelihood of each arm [K], of its means and of its variances."""
        of_mean = (blocks.counts * self.rest**2 / (blocks.noise * scale.mean)).sum(axis=0)
        if blocks.binary:
            return of_mean, np.zeros(blocks.arms)
        ratio = np.maximum(self.spread, 1e-300) / self.variance
        parts = np.where(blocks.counts > 1, (blocks.counts - 1.0) * (ratio + np.log(self.variance)), 0.0)
        return of_mean, 2.0 * parts.sum(axis=0) / scale.variance

    def criterion(self, blocks: TraceBlocks, scale: NoiseScale) -> float:
        """BIC: less is better. A time or a period that all arms share fits the noise of all that move as one."""
        of_mean, of_variance = self.misfit(blocks, scale)
        shared = max(1.0, scale.together / 2.0) * sum(term.shared for term in self.terms)
        price = float(np.log(max(blocks.seen.mean(), 2.0)))
        return float((of_mean + of_variance).sum()) + price * (self.parameters + shared)

    def scale(self, blocks: TraceBlocks) -> NoiseScale:
        """The unrest that this model leaves."""
        there = (blocks.counts[1:] > 1) & (blocks.counts[:-1] > 1)
        each = blocks.noise / np.maximum(blocks.counts, 1.0)
        per_row = 1.0 / np.maximum(blocks.counts - 1.0, 1.0)
        of_mean = neighbor_dispersion(np.diff(self.rest, axis=0) ** 2, np.where(there, each[1:] + each[:-1], 0.0))
        logs = np.log(np.maximum(self.spread, 1e-3 * self.spread.mean(axis=0) + 1e-300))
        of_variance = neighbor_dispersion(np.diff(logs, axis=0) ** 2, np.where(there, per_row[1:] + per_row[:-1], 0.0))
        together = _together(np.diff(self.rest / np.sqrt(each), axis=0))
        return NoiseScale(np.maximum(of_mean, 1.0), np.maximum(of_variance, _least_wobble(blocks.size - 1.0)), together)


def fit_model(blocks: TraceBlocks, terms: Sequence[Term]) -> FittedModel:
    """Fit the terms together.

    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> bool(np.abs(fit(Blocks.of(rows), []).base_mean).max() < 0.2)
    True
    """
    arms = blocks.arms
    columns = np.column_stack([np.ones(blocks.rows), *(term.mean for term in terms)])
    used = np.concatenate([np.ones((1, arms), dtype=bool), *(term.mean_used for term in terms)])
    averages = blocks.average(columns)
    weights, errors = _solve(averages, used, blocks.means, blocks.counts / blocks.noise)
    residuals = blocks.values - columns @ weights
    rest = np.where(blocks.counts > 0, blocks.means - averages @ weights, 0.0)
    spread = blocks.within(residuals)
    sizes = [term.mean.shape[1] for term in terms]
    means = _parts(weights, sizes)
    own = [term.variance.shape[1] for term in terms]
    variance, shape, shape_errors = _variances(blocks, terms, means, spread)
    free = int(used.sum()) + (0 if blocks.binary else arms + sum(int(t.variance_used.sum()) for t in terms))
    return FittedModel(
        terms=tuple(terms),
        mean_weights=means,
        variance_weights=_parts(shape, own),
        base_mean=weights[0],
        base_variance=shape[0],
        residuals=residuals,
        rest=rest,
        spread=spread,
        variance=variance,
        mean_errors=_parts(errors, sizes),
        variance_errors=_parts(shape_errors, own),
        parameters=free,
    )


def _least_wobble(freedom: float) -> float:
    """n·Var(ln(χ²/n)) of n degrees of freedom: 2 for many, more for few, where neighbours' median says too little."""
    from scipy.special import polygamma

    return float(freedom * polygamma(1, freedom / 2.0))


def _together(steps: Floats) -> float:
    """1 + (K − 1)·(mean squared correlation of the arms): what a sum of their χ² varies more than if independent."""
    arms = steps.shape[1]
    if arms < 2:
        return 1.0
    clipped = np.clip(steps, -5.0, 5.0)
    norms = np.sqrt((clipped**2).sum(axis=0))
    unit = clipped / np.maximum(norms, 1e-300)
    squares = (unit.T @ unit) ** 2
    chance = 1.0 / max(steps.shape[0], 1)
    off = (squares.sum() - np.trace(squares)) / (arms * (arms - 1)) - chance
    return float(1.0 + (arms - 1) * min(max(off, 0.0), 1.0))


def _variances(
    blocks: TraceBlocks, terms: Sequence[Term], means: list[Floats], spread: Floats
) -> tuple[Floats, Floats, Floats]:
    arms = blocks.arms
    columns = np.column_stack([np.ones(blocks.rows), *(term.variance for term in terms)])
    used = np.concatenate([np.ones((1, arms), dtype=bool), *(term.variance_used for term in terms)])
    averages = blocks.average(columns)
    known = np.zeros_like(spread)
    for term, weight in zip(terms, means, strict=True):
        if term.bulge is not None:
            known += blocks.average(term.bulge[:, None]) * weight[0] ** 2
    counts = np.maximum(blocks.counts - 1.0, 0.0)
    typical = (counts * spread).sum(axis=0) / np.maximum(counts.sum(axis=0), 1.0)
    least = np.maximum(FLOOR * typical, 1e-9 * float(typical.mean()) + 1e-150)
    now = np.broadcast_to(np.maximum(typical, least), spread.shape)
    shape = errors = np.zeros((columns.shape[1], arms))
    for _ in range(ROUNDS if columns.shape[1] > 1 or known.any() else 1):
        # A gamma of n rows around σ² has the variance 2σ⁴/n.
        shape, errors = _solve(averages, used, spread - known, counts / (2.0 * now**2))
        now = np.maximum(averages @ shape + known, least)
    return now, shape, errors


def _solve(columns: Floats, used: Bools, target: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted least squares, arm by arm, of the columns in use; coefficients and their standard errors [p, K]."""
    normal = (columns.T * weights.T[:, None, :]) @ columns
    right = columns.T @ (weights * target)
    both = used.T[:, :, None] & used.T[:, None, :]
    size = np.sqrt(np.maximum(np.einsum("kpp->kp", normal), 1e-300))
    normal = np.where(both, normal / (size[:, :, None] * size[:, None, :]), 0.0)
    # A column that is not in use, or that the seen blocks can't tell from others, gets next to no weight.
    place = np.arange(columns.shape[1])
    normal[:, place, place] = np.where(used.T, 1.0 + RIDGE, 1.0)
    inverse = np.linalg.inv(normal)
    scaled = np.where(used, right / size.T, 0.0)
    out = np.einsum("kpq,qk->pk", inverse, scaled) / size.T
    errors = np.sqrt(np.maximum(np.einsum("kpp->pk", inverse), 0.0)) / size.T
    return np.where(used, out, 0.0), np.where(used, errors, 0.0)


def _parts(stacked: Floats, sizes: Sequence[int]) -> list[Floats]:
    """The rows of each term, after the first row, which is the constant."""
    cuts = np.cumsum([1, *sizes])
    return [stacked[a:b] for a, b in pairwise(cuts)]


Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Term:
    """One kind of change: how means and variances may move, and what it costs to say so.

    A coefficient an arm goes with every column that is in use for that arm; `shared` counts what all arms have in
    common, such as a period.
    """

    kind: str
    mean: Floats
    """[N, p] columns that an arm's mean may follow."""
    mean_used: Bools
    """[p, K]"""
    variance: Floats
    """[N, q] columns that an arm's variance may follow."""
    variance_used: Bools
    """[q, K]"""
    shared: int = 0
    bulge: Floats | None = None
    """[N] ρ(1 − ρ): a mixture of two levels adds this times their squared distance to the variance."""
    about: dict[str, Any] = field(default_factory=dict)
    """What was found, for those who describe it."""

    def mean_used_or_variance(self) -> Bools:
        """Which arms use the columns that say how strong it is: those of the means where there are any."""
        return self.mean_used if self.mean.shape[1] else self.variance_used


def make_term(kind: str, arms: int, mean: Floats | None = None, variance: Floats | None = None, **more: Any) -> Term:
    """A term whose columns are in use for all arms."""
    rows = next(each.shape[0] for each in (mean, variance) if each is not None)
    mean = np.empty((rows, 0)) if mean is None else mean
    variance = np.empty((rows, 0)) if variance is None else variance
    used = [np.ones((table.shape[1], arms), dtype=bool) for table in (mean, variance)]
    return Term(kind, mean, used[0], variance, used[1], **more)


def incremental_drift_term(blocks: TraceBlocks) -> Term:
    """The coefficient of an arm is what its mean gains over the whole stretch."""
    return make_term("incremental-drift", blocks.arms, mean=blocks.time[:, None])


def variance_drift_term(blocks: TraceBlocks) -> Term:
    """The coefficient of an arm is what its σ² gains over the whole stretch."""
    return make_term("variance-drift", blocks.arms, variance=blocks.time[:, None])


GRID = 0.05
NARROWEST = 0.1
"""A transition that takes less of the stretch is a jump."""


def gradual_drift_term(blocks: TraceBlocks, current: FittedModel) -> Term:
    """The best pair of times for what the current model leaves, and the mixture between them."""
    from scipy.optimize import minimize

    weights = blocks.counts / blocks.noise
    middle = (blocks.starts[1:] + blocks.starts[:-1]) / (2.0 * blocks.rows)
    times = np.arange(0.0, 1.0 + GRID / 2, GRID)
    pairs = np.array([(a, b) for a in times for b in times if b - a >= NARROWEST - 1e-9])

    def gains(pairs: Floats) -> Floats:
        return _gain(mixture_share(middle, pairs[:, :1], pairs[:, 1:]), current.rest, weights)

    def loss(pair: Floats) -> float:
        a, b = pair
        return 0.0 if a < 0 or b > 1 or b - a < NARROWEST else -float(gains(pair[None])[0])

    best = pairs[int(np.argmax(gains(pairs)))]
    found = minimize(loss, best, method="Nelder-Mead", options={"maxfev": 60, "xatol": 1e-3, "fatol": 1e-2})
    start, end = found.x if found.fun < loss(best) else best
    rho = mixture_share(blocks.time, start, end)
    return make_term(
        "gradual-drift",
        blocks.arms,
        mean=rho[:, None],
        variance=rho[:, None],
        shared=2,
        bulge=rho * (1.0 - rho),
        about={"start": float(start), "end": float(end), "searched": len(pairs)},
    )


def mixture_share(time: Floats, start: float | Floats, end: float | Floats) -> Floats:
    """ρ(t), the probability of the new level.

    >>> share(np.array([0.0, 0.5, 1.0]), 0.25, 0.75).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.clip((time - start) / (end - start), 0.0, 1.0)


def _gain(columns: Floats, rest: Floats, weights: Floats) -> Floats:
    """What each column [G, B] explains of the rest [B, K], over all arms, beside a constant."""
    total = weights.sum(axis=0)
    centre = columns @ weights / total
    cross = columns @ (weights * rest) - centre * (weights * rest).sum(axis=0)
    square = columns**2 @ weights - centre**2 * total
    explained = np.divide(cross**2, square, out=np.zeros_like(cross), where=square > 1e-9 * total)
    return np.asarray(explained.sum(axis=1))


FEWEST_CYCLES = 1.5
"""Less than that can't be told from a drift."""
FINENESS = 0.25
"""Steps of the search, in cycles over the stretch."""


def periodic_term(blocks: TraceBlocks, current: FittedModel) -> Term:
    """The period that explains most of what the current model leaves, from two blocks to two thirds of the rows."""
    from scipy.optimize import minimize_scalar

    weights = blocks.counts / blocks.noise
    frequencies, waves = _waves(blocks.number)
    power = _power(waves, current.rest, weights)
    best = float(frequencies[int(np.argmax(power))])

    def loss(cycles: float) -> float:
        return -float(_power(_wave(np.array([cycles]), blocks.number), current.rest, weights)[0])

    low, high = max(FEWEST_CYCLES, best - FINENESS), min(blocks.number / 2, best + FINENESS)
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-3})
    cycles = float(found.x)
    angle = 2.0 * np.pi * cycles * blocks.time
    return make_term(
        "periodic",
        blocks.arms,
        mean=np.column_stack([np.sin(angle), np.cos(angle)]),
        shared=1,
        about={"period": blocks.rows / cycles, "searched": 2 * blocks.number},
    )


@lru_cache(maxsize=4)
def _waves(number: int) -> tuple[Floats, tuple[Floats, Floats]]:
    frequencies = np.arange(FEWEST_CYCLES, max(number / 2, FEWEST_CYCLES + FINENESS), FINENESS)
    return frequencies, _wave(frequencies, number)


def _wave(cycles: Floats, number: int) -> tuple[Floats, Floats]:
    angle = 2.0 * np.pi * cycles[:, None] * ((np.arange(number) + 0.5) / number)
    return np.sin(angle), np.cos(angle)


def _power(waves: tuple[Floats, Floats], rest: Floats, weights: Floats) -> Floats:
    """What a sine and a cosine [F, B] explain of the rest [B, K], over all arms, beside a constant.

    It is the Lomb–Scargle periodogram with a floating mean and a weight for each block.
    """
    sine, cosine = waves
    total, weighted = weights.sum(axis=0), weights * rest
    of_sine, of_cosine = sine @ weights / total, cosine @ weights / total
    level = weighted.sum(axis=0)
    sr, cr = sine @ weighted - of_sine * level, cosine @ weighted - of_cosine * level
    ss, cc = sine**2 @ weights - of_sine**2 * total, cosine**2 @ weights - of_cosine**2 * total
    sc = (sine * cosine) @ weights - of_sine * of_cosine * total
    determinant = ss * cc - sc**2
    raw = cc * sr**2 - 2.0 * sc * sr * cr + ss * cr**2
    explained = np.divide(raw, determinant, out=np.zeros_like(raw), where=determinant > 1e-6 * total**2)
    return np.asarray(explained.sum(axis=1))
