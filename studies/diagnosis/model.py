"""A model of a trace: terms fitted to block means and to the variance around them, and what it is worth.

Means are fitted by least squares, weighted by the noise of each block; variances by the quasi-likelihood of a gamma.
Both are scaled by the unrest of neighbouring blocks, so that rows that depend on each other count for less. Models
are compared by the Bayesian information criterion; arms may share their noise, which the sum over arms does not know,
that p-values come from single arms (see `choose`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from environments.world import Floats
from studies.diagnosis.blocks import TraceBlocks, neighbor_dispersion
from studies.diagnosis.terms import Bools, Term

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
