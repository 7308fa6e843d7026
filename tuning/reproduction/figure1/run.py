"""Draw samples of different sizes from one arm with rewards N(0, 1).

As published, 100 samples of each size; as defined, many more, so that sampling error is negligible.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.studies.statistics.intervals import mean_interval
from ravenlab.tuning.reproduction.context import PieceData, RunContext, RunPiece
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share

SIZES = (5, 10, 50, 100, 500, 1000)
PUBLISHED_SAMPLES = 100
SAMPLES = 10_000  # samples of each size at the default precision, as defined
MAX_REWARDS_IN_MEMORY = 1_000_000

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}

TRUE_VALUES = {"mean": 0.0, "variance": 1.0}


def make_pieces(context: RunContext) -> list[RunPiece]:
    """One piece per protocol."""
    return [RunPiece(f"figure1/{protocol}", 1.5, partial(_run, protocol=protocol)) for protocol in context.protocols]


def theoretical_variance(statistic: str, size: int) -> float:
    """The variance of the sample mean (1/n) or the sample variance (2/(n − 1)) of samples from N(0, 1).

    >>> theoretical_variance("mean", 5), theoretical_variance("variance", 5)
    (0.2, 0.5)
    """
    return 1.0 / size if statistic == "mean" else 2.0 / (size - 1)


def draw_statistics(seed: int, protocol: str, size: int, samples: int) -> dict[str, Floats]:
    """Means and unbiased variances of samples of one size."""
    rng = generator(seed, Stream.SIMULATE, size, f"figure1-{protocol}")
    chunk = max(1, MAX_REWARDS_IN_MEMORY // size)
    means, variances = [], []
    for first in range(0, samples, chunk):
        rewards = rng.standard_normal((min(chunk, samples - first), size))
        means.append(rewards.mean(axis=1))
        variances.append(rewards.var(axis=1, ddof=1))
    return {"mean": np.concatenate(means), "variance": np.concatenate(variances)}


def _run(context: RunContext, protocol: str) -> PieceData:
    samples = PUBLISHED_SAMPLES if protocol == "published" else context.count(SAMPLES, least=200)
    spreads, below, dots = [], [], []
    for size in SIZES:
        statistics = draw_statistics(context.seed, protocol, size, samples)
        for statistic, values in statistics.items():
            spreads.append({"n": size, "statistic": statistic, **_summarize(values, statistic, size, context.seed)})
            if protocol == "published":
                dots += [{"n": size, "statistic": statistic, "value": float(value)} for value in values]
        too_low = int((statistics["variance"] < TRUE_VALUES["variance"]).sum())
        below.append({"n": size, "samples": samples, **interval_columns("share", measure_share(too_low, samples))})
    return {"spreads": spreads, "below": below, "dots": dots}


def _summarize(values: Floats, statistic: str, size: int, seed: int) -> dict[str, Any]:
    """Average, quantiles, and the variance over samples with its interval."""
    squares = (values - values.mean()) ** 2 * values.size / (values.size - 1)
    return {
        "samples": values.size,
        **interval_columns("average", mean_interval(values, seed)),
        **{name: float(np.quantile(values, q)) for name, q in QUANTILES.items()},
        **interval_columns("spread", mean_interval(squares, seed)),
        "theory": theoretical_variance(statistic, size),
    }
