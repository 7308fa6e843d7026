"""Figure 1: how the mean and the variance of a sample spread, by the size of the sample.

One arm that pays N(0, 1). As published, each size is drawn 100 times; as defined, the same many more times, so that
what is seen is the law and not the luck of a hundred draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from environments.streams import Stream, generator
from environments.world import Floats
from studies.reproduction.document import Outcome
from studies.reproduction.rules import Measured, Verdict, judge_growth, judge_typical
from studies.reproduction.tables import Table
from tuning.reproduction._intervals import difference, in_columns, measured_share, percent
from tuning.reproduction.context import Context, Found, Piece
from tuning.statistics import mean_interval

SIZES = (5, 10, 50, 100, 500, 1000)
PUBLISHED_DRAWS = 100
DRAWS = 10_000
"""Samples of each size at the usual precision, as defined."""

CHUNK = 1_000_000
"""Rewards held at a time."""

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
TRUTH = {"mean": 0.0, "variance": 1.0}


def pieces(context: Context) -> list[Piece]:
    """One for each protocol."""
    return [Piece(f"figure1/{protocol}", 1.5, partial(_run, protocol=protocol)) for protocol in context.protocols]


def theory(statistic: str, size: int) -> float:
    """The variance of a sample's mean or variance over samples of N(0, 1): 1/n and 2/(n−1).

    >>> theory("mean", 5), theory("variance", 5)
    (0.2, 0.5)
    """
    return 1.0 / size if statistic == "mean" else 2.0 / (size - 1)


def samples(seed: int, protocol: str, size: int, draws: int) -> dict[str, Floats]:
    """Means and variances (over n − 1) of many samples of one size."""
    rng = generator(seed, Stream.SIMULATE, size, f"figure1-{protocol}")
    at_once = max(1, CHUNK // size)
    means, variances = [], []
    for first in range(0, draws, at_once):
        rewards = rng.standard_normal((min(at_once, draws - first), size))
        means.append(rewards.mean(axis=1))
        variances.append(rewards.var(axis=1, ddof=1))
    return {"mean": np.concatenate(means), "variance": np.concatenate(variances)}


def _run(context: Context, protocol: str) -> Found:
    draws = PUBLISHED_DRAWS if protocol == "published" else context.count(DRAWS, least=200)
    spreads, below, dots = [], [], []
    for size in SIZES:
        drawn = samples(context.seed, protocol, size, draws)
        for statistic, values in drawn.items():
            spreads.append({"n": size, "statistic": statistic, **_spread(values, statistic, size, context.seed)})
            if protocol == "published":
                dots += [{"n": size, "statistic": statistic, "value": float(value)} for value in values]
        low = int((drawn["variance"] < TRUTH["variance"]).sum())
        share = measured_share(low, draws)
        below.append({"n": size, "draws": draws, "share": share.value, "low": share.low, "high": share.high})
    return {"spreads": spreads, "below": below, "dots": dots}


def _spread(values: Floats, statistic: str, size: int, seed: int) -> dict[str, Any]:
    """Quantiles, the average, and the variance over samples with its interval."""
    squares = (values - values.mean()) ** 2 * values.size / (values.size - 1)
    return {
        "draws": values.size,
        **in_columns("average", mean_interval(values, seed)),
        **{name: float(np.quantile(values, q)) for name, q in QUANTILES.items()},
        **in_columns("spread", mean_interval(squares, seed)),
        "theory": theory(statistic, size),
    }


def assemble(context: Context, found: Mapping[str, Found]) -> Outcome:
    """Spreads by size, the share of sample variances below the true one, and the hundred draws themselves."""
    told = {protocol: found[f"figure1/{protocol}"] for protocol in context.protocols}
    names = ("spreads", "below", "dots") if "published" in told else ("spreads", "below")
    tables = {
        name: Table.of([{"protocol": protocol, **row} for protocol, each in told.items() for row in each[name]])
        for name in names
    }
    verdicts = []
    for protocol in context.protocols:
        verdicts += [_settles(tables["spreads"], protocol, statistic) for statistic in TRUTH]
        verdicts.append(_large(tables, protocol))
    return Outcome(tables, {"sizes": list(SIZES), "published_draws": PUBLISHED_DRAWS}, verdicts)


def _settles(spreads: Table, protocol: str, statistic: str) -> Verdict:
    """It settles where the spread falls from the smallest to the largest size."""
    rows = list(spreads.where(protocol=protocol, statistic=statistic))
    steps = [Measured(row["spread"], row["spread_low"], row["spread_high"]) for row in rows]
    falls = [difference(first, second) for first, second in pairwise(steps)]
    clear = sum(fall.low > 0.0 for fall in falls)
    last = rows[-1]
    reason = (
        f"Over samples, the variance of the sample {statistic} falls from {rows[0]['spread']:.3g} at n = {rows[0]['n']}"
        f" to {last['spread']:.3g} at n = {last['n']} (theory: {rows[0]['theory']:.3g} to {last['theory']:.3g}),"
        f" clearly so in {clear} of {len(falls)} steps; the average at n = {last['n']} is {last['average']:.4f}"
        f" where the truth is {TRUTH[statistic]:g}."
    )
    fall = difference(steps[0], steps[-1])
    return Verdict(f"figure1-{statistic}s-settle", protocol, fall, judge_growth(fall), "growth", reason)


def _large(tables: dict[str, Table], protocol: str) -> Verdict:
    """A variance is typically large where more than half of the smallest samples' lie above the true one."""
    few = tables["below"].where(protocol=protocol).one(n=SIZES[0])
    above = Measured(1.0 - few["share"], 1.0 - few["high"], 1.0 - few["low"])
    row = tables["spreads"].one(protocol=protocol, statistic="variance", n=SIZES[0])
    reason = (
        f"With {SIZES[0]} rewards the sample variance lies above the true one in {above.value:.1%} of {few['draws']}"
        f" samples ({above.low:.1%} to {above.high:.1%}), its median is {row['median']:.2f} and its average"
        f" {row['average']:.3f} ({row['average_low']:.3f} to {row['average_high']:.3f}), where the truth is 1."
    )
    ours = percent(above.value, above.low, above.high)
    return Verdict("figure1-variance-large", protocol, ours, judge_typical(above), "typical", reason)
