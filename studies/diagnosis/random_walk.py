"""The random walk of the means as an alternative to the selected kinds of change.

Block means are modeled as a random walk plus noise (the local level model). Its likelihood follows from the Kalman
filter with an unknown first level. Each arm has two parameters: the variance of a step of the walk, and a dispersion of
at least 1 of the noise, so that short-lived autocorrelation is not mistaken for a walk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ravenlab.environments.world import Floats
from ravenlab.studies.diagnosis.block_means import TraceBlocks
from ravenlab.studies.diagnosis.model import FittedModel, NoiseScale, Term

RANDOM_WALK = "random-walk"

STEP_RATIOS = np.concatenate([[0.0], np.geomspace(1e-5, 10.0, 25)])
"""Variances of a step between blocks that are tried, relative to the median variance of a block mean."""
DISPERSIONS = np.geomspace(1.0, 32.0, 11)  # dispersions of the noise that are tried


@dataclass(frozen=True)
class RandomWalkFit:
    """The local level model of each arm with the largest likelihood."""

    deviance: Floats
    """[K] minus twice the log-likelihood."""
    gain: Floats
    """[K] decrease of the deviance relative to a constant mean."""
    step_variance: Floats
    """[K] variance of the step from one block to the next."""
    path: Floats
    """[B, K] estimated mean minus that of the first block."""


def fit_random_walk(blocks: TraceBlocks) -> RandomWalkFit:
    """Fit the model by a search over step variances and dispersions.

    >>> steps = np.random.default_rng(0).normal(size=(1000, 1))
    >>> fits = [fit_random_walk(TraceBlocks.of(rows)) for rows in (steps, np.cumsum(steps, axis=0))]
    >>> [bool(fit.gain[0] > 10.0) for fit in fits]
    [False, True]
    """
    observed = blocks.counts > 0
    variance = blocks.noise / np.maximum(blocks.counts, 1.0)
    error = np.where(observed, variance, np.inf)
    # The path of an arm without observations is constant for any unit, but not for NaN.
    unit = np.nanmedian(np.where(observed | ~observed.any(axis=0), variance, np.nan), axis=0)
    steps, dispersions = np.meshgrid(STEP_RATIOS, DISPERSIONS, indexing="ij")
    table = _deviance(blocks.means, error, steps[..., None] * unit, dispersions[..., None])
    arms = np.arange(blocks.arms)
    best = table.reshape(-1, blocks.arms).argmin(axis=0)
    step = steps.ravel()[best]
    dispersion = dispersions.ravel()[best]
    # A finer search of the step variance between the neighbors on the coarse grid
    ratio = STEP_RATIOS[2] / STEP_RATIOS[1]
    fine = step * np.geomspace(1.0 / ratio, ratio, 9)[:, None]
    finer = _deviance(blocks.means, error, fine * unit, dispersion)
    step = fine[finer.argmin(axis=0), arms]
    constant = table[0].min(axis=0)
    deviance = np.minimum(finer.min(axis=0), constant)
    path = _smooth(blocks.means, error * dispersion, step * unit)
    return RandomWalkFit(deviance, constant - deviance, step * unit, path - path[0])


def _deviance(means: Floats, error: Floats, step: Floats, dispersion: Floats) -> Floats:
    """Compute minus twice the log-likelihood [..., K] of block means [B, K] with noise variances [B, K].

    The prediction error of the first observed block counts as zero, since the first level is unknown.
    """
    shape = np.broadcast_shapes(step.shape, dispersion.shape)
    level = np.zeros(shape)
    variance = np.full(shape, np.inf)
    deviance = np.zeros(shape)
    for mean, block_error in zip(means, error, strict=True):
        noise = np.broadcast_to(block_error * dispersion, shape)
        started = np.isfinite(variance)
        seen = np.isfinite(noise)
        total = np.where(started, variance, 0.0) + np.where(seen, noise, 1.0)
        surprise = np.where(started, mean - level, 0.0)
        deviance += np.where(seen, np.log(total) + surprise**2 / total, 0.0)
        share = np.where(seen, np.where(started, variance / total, 1.0), 0.0)
        level = level + share * (mean - level)
        variance = np.where(seen & ~started, noise, np.where(seen, share * np.where(seen, noise, 0.0), variance)) + step
    return deviance


def _smooth(means: Floats, error: Floats, step: Floats) -> Floats:
    """Estimate the means [B, K] from all blocks (Rauch–Tung–Striebel smoother)."""
    number, arms = means.shape
    seen = np.isfinite(error)
    levels = np.empty((number, arms))
    variances = np.empty((number, arms))
    # The first level is unknown, hence the wide distribution.
    level = means[seen.argmax(axis=0), np.arange(arms)]
    variance = 1e6 * np.where(seen, error, 0.0).max(axis=0)
    for b in range(number):
        share = np.where(seen[b], variance / (variance + np.where(seen[b], error[b], 1.0)), 0.0)
        level = level + share * (means[b] - level)
        variance = (1.0 - share) * variance
        levels[b] = level
        variances[b] = variance
        variance = variance + step
    for b in range(number - 2, -1, -1):
        back = variances[b] / np.maximum(variances[b] + step, 1e-300)
        levels[b] += back * (levels[b + 1] - levels[b])
    return levels


def random_walk_term(blocks: TraceBlocks, walk: RandomWalkFit) -> Term:
    """Make a term with the estimated path of each arm that moves."""
    from scipy.stats import chi2

    columns = np.repeat(walk.path, np.diff(blocks.starts), axis=0)
    used = np.diag(np.abs(walk.path).max(axis=0) > 0.0)
    # A variance of 0 is at the edge of its range, so half of the gains are 0 if the mean is constant.
    p = 0.5 * chi2.sf(walk.gain, 1)
    about = {
        "p": float(min(1.0, p.min() * blocks.arms)),
        "deviation": np.sqrt(walk.step_variance * blocks.number),
        "significant": p * blocks.arms < 0.05,
    }
    no_columns = np.empty((blocks.rows, 0)), np.empty((0, blocks.arms), dtype=bool)
    return Term(RANDOM_WALK, columns, used, *no_columns, about=about)


def is_random_walk(
    blocks: TraceBlocks, walk: RandomWalkFit, current: FittedModel, alternative: FittedModel, scale: NoiseScale
) -> bool:
    """Whether the criterion prefers the walk, with the variances of `alternative`, to the current model."""
    error = blocks.noise / np.maximum(blocks.counts, 1.0)
    squares = np.where(blocks.counts > 0, current.block_residuals**2 / error, 0.0)
    number = np.maximum((blocks.counts > 0).sum(axis=0), 1)
    dispersion = np.maximum(squares.sum(axis=0) / number, 1.0)
    logs = np.where(blocks.counts > 0, np.log(error), 0.0).sum(axis=0) + number * np.log(dispersion)
    of_means = float((logs + squares.sum(axis=0) / dispersion).sum())
    (_, variances), (_, other_variances) = (model.deviance(blocks, scale) for model in (current, alternative))
    penalty = float(np.log(max(blocks.observations.mean(), 2.0)))
    shared = max(1.0, scale.joint_arms / 2.0) * sum(term.shared for term in current.terms)
    before = of_means + float(variances.sum()) + penalty * (current.parameters + shared)
    after = float(walk.deviance.sum()) + float(other_variances.sum()) + penalty * alternative.parameters
    return after < before
