"""Claims about Figure 1 and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from ravenlab.common.text import format_number
from ravenlab.studies.paper.claims import Claim, ClaimResult, Measurement, index_claims
from ravenlab.studies.paper.criteria import judge_growth, judge_typical
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.tables import select, select_row, to_records
from ravenlab.tuning.reproduction.context import PieceData, RunContext, tables_by_protocol
from ravenlab.tuning.reproduction.figure1.run import PUBLISHED_SAMPLES, SIZES, TRUE_VALUES
from ravenlab.tuning.reproduction.measurements import format_measurement, read_measurement, subtract, to_percent

if TYPE_CHECKING:
    from pandas import DataFrame

CLAIMS = index_claims(
    [
        Claim(
            "figure1-means-settle",
            "Section 3.1, Figure 1a",
            "The sample mean fluctuates more for few rewards and converges to the true mean as the sample grows.",
            unit="decrease of the variance over samples",
        ),
        Claim(
            "figure1-variances-settle",
            "Section 3.1, Figure 1b",
            "The sample variance fluctuates more for few rewards and converges to the true variance as the sample "
            "grows.",
            unit="decrease of the variance over samples",
        ),
        Claim(
            "figure1-variance-large",
            "Section 3.1",
            "An arm sampled only a few times typically has a large sample variance, which decreases with more samples.",
            unit="%",
        ),
    ]
)

THEORY = {"mean": "1/n", "variance": "2/(n − 1)"}  # variance of each statistic over samples


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Tables of the spread by sample size, of variances below the true value, and of the published samples."""
    names = ("spreads", "below", "dots") if "published" in context.protocols else ("spreads", "below")
    tables = tables_by_protocol("figure1", context, pieces, names)
    verdicts = []
    for protocol in context.protocols:
        verdicts += [_judge_convergence(tables["spreads"], protocol, statistic) for statistic in TRUE_VALUES]
        verdicts.append(_judge_large_variance(tables, protocol))
    return ExperimentResult(tables, {"sizes": list(SIZES), "published_samples": PUBLISHED_SAMPLES}, verdicts)


def _judge_convergence(spreads: DataFrame, protocol: str, statistic: str) -> ClaimResult:
    """A statistic converges if its variance over samples decreases from the smallest to the largest size."""
    rows = to_records(select(spreads, protocol=protocol, statistic=statistic))
    variances = [read_measurement(row, "spread") for row in rows]
    decreases = [subtract(first, second) for first, second in pairwise(variances)]
    significant = sum(decrease.low > 0.0 for decrease in decreases)
    first, last = rows[0], rows[-1]
    reason = (
        f"The variance of the sample {statistic} over samples decreases from {format_number(first['spread'])} at"
        f" n = {first['n']} to {format_number(last['spread'])} at n = {last['n']:,}; theory predicts"
        f" {THEORY[statistic]}, that is {format_number(first['theory'])} and {format_number(last['theory'])}."
        f" {significant} of {len(decreases)} decreases are significant. At n = {last['n']:,} the average sample"
        f" {statistic} is {last['average']:.4f}; the true value is {TRUE_VALUES[statistic]:g}."
    )
    total = subtract(variances[0], variances[-1])
    return ClaimResult(CLAIMS[f"figure1-{statistic}s-settle"], protocol, total, judge_growth(total), "growth", reason)


def _judge_large_variance(tables: dict[str, DataFrame], protocol: str) -> ClaimResult:
    """The variance is typically large if more than half of the smallest samples are above the true variance."""
    smallest = select_row(tables["below"], protocol=protocol, n=SIZES[0])
    below = read_measurement(smallest, "share")
    above = Measurement(1.0 - below.value, 1.0 - below.high, 1.0 - below.low)
    row = select_row(tables["spreads"], protocol=protocol, statistic="variance", n=SIZES[0])
    share = to_percent(above)
    reason = (
        f"With {SIZES[0]} rewards the sample variance is above the true variance in {format_measurement(share)} of"
        f" {smallest['samples']:,} samples. Its median is {row['median']:.2f} and its average {row['average']:.3f}"
        f" ({row['average_low']:.3f} to {row['average_high']:.3f}); the true variance is 1."
    )
    claim = CLAIMS["figure1-variance-large"]
    return ClaimResult(claim, protocol, share, judge_typical(above), "typical", reason)
