"""Claims about Figure 1 and their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from studies.paper.claims import Claim, ClaimResult, Measurement, index_claims
from studies.paper.results import ExperimentResult
from studies.paper.rules import judge_growth, judge_typical
from studies.tables import make_table, select, select_row, to_records
from tuning.reproduction.context import PieceData, RunContext
from tuning.reproduction.figure1.run import PUBLISHED_SAMPLES, SIZES, TRUE_VALUES
from tuning.reproduction.measurements import subtract, to_percent

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


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Tables of the spread by sample size, of variances below the true value, and of the published samples."""
    data = {protocol: pieces[f"figure1/{protocol}"] for protocol in context.protocols}
    names = ("spreads", "below", "dots") if "published" in data else ("spreads", "below")
    tables = {
        name: make_table({"protocol": protocol, **row} for protocol, each in data.items() for row in each[name])
        for name in names
    }
    verdicts = []
    for protocol in context.protocols:
        verdicts += [_judge_convergence(tables["spreads"], protocol, statistic) for statistic in TRUE_VALUES]
        verdicts.append(_judge_large_variance(tables, protocol))
    return ExperimentResult(tables, {"sizes": list(SIZES), "published_draws": PUBLISHED_SAMPLES}, verdicts)


def _judge_convergence(spreads: DataFrame, protocol: str, statistic: str) -> ClaimResult:
    """A statistic converges if its variance over samples decreases from the smallest to the largest size."""
    rows = to_records(select(spreads, protocol=protocol, statistic=statistic))
    variances = [Measurement(row["spread"], row["spread_low"], row["spread_high"]) for row in rows]
    decreases = [subtract(first, second) for first, second in pairwise(variances)]
    significant = sum(decrease.low > 0.0 for decrease in decreases)
    first, last = rows[0], rows[-1]
    reason = (
        f"The variance of the sample {statistic} over samples decreases from {first['spread']:.3g} at n = {first['n']}"
        f" to {last['spread']:.3g} at n = {last['n']:,} (theory: {first['theory']:.3g} to {last['theory']:.3g});"
        f" {significant} of {len(decreases)} steps are significant. At n = {last['n']:,} the average is"
        f" {last['average']:.4f}; the true value is {TRUE_VALUES[statistic]:g}."
    )
    total = subtract(variances[0], variances[-1])
    return ClaimResult(CLAIMS[f"figure1-{statistic}s-settle"], protocol, total, judge_growth(total), "growth", reason)


def _judge_large_variance(tables: dict[str, DataFrame], protocol: str) -> ClaimResult:
    """The variance is typically large if more than half of the smallest samples are above the true variance."""
    smallest = select_row(tables["below"], protocol=protocol, n=SIZES[0])
    above = Measurement(1.0 - smallest["share"], 1.0 - smallest["high"], 1.0 - smallest["low"])
    row = select_row(tables["spreads"], protocol=protocol, statistic="variance", n=SIZES[0])
    reason = (
        f"With {SIZES[0]} rewards the sample variance is above the true variance in {above.value:.1%} of"
        f" {smallest['draws']:,} samples ({above.low:.1%} to {above.high:.1%}). Its median is {row['median']:.2f} and"
        f" its average {row['average']:.3f} ({row['average_low']:.3f} to {row['average_high']:.3f}); the true variance"
        " is 1."
    )
    share = to_percent(above.value, above.low, above.high)
    claim = CLAIMS["figure1-variance-large"]
    return ClaimResult(claim, protocol, share, judge_typical(above), "typical", reason)
