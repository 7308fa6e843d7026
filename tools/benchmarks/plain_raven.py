"""RAVEN-UCB as a plain NumPy loop, and as an optimized numba loop that scans all arms at every step."""

import math
from typing import Any

import numpy as np

from ravenlab.common.compiled import compiled
from ravenlab.environments.world import Worlds, mean_of, reward_of


def numpy_loop(worlds: Worlds, alpha0: float, beta0: float, epsilon: float, steps: int, r: int = 0) -> float:
    """Return the regret over the first steps of an incrementally drifting world, with all scores recomputed."""
    rng = np.random.default_rng(1)
    base = worlds.level[r, 0, :, 0]
    slope = worlds.motion[r, :, 0]
    sigma = np.sqrt(worlds.level[r, 0, :, 1])
    arms = base.size
    pulls = np.zeros(arms)
    means = np.zeros(arms)
    squares = np.zeros(arms)
    regret = 0.0
    for t in range(1, steps + 1):
        if t <= arms:
            k = t - 1
        else:
            variance = np.where(pulls > 1, squares / np.maximum(pulls - 1, 1), 0.0)
            alpha_t = alpha0 / math.log(t + epsilon)
            scores = (
                means
                + alpha_t * np.sqrt(math.log(t + 1) / (pulls + 1))
                + beta0 * np.sqrt(variance / (pulls + 1) + epsilon)
            )
            k = int(np.argmax(scores))
        mu = base + slope * t
        x = rng.normal(mu[k], sigma[k])
        pulls[k] += 1
        before = x - means[k]
        means[k] += before / pulls[k]
        squares[k] += before * (x - means[k])
        regret += mu.max() - mu[k]
    return float(regret)


@compiled
def rescan(worlds, candidates, coefficients, roots, inverses, scratch, out):  # type: ignore[no-untyped-def]
    """Play the worlds of the fast path with cached terms per arm, scanning all arms at every step."""
    kind = worlds.kind
    season = worlds.season
    share = worlds.share
    level_of_arm = scratch[0]
    width = scratch[1]
    means = scratch[2]
    squares = scratch[3]
    pulls = scratch[4]
    horizon = worlds.noise.shape[1]
    arms = scratch.shape[1]
    for r in range(worlds.noise.shape[0]):
        level = worlds.level[r]
        motion = worlds.motion[r]
        noise = worlds.noise[r]
        coin = worlds.coin[r]
        best = worlds.best[r]
        for i in range(candidates.shape[0]):
            beta0 = candidates[i, 1]
            epsilon = candidates[i, 2]
            c = coefficients[i]
            for k in range(arms):
                means[k] = squares[k] = pulls[k] = 0.0
            regret = 0.0
            for t in range(1, horizon + 1):
                chosen = t - 1
                if t > arms:
                    top = -1e300
                    for k in range(arms):
                        score = level_of_arm[k] + c[t] * width[k]
                        if score > top:
                            top = score
                            chosen = k
                x = reward_of(kind, level, motion, season, coin, noise, 0, 0, chosen, t)
                pulls[chosen] += 1.0
                n = int(pulls[chosen])
                before = x - means[chosen]
                means[chosen] += before * inverses[n]
                squares[chosen] += before * (x - means[chosen])
                spread = math.sqrt(squares[chosen] * inverses[n - 1] * inverses[n + 1] + epsilon)
                level_of_arm[chosen] = means[chosen] + beta0 * spread
                width[chosen] = roots[n]
                regret += best[t - 1] - mean_of(kind, level, motion, season, share, 0, 0, chosen, t)
            out[i, r] = regret


def rescan_all(worlds: Worlds, candidates: Any) -> Any:
    """Return the regrets [C, R] of the scanning loop."""
    from ravenlab.policies.engine.leader_run import fill_coefficients

    replications, horizon = worlds.noise.shape
    coefficients = np.empty((len(candidates), horizon + 2))
    roots = np.empty(horizon + 3)
    inverses = np.empty(horizon + 3)
    fill_coefficients(candidates, coefficients, roots, inverses)
    out = np.empty((len(candidates), replications))
    rescan(worlds, candidates, coefficients, roots, inverses, np.empty((5, worlds.level.shape[2])), out)
    return out
