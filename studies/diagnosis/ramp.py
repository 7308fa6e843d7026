"""Gradual drift: between two times an arm pays ever more often from a new level, else from the old one.

The mean moves from one level to the other, straight, between start and end only; and while both levels are drawn
from, the variance bulges by ρ(1 − ρ)·(distance)². The bulge is what tells a mixture from a mean that moves.
"""

from __future__ import annotations

import numpy as np

from environments.world import Floats
from studies.diagnosis.blocks import Blocks
from studies.diagnosis.model import Fit
from studies.diagnosis.terms import Term, plain_term

GRID = 0.05
NARROWEST = 0.1
"""A transition that takes less of the stretch is a jump."""


def ramp(blocks: Blocks, current: Fit) -> Term:
    """The best pair of times for what the current model leaves, and the mixture between them."""
    from scipy.optimize import minimize

    weights = blocks.counts / blocks.noise
    middle = (blocks.starts[1:] + blocks.starts[:-1]) / (2.0 * blocks.rows)
    times = np.arange(0.0, 1.0 + GRID / 2, GRID)
    pairs = np.array([(a, b) for a in times for b in times if b - a >= NARROWEST - 1e-9])

    def gains(pairs: Floats) -> Floats:
        return _gain(share(middle, pairs[:, :1], pairs[:, 1:]), current.rest, weights)

    def loss(pair: Floats) -> float:
        a, b = pair
        return 0.0 if a < 0 or b > 1 or b - a < NARROWEST else -float(gains(pair[None])[0])

    best = pairs[int(np.argmax(gains(pairs)))]
    found = minimize(loss, best, method="Nelder-Mead", options={"maxfev": 60, "xatol": 1e-3, "fatol": 1e-2})
    start, end = found.x if found.fun < loss(best) else best
    rho = share(blocks.time, start, end)
    return plain_term(
        "gradual-drift",
        blocks.arms,
        mean=rho[:, None],
        variance=rho[:, None],
        shared=2,
        bulge=rho * (1.0 - rho),
        about={"start": float(start), "end": float(end), "searched": len(pairs)},
    )


def share(time: Floats, start: float | Floats, end: float | Floats) -> Floats:
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
