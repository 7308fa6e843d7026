"""Reference implementation of the published sensitivity protocol in plain NumPy, without code of the project.

Ten arms with μ ~ U(0.3, 0.8) and σ² ~ U(0.01, 0.09), normal rewards, all variances drawn anew at every 5000th step.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def regrets(alpha0: Array, beta0: Array, epsilon: float, horizon: int, replications: int, seed: int) -> Array:
    """Regret [cells, replications] of RAVEN-UCB; all cells of a replication play the same world."""
    rng = np.random.default_rng(seed)
    arms, shape = 10, (alpha0.size, replications)
    mu = rng.uniform(0.3, 0.8, (replications, arms))
    sigma = np.sqrt(rng.uniform(0.01, 0.09, (replications, arms)))
    cell, world = np.ogrid[: shape[0], :replications]
    pulls, mean, square = np.zeros((3, *shape, arms))
    score = np.zeros((*shape, arms))
    regret = np.zeros(shape)
    gaps = mu.max(axis=1, keepdims=True) - mu
    for t in range(1, horizon + 1):
        if t % 5000 == 0:
            sigma = np.sqrt(rng.uniform(0.01, 0.09, (replications, arms)))
        if t <= arms:
            k = np.full(shape, t - 1)
        else:
            decay = alpha0 * np.sqrt(np.log(t + 1)) / np.log(t + epsilon)
            k = np.argmax(score + decay[:, None, None] / np.sqrt(pulls + 1.0), axis=2)
        x = mu[world, k] + sigma[world, k] * rng.standard_normal(replications)
        pulls[cell, world, k] += 1.0
        n, old = pulls[cell, world, k], mean[cell, world, k]
        mean[cell, world, k] = new = old + (x - old) / n
        square[cell, world, k] += (x - old) * (x - new)
        variance = square[cell, world, k] / np.maximum(n - 1.0, 1.0)
        score[cell, world, k] = new + beta0[:, None] * np.sqrt(variance / (n + 1.0) + epsilon)
        regret += gaps[world, k]
    return regret
