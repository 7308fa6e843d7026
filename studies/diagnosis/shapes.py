"""Gradual drift: between two times an arm pays ever more often from a new level, else from the old one.

The mean moves from one level to the other, straight, between start and end only; and while both levels are drawn
from, the variance bulges by ρ(1 − ρ)·(distance)². The bulge is what tells a mixture from a mean that moves.
"""

from __future__ import annotations

from functools import lru_cache

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


FEWEST_CYCLES = 1.5
"""Less than that can't be told from a drift."""
FINENESS = 0.25
"""Steps of the search, in cycles over the stretch."""


def season(blocks: Blocks, current: Fit) -> Term:
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
    return plain_term(
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
    """What a sine and a cosine [F, B] get_alt_text of the rest [B, K], over all arms, beside a constant.

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
