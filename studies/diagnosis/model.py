"""The regression model of a trace: one term per kind of change, fitted to block means and block variances.

Means are fitted by least squares weighted by the noise of each block, variances by a gamma quasi-likelihood. Both are
scaled by the dispersion between neighboring blocks, so that autocorrelated rows count for less. Models are compared by
the Bayesian information criterion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ravenlab.common.linear import invert, multiply
from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.block_means import Bools, TraceBlocks, neighbor_dispersion

# Terms: how means and variances may change.

TIME_STEP = 0.05  # step of the grid of start and end times, as a share of the rows
MIN_TRANSITION = 0.1  # shortest gradual transition, as a share of the rows; a shorter one is a jump
MIN_CYCLES = 1.5  # fewer cycles cannot be distinguished from a drift
CYCLE_STEP = 0.25  # step of the grid of frequencies, in cycles over all rows


@dataclass(frozen=True)
class Term:
    """A kind of change as regressors. Each column has one coefficient for each arm that uses it."""

    kind: str
    mean: Floats
    """[N, p] regressors of the means."""
    mean_used: Bools
    """[p, K]"""
    variance: Floats
    """[N, q] regressors of the variances."""
    variance_used: Bools
    """[q, K]"""
    shared: int = 0
    """Number of parameters common to all arms, such as a period."""
    bulge: Floats | None = None
    """[N] ρ(1 − ρ): a mixture of two levels adds this times their squared distance to the variance."""
    about: dict[str, Any] = field(default_factory=dict)
    """Estimates such as change points or the period, for descriptions."""
    common: bool = False
    """Whether the arms have the same coefficients, one per column of the means."""

    @property
    def is_outage(self) -> bool:
        """Whether these are temporary changes of single arms."""
        return self.about.get("affected") is not None

    def main_used(self) -> Bools:
        """Return which arms use the columns that measure its strength: those of the means, if any."""
        return self.mean_used if self.mean.shape[1] else self.variance_used


def make_term(kind: str, arms: int, mean: Floats | None = None, variance: Floats | None = None, **more: Any) -> Term:
    """Make a term whose columns are used by all arms."""
    rows = next(columns.shape[0] for columns in (mean, variance) if columns is not None)
    mean = np.empty((rows, 0)) if mean is None else mean
    variance = np.empty((rows, 0)) if variance is None else variance
    used = [np.ones((columns.shape[1], arms), dtype=bool) for columns in (mean, variance)]
    return Term(kind, mean, used[0], variance, used[1], **more)


def incremental_drift_term(blocks: TraceBlocks, common: bool = False) -> Term:
    """Linear change of the mean; the coefficient is the change over all rows."""
    return make_term("incremental-drift", blocks.arms, mean=blocks.time[:, None], shared=int(common), common=common)


def variance_drift_term(blocks: TraceBlocks) -> Term:
    """Linear change of the variance; the coefficient is the change over all rows."""
    return make_term("variance-drift", blocks.arms, variance=blocks.time[:, None])


def gradual_drift_term(blocks: TraceBlocks, current: FittedModel) -> Term:
    """Transition to a new level between the two times that best explain the residuals of the current model.

    Rewards are drawn from the new level with a probability ρ that rises from 0 to 1. The mean changes linearly in
    between, and the variance increases by ρ(1 − ρ)·(distance)², which distinguishes a mixture from a moving mean.
    """
    from scipy.optimize import minimize

    weights = blocks.counts / blocks.noise
    middle = (blocks.starts[1:] + blocks.starts[:-1]) / (2.0 * blocks.rows)
    times = np.arange(0.0, 1.0 + TIME_STEP / 2, TIME_STEP)
    pairs = np.array([(a, b) for a in times for b in times if b - a >= MIN_TRANSITION - 1e-9])

    def gains(pairs: Floats) -> Floats:
        columns = mixture_share(middle, pairs[:, :1], pairs[:, 1:])
        return _explained(columns, current.block_residuals, weights)

    def loss(pair: Floats) -> float:
        a, b = pair
        return 0.0 if a < 0 or b > 1 or b - a < MIN_TRANSITION else -float(gains(pair[None])[0])

    best = pairs[int(np.argmax(gains(pairs)))]
    optimum = minimize(loss, best, method="Nelder-Mead", options={"maxfev": 60, "xatol": 1e-3, "fatol": 1e-2})
    start, end = optimum.x if optimum.fun < loss(best) else best
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
    """Compute ρ(t), the probability of the new level.

    >>> mixture_share(np.array([0.0, 0.5, 1.0]), 0.25, 0.75).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.clip((time - start) / (end - start), 0.0, 1.0)


def _explained(columns: Floats, residuals: Floats, weights: Floats) -> Floats:
    """Compute the sum of squares of residuals [B, K] that each column [G, B] explains in addition to a constant."""
    total = _sum_weights(weights)
    center = multiply(columns, weights) / total
    cross = multiply(columns, weights * residuals) - center * (weights * residuals).sum(axis=0)
    square = multiply(columns**2, weights) - center**2 * total
    explained = np.divide(cross**2, square, out=np.zeros_like(cross), where=square > 1e-9 * total)
    return np.asarray(explained.sum(axis=1))


def _sum_weights(weights: Floats) -> Floats:
    """Sum weights [B, K] by arm; positive also for an arm without observations, of which nothing is explained."""
    return np.asarray(np.maximum(weights.sum(axis=0), 1e-300))


def periodic_term(blocks: TraceBlocks, current: FittedModel, common: bool = False) -> Term:
    """Sinusoid with the period that best explains the residuals, from two blocks to two thirds of the rows."""
    from scipy.optimize import minimize_scalar

    weights = blocks.counts / blocks.noise
    residuals = current.block_residuals
    if common:
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        residuals = (weights * residuals).sum(axis=1, keepdims=True) / total
        weights = total
    frequencies, waves = _wave_grid(blocks.number)
    power = _periodogram(waves, residuals, weights)
    best = float(frequencies[int(np.argmax(power))])

    def loss(cycles: float) -> float:
        return -float(_periodogram(_waves(np.array([cycles]), blocks.number), residuals, weights)[0])

    low = max(MIN_CYCLES, best - CYCLE_STEP)
    high = min(blocks.number / 2, best + CYCLE_STEP)
    cycles = float(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-3}).x)
    angle = 2.0 * np.pi * cycles * blocks.time
    return make_term(
        "periodic",
        blocks.arms,
        mean=np.column_stack([np.sin(angle), np.cos(angle)]),
        shared=3 if common else 1,
        common=common,
        about={"period": blocks.rows / cycles, "searched": 2 * blocks.number},
    )


@lru_cache(maxsize=4)
def _wave_grid(number: int) -> tuple[Floats, tuple[Floats, Floats]]:
    frequencies = np.arange(MIN_CYCLES, max(number / 2, MIN_CYCLES + CYCLE_STEP), CYCLE_STEP)
    return frequencies, _waves(frequencies, number)


def _waves(cycles: Floats, number: int) -> tuple[Floats, Floats]:
    angle = 2.0 * np.pi * cycles[:, None] * ((np.arange(number) + 0.5) / number)
    return np.sin(angle), np.cos(angle)


def _periodogram(waves: tuple[Floats, Floats], residuals: Floats, weights: Floats) -> Floats:
    """Compute the sum of squares of residuals [B, K] that a sine and a cosine [F, B] explain beside a constant.

    This is the Lomb–Scargle periodogram with a floating mean and block weights, summed over arms.
    """
    sine, cosine = waves
    total = _sum_weights(weights)
    weighted = weights * residuals
    mean_sine = multiply(sine, weights) / total
    mean_cosine = multiply(cosine, weights) / total
    level = weighted.sum(axis=0)
    sr = multiply(sine, weighted) - mean_sine * level
    cr = multiply(cosine, weighted) - mean_cosine * level
    ss = multiply(sine**2, weights) - mean_sine**2 * total
    cc = multiply(cosine**2, weights) - mean_cosine**2 * total
    sc = multiply(sine * cosine, weights) - mean_sine * mean_cosine * total
    determinant = ss * cc - sc**2
    raw = cc * sr**2 - 2.0 * sc * sr * cr + ss * cr**2
    explained = np.divide(raw, determinant, out=np.zeros_like(raw), where=determinant > 1e-6 * total**2)
    return np.asarray(explained.sum(axis=1))


# Fitting terms to a trace.

VARIANCE_ITERATIONS = 3  # iterations of reweighted least squares for the variances
RIDGE = 1e-9  # regularization that keeps least squares solvable with collinear columns
MIN_VARIANCE = 0.02  # smallest fitted variance, as a share of the arm's mean variance


@dataclass(frozen=True)
class NoiseScale:
    """Variance of block means and block variances relative to independent normal rows."""

    mean: Floats
    """[K] at least 1."""
    variance: Floats
    """[K] relative variance of a block's variance, times its rows."""
    joint_arms: float
    """Effective number of arms with common noise: 1 if independent, K if all arms have the same noise."""


@dataclass(frozen=True)
class FittedModel:
    """Terms with their coefficients."""

    terms: tuple[Term, ...]
    mean_weights: list[Floats]
    """Coefficients of each term [p, K]; 0 for unused columns."""
    variance_weights: list[Floats]
    base_mean: Floats
    base_variance: Floats
    values: Floats
    """[N, K] rewards."""
    block_residuals: Floats
    """[B, K] block means minus fitted block means."""
    block_variance: Floats
    """[B, K] variance of the residuals within each block."""
    variance: Floats
    """[B, K] fitted variances."""
    mean_errors: list[Floats]
    """Standard errors of `mean_weights`."""
    variance_errors: list[Floats]
    parameters: int
    """Number of coefficients of all arms."""

    @property
    def residuals(self) -> Floats:
        """[N, K] rewards minus fitted means; computed when needed, because many models of many rows fill the memory."""
        return _subtract_means(self.values, self.terms, np.concatenate([self.base_mean[None], *self.mean_weights]))

    def deviance(self, blocks: TraceBlocks, scale: NoiseScale) -> tuple[Floats, Floats]:
        """Compute minus twice the log-likelihood by arm [K], of the means and of the variances."""
        of_means = (blocks.counts * self.block_residuals**2 / (blocks.noise * scale.mean)).sum(axis=0)
        if blocks.binary:
            return of_means, np.zeros(blocks.arms)
        ratio = np.maximum(self.block_variance, 1e-300) / self.variance
        parts = np.where(
            (blocks.counts > 1) & blocks.has_variances, (blocks.counts - 1.0) * (ratio + np.log(self.variance)), 0.0
        )
        return of_means, 2.0 * parts.sum(axis=0) / scale.variance

    def bic(self, blocks: TraceBlocks, scale: NoiseScale) -> float:
        """Compute the Bayesian information criterion; lower is better.

        A parameter shared by all arms, such as a period, fits the common noise of several arms at once, so it counts
        more.
        """
        of_means, of_variances = self.deviance(blocks, scale)
        shared = max(1.0, scale.joint_arms / 2.0) * sum(term.shared for term in self.terms)
        penalty = float(np.log(max(blocks.observations.mean(), 2.0)))
        return float((of_means + of_variances).sum()) + penalty * (self.parameters + shared)

    def noise_scale(self, blocks: TraceBlocks) -> NoiseScale:
        """Estimate the noise scale from the residuals of this model."""
        both = (blocks.counts[1:] > 1) & (blocks.counts[:-1] > 1)
        error = blocks.noise / np.maximum(blocks.counts, 1.0)
        per_row = 1.0 / np.maximum(blocks.counts - 1.0, 1.0)
        of_means = neighbor_dispersion(
            np.diff(self.block_residuals, axis=0) ** 2, np.where(both, error[1:] + error[:-1], 0.0)
        )
        logs = np.log(np.maximum(self.block_variance, 1e-3 * self.block_variance.mean(axis=0) + 1e-300))
        of_variances = neighbor_dispersion(np.diff(logs, axis=0) ** 2, np.where(both, per_row[1:] + per_row[:-1], 0.0))
        return NoiseScale(
            np.maximum(of_means, 1.0),
            np.maximum(of_variances, _log_variance_dispersion(blocks.size - 1.0)),
            _count_joint_arms(np.diff(self.block_residuals / np.sqrt(error), axis=0)),
        )


def fit_model(blocks: TraceBlocks, terms: Sequence[Term]) -> FittedModel:
    """Fit all terms jointly.

    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> bool(np.abs(fit_model(TraceBlocks.of(rows), []).base_mean).max() < 0.2)
    True
    """
    arms = blocks.arms
    used = np.concatenate([np.ones((1, arms), dtype=bool), *(term.mean_used for term in terms)])
    averages = _average_columns(blocks, [term.mean for term in terms])
    common = np.concatenate([[False], *(np.full(term.mean.shape[1], term.common) for term in terms)]).astype(bool)
    weights, errors = _solve(averages, used, blocks.means, blocks.counts / blocks.noise, common)
    residuals = _subtract_means(blocks.values, terms, weights)
    block_variance = blocks.variance_within(residuals)
    if not blocks.has_variances.all():
        block_variance = np.where(blocks.has_variances, block_variance, _overall_variance(residuals))
    mean_sizes = [term.mean.shape[1] for term in terms]
    variance_sizes = [term.variance.shape[1] for term in terms]
    mean_weights = _split_by_term(weights, mean_sizes)
    variance, variance_weights, variance_errors = _fit_variances(blocks, terms, mean_weights, block_variance)
    variance_parameters = 0 if blocks.binary else arms + sum(int(term.variance_used.sum()) for term in terms)
    return FittedModel(
        terms=tuple(terms),
        mean_weights=mean_weights,
        variance_weights=_split_by_term(variance_weights, variance_sizes),
        base_mean=weights[0],
        base_variance=variance_weights[0],
        values=blocks.values,
        block_residuals=np.where(blocks.counts > 0, blocks.means - multiply(averages, weights), 0.0),
        block_variance=block_variance,
        variance=variance,
        mean_errors=_split_by_term(errors, mean_sizes),
        variance_errors=_split_by_term(variance_errors, variance_sizes),
        parameters=int(used[~common].sum()) + variance_parameters,
    )


def _average_columns(blocks: TraceBlocks, columns: Sequence[Floats]) -> Floats:
    """Return the averages [B, p] of a constant and the columns of terms over blocks."""
    return np.column_stack([np.ones(blocks.number), *map(blocks.average, columns)])


def _subtract_means(values: Floats, terms: Sequence[Term], weights: Floats) -> Floats:
    """Subtract the constant and the means of terms from rewards [N, K]."""
    columns = np.column_stack([np.ones(len(values)), *(term.mean for term in terms)])
    return np.asarray(values - multiply(columns, weights))


def _overall_variance(residuals: Floats) -> Floats:
    """Compute the variance [K] of all residuals [N, K] of an arm."""
    return np.asarray(np.nansum(residuals**2, axis=0) / np.maximum((~np.isnan(residuals)).sum(axis=0) - 1.0, 1.0))


def _log_variance_dispersion(freedom: float) -> float:
    """Compute n·Var(ln(χ²/n)) for n degrees of freedom: 2 for many, more for few."""
    from scipy.special import polygamma

    return float(freedom * polygamma(1, freedom / 2.0))


def _count_joint_arms(steps: Floats) -> float:
    """Compute 1 + (K − 1)·(mean squared correlation of arms), the variance inflation of a sum of χ² over arms."""
    arms = steps.shape[1]
    if arms < 2:
        return 1.0
    clipped = np.clip(steps, -5.0, 5.0)
    norms = np.sqrt((clipped**2).sum(axis=0))
    unit = clipped / np.maximum(norms, 1e-300)
    squares = multiply(unit.T, unit) ** 2
    by_chance = 1.0 / max(steps.shape[0], 1)
    mean_square = (squares.sum() - np.trace(squares)) / (arms * (arms - 1)) - by_chance
    return float(1.0 + (arms - 1) * min(max(mean_square, 0.0), 1.0))


def _fit_variances(
    blocks: TraceBlocks, terms: Sequence[Term], mean_weights: list[Floats], block_variance: Floats
) -> tuple[Floats, Floats, Floats]:
    """Fit the variances by iteratively reweighted least squares: fitted values, coefficients and standard errors."""
    arms = blocks.arms
    used = np.concatenate([np.ones((1, arms), dtype=bool), *(term.variance_used for term in terms)])
    averages = _average_columns(blocks, [term.variance for term in terms])
    bulge = np.zeros_like(block_variance)
    for term, weight in zip(terms, mean_weights, strict=True):
        if term.bulge is not None:
            bulge += blocks.average(term.bulge[:, None]) * weight[0] ** 2
    freedom = np.where(blocks.has_variances, np.maximum(blocks.counts - 1.0, 0.0), blocks.counts)
    typical = (freedom * block_variance).sum(axis=0) / np.maximum(freedom.sum(axis=0), 1.0)
    smallest = np.maximum(MIN_VARIANCE * typical, 1e-9 * float(typical.mean()) + 1e-150)
    fitted = np.broadcast_to(np.maximum(typical, smallest), block_variance.shape)
    weights = errors = np.zeros((averages.shape[1], arms))
    for _ in range(VARIANCE_ITERATIONS if averages.shape[1] > 1 or bulge.any() else 1):
        # A gamma variable with n degrees of freedom and mean σ² has the variance 2σ⁴/n.
        weights, errors = _solve(averages, used, block_variance - bulge, freedom / (2.0 * fitted**2))
        fitted = np.maximum(multiply(averages, weights) + bulge, smallest)
    return fitted, weights, errors


def _solve(
    columns: Floats, used: Bools, target: Floats, weights: Floats, common: Bools | None = None
) -> tuple[Floats, Floats]:
    """Solve weighted least squares arm by arm over the used columns: coefficients and standard errors [p, K].

    The coefficients of columns that are `common` are the same for all arms.
    """
    normal = multiply(columns.T * weights.T[:, None, :], columns)
    right = multiply(columns.T, weights * target)
    both = used.T[:, :, None] & used.T[:, None, :]
    size = np.sqrt(np.maximum(np.einsum("kpp->kp", normal), 1e-300))
    normal = np.where(both, normal / (size[:, :, None] * size[:, None, :]), 0.0)
    # Unused and collinear columns get a coefficient near zero.
    diagonal = np.arange(columns.shape[1])
    normal[:, diagonal, diagonal] = np.where(used.T, 1.0 + RIDGE, 1.0)
    inverse = invert(normal)
    scaled = np.where(used, right / size.T, 0.0)
    coefficients = np.einsum("kpq,qk->pk", inverse, scaled) / size.T
    errors = np.sqrt(np.maximum(np.einsum("kpp->pk", inverse), 0.0)) / size.T
    if common is not None and common.any():
        # The joint solution is the mean of the coefficients of the arms, weighted by their precision.
        lengths = size[:, common]
        precision = invert(inverse[:, common][:, :, common]) * (lengths[:, :, None] * lengths[:, None, :])
        covariance = invert(precision.sum(axis=0))
        joint = multiply(covariance, np.einsum("kpq,qk->p", precision, coefficients[common]))
        rest = target - multiply(columns[:, common], joint)[:, None]
        coefficients[common] = joint[:, None]
        errors[common] = np.sqrt(np.diag(covariance))[:, None]
        coefficients[~common], errors[~common] = _solve(columns[:, ~common], used[~common], rest, weights)
    return np.where(used, coefficients, 0.0), np.where(used, errors, 0.0)


def _split_by_term(stacked: Floats, sizes: Sequence[int]) -> list[Floats]:
    """Split rows by term; the first row, the constant, is left out."""
    return [stacked[start:end] for start, end in pairwise(np.cumsum([1, *sizes]))]
