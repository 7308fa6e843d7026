"""Play the logistics case, and compare three recursions for the variance.

Each recursion is run on samples of N(0, 1), and RAVEN-UCB is played with each of them.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.policies.engine.parameters import Value
from ravenlab.policies.published.published_raven_ucb import NUMBERS
from ravenlab.policies.raven_ucb import ESTIMATORS, next_variance
from ravenlab.tuning.reproduction import logistics
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.logistics import COMPARISONS, RAVEN, play

SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000)  # numbers of rewards at which a recursion is evaluated
SAMPLES, WORLDS = 100, 200  # samples and worlds per recursion at the default precision
TOLERANCE = 1e-9  # relative difference up to which a recursion equals the sample variance
NO_VARIANCE = "none"  # RAVEN-UCB without its variance bonus: β₀ = 0, all else unchanged
VARIANTS = (*ESTIMATORS, NO_VARIANCE)

RECURSION = "table3/recursion"


def make_pieces(context: RunContext) -> list[RunPiece]:
    """The comparisons of the logistics case, the recursions on samples, and RAVEN-UCB with each recursion."""
    variants = [
        RunPiece(_piece_key(protocol, variant), 0.8, partial(_play_variant, protocol, variant))
        for protocol in context.protocols
        for variant in VARIANTS
    ]
    return [*logistics.make_pieces(context), RunPiece(RECURSION, 0.5, run_recursions), *variants]


def variant_samples(pieces: Mapping[str, PieceData], protocol: str, variant: str) -> dict[str, Floats]:
    """The numbers of every world [R] of RAVEN-UCB with one estimator, by measure."""
    return {measure: np.array(values) for measure, values in pieces[_piece_key(protocol, variant)]["worlds"].items()}


def compute_variance(rewards: Floats, estimator: str) -> Floats:
    """Compute S² after each reward of samples [R, n] with one of the recursions."""
    kind = float(ESTIMATORS.index(estimator))
    rule = getattr(next_variance, "py_func", next_variance)
    mean = np.zeros(rewards.shape[0])
    variance = np.zeros(rewards.shape[0])
    out = np.empty_like(rewards)
    for i, reward in enumerate(rewards.T):
        before = reward - mean
        mean = mean + before / (i + 1)
        variance = rule(variance, before * (reward - mean), i + 1.0, kind) * np.ones_like(reward)
        out[:, i] = variance
    return out


def run_recursions(context: RunContext) -> PieceData:
    """Run each recursion on samples of N(0, 1): S² by size, and the share of samples where it is wrong."""
    count = context.count(SAMPLES)
    draws = [generator(context.seed, Stream.SIMULATE, r, "recursion").normal(size=SIZES[-1]) for r in range(count)]
    rewards = np.array(draws)
    out: dict[str, Any] = {}
    for estimator in ESTIMATORS:
        variance = compute_variance(rewards, estimator)
        is_right = [
            np.isclose(variance[:, n - 1], rewards[:, :n].var(axis=1, ddof=1), rtol=TOLERANCE, atol=0.0) for n in SIZES
        ]
        out[estimator] = {
            "variances": {str(n): variance[:, n - 1].tolist() for n in SIZES},
            "broken": float(1.0 - np.all(is_right, axis=0).mean()),
        }
    return out


def _play_variant(protocol: str, variant: str, context: RunContext) -> PieceData:
    """Play RAVEN-UCB with the parameters of a protocol and one estimator."""
    params: dict[str, Value] = dict(NUMBERS) if protocol == "published" else {}
    if variant == NO_VARIANCE:
        params["beta0"] = 0.0
    else:
        params["variance"] = variant
    return play(context, COMPARISONS[protocol][0], RAVEN, params, worlds=WORLDS)


def _piece_key(protocol: str, variant: str) -> str:
    return f"table3/{protocol}/variance-{variant}"
