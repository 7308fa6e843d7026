"""Three recursions for the variance: what each gives on a plain sample, and what it does to RAVEN-UCB's regret."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from environments.streams import Stream, generator
from environments.world import Floats
from policies.base import Value
from policies.published_raven_ucb import NUMBERS
from policies.raven_ucb import ESTIMATORS, next_variance
from tuning.reproduction._logistics import KINDS, RAVEN, simulated
from tuning.reproduction.context import Context, Found, Piece

SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Rewards after which a recursion is looked at."""

SAMPLES, WORLDS = 100, 200
"""Samples drawn for each recursion, and worlds played with it, at the usual precision."""

EXACT = 1e-9
"""How far a recursion may lie from the sample variance, as a share of it."""

NO_VARIANCE = "none"
"""RAVEN-UCB without its variance bonus: β₀ = 0, all else the same."""

VARIANTS = (*ESTIMATORS, NO_VARIANCE)

RECURSION = "table3/recursion"


def estimator_pieces(context: Context) -> list[Piece]:
    """The recursions on plain samples, and the games that each protocol asks for."""
    games = [
        Piece(_key(protocol, variant), 0.8, partial(_play, protocol, variant))
        for protocol in context.protocols
        for variant in VARIANTS
    ]
    return [Piece(RECURSION, 0.5, _recursion), *games]


def regrets(found: Mapping[str, Found], protocol: str, variant: str) -> dict[str, Floats]:
    """The numbers of every world [R] that RAVEN-UCB played with one estimator, by name."""
    return {measure: np.array(values) for measure, values in found[_key(protocol, variant)]["worlds"].items()}


def recursive_variance(rewards: Floats, estimator: str) -> Floats:
    """S² after each reward of some samples [R, n], by one of the recursions.

    >>> sample = np.array([[1.0, 2.0, 4.0, 8.0]])
    >>> recursive_variance(sample, "welford")[0, -1] == sample.var(ddof=1)
    np.True_
    """
    kind = float(ESTIMATORS.index(estimator))
    rule = getattr(next_variance, "py_func", next_variance)
    mean, variance = np.zeros(rewards.shape[0]), np.zeros(rewards.shape[0])
    out = np.empty_like(rewards)
    for i, reward in enumerate(rewards.T):
        before = reward - mean
        mean = mean + before / (i + 1)
        variance = rule(variance, before * (reward - mean), i + 1.0, kind) * np.ones_like(reward)
        out[:, i] = variance
    return out


def _recursion(context: Context) -> Found:
    """Each recursion on samples of N(0, 1): S² at some sizes, and the share of samples where it is not the sample's."""
    count = context.count(SAMPLES)
    draws = [generator(context.seed, Stream.SIMULATE, r, "recursion").normal(size=SIZES[-1]) for r in range(count)]
    rewards = np.array(draws)
    out: dict[str, Any] = {}
    for estimator in ESTIMATORS:
        variance = recursive_variance(rewards, estimator)
        right = [
            np.isclose(variance[:, n - 1], rewards[:, :n].var(axis=1, ddof=1), rtol=EXACT, atol=0.0) for n in SIZES
        ]
        out[estimator] = {
            "variances": {str(n): variance[:, n - 1].tolist() for n in SIZES},
            "broken": float(1.0 - np.all(right, axis=0).mean()),
        }
    return out


def _play(protocol: str, variant: str, context: Context) -> Found:
    """RAVEN-UCB as the protocol has it, but for the estimator."""
    params: dict[str, Value] = dict(NUMBERS) if protocol == "published" else {}
    if variant == NO_VARIANCE:
        params["beta0"] = 0.0
    else:
        params["variance"] = variant
    result = simulated(context, KINDS[protocol][0], RAVEN, params, usual=WORLDS)
    return {"worlds": {measure: values.tolist() for measure, values in result.measures().items()}}


def _key(protocol: str, variant: str) -> str:
    return f"table3/{protocol}/variance-{variant}"
