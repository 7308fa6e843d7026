"""Periodic change: every arm's mean follows a sine of one period, with an amplitude and a phase of its own."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from environments.world import Floats
from studies.diagnosis.blocks import Blocks
from studies.diagnosis.model import Fit
from studies.diagnosis.terms import Term, plain_term

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
