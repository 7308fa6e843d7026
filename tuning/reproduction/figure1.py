"""Figure 1: the sampling distributions of the mean and the variance of rewards N(0, 1).

As published, 100 samples of each size; as defined, many more, so that sampling error is negligible.
"""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_number
from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.environments.streams import Stream, generator
from ravenlab.environments.world import Floats
from ravenlab.studies.paper.claims import ClaimResult
from ravenlab.studies.paper.results import ExperimentResult
from ravenlab.studies.statistics.intervals import mean_interval
from ravenlab.studies.tables import DataFrame, select, select_row, to_records, unique
from ravenlab.tuning.reproduction.context import Experiment, PieceData, RunContext, RunPiece, tables_by_protocol
from ravenlab.tuning.reproduction.figures import make_guide_line, make_line
from ravenlab.tuning.reproduction.measurements import interval_columns, measure_share, read_measurement, subtract
from ravenlab.tuning.reproduction.texts import Words, judge, read_claims

CLAIMS = read_claims("figure1")

COLORS = {"published": style.VERMILION, "defined": style.BLUE}
THEORY = {"mean": "1/n", "variance": "2/(n − 1)"}  # variance of each statistic over samples

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
    means = []
    variances = []
    for first in range(0, samples, chunk):
        rewards = rng.standard_normal((min(chunk, samples - first), size))
        means.append(rewards.mean(axis=1))
        variances.append(rewards.var(axis=1, ddof=1))
    return {"mean": np.concatenate(means), "variance": np.concatenate(variances)}


def _run(context: RunContext, protocol: str) -> PieceData:
    samples = PUBLISHED_SAMPLES if protocol == "published" else context.count(SAMPLES, least=200)
    spreads = []
    below = []
    dots = []
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


def evaluate(context: RunContext, pieces: Mapping[str, PieceData]) -> ExperimentResult:
    """Tables of the spread by sample size, of variances below the true value, and of the published samples."""
    names = ("spreads", "below", "dots") if "published" in context.protocols else ("spreads", "below")
    tables = tables_by_protocol("figure1", context, pieces, names)
    verdicts = [_judge_convergence(tables, protocol, name) for protocol in context.protocols for name in TRUE_VALUES]
    verdicts += [_judge_large_variance(tables, protocol) for protocol in context.protocols]
    return ExperimentResult(tables, {"sizes": list(SIZES), "published_samples": PUBLISHED_SAMPLES}, verdicts)


def _judge_convergence(tables: Mapping[str, DataFrame], protocol: str, statistic: str) -> ClaimResult:
    """A statistic converges if its variance over samples decreases from the smallest to the largest size."""
    rows = to_records(select(tables["spreads"], protocol=protocol, statistic=statistic))
    variances = [read_measurement(row, "spread") for row in rows]
    return judge(
        CLAIMS[f"figure1-{statistic}s-settle"],
        protocol,
        subtract(variances[0], variances[-1]),
        first=rows[0],
        last=rows[-1],
        theory=THEORY[statistic],
        true_value=TRUE_VALUES[statistic],
        count=len(rows) - 1,
        significant=sum(subtract(larger, smaller).low > 0.0 for larger, smaller in pairwise(variances)),
    )


def _judge_large_variance(tables: Mapping[str, DataFrame], protocol: str) -> ClaimResult:
    """The variance is typically large if more than half of the smallest samples are above the true variance."""
    below = select_row(tables["below"], protocol=protocol, n=SIZES[0])
    share = read_measurement(below, "share")
    above = Interval(1.0 - share.mean, 1.0 - share.high, 1.0 - share.low)
    spread = select_row(tables["spreads"], protocol=protocol, n=SIZES[0], statistic="variance")
    return judge(CLAIMS["figure1-variance-large"], protocol, above.scaled(100.0), above, below=below, spread=spread)


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """The two sampling distributions, and their variance against n."""
    spreads = result.tables["spreads"]
    samples = {name: select(spreads, protocol=name)["samples"].iloc[0] for name in protocols}
    return [
        ("figure1-means", _plot_distribution(result, "mean", samples, words)),
        ("figure1-variances", _plot_distribution(result, "variance", samples, words)),
        ("figure1-spread", _plot_spread(spreads, protocols, words)),
    ]


def _plot_distribution(result: ExperimentResult, statistic: str, samples: dict[str, int], words: Words) -> Figure:
    """Box plots by size for the most precise protocol, beside the published samples as dots."""
    spreads = result.tables["spreads"]
    protocol = list(samples)[-1]
    sizes = unique(spreads, "n")
    traces: list[PlotlyTrace] = [
        make_guide_line([-0.5, len(sizes) - 0.5], [TRUE_VALUES[statistic]] * 2, f"true {statistic}", "dash")
    ]
    if "published" in samples:
        traces.append(_plot_samples(select(result.tables["dots"], statistic=statistic), sizes, samples["published"]))
    rows = to_records(select(spreads, protocol=protocol, statistic=statistic))
    name = f"{samples[protocol]:,} samples, as {protocol}: quartiles, 5 % and 95 %"
    for index, row in enumerate(rows):
        upright = {"orientation": "v", "x": [index + 0.18], "y": None}
        quantiles = [row[key] for key in QUANTILES]
        traces.append(
            style.make_box(index, quantiles, COLORS[protocol], width=0.3, name=name, showlegend=index == 0, **upright)
        )
    x = [index + 0.18 for index in range(len(rows))]
    averages = [row["average"] for row in rows]
    text = [f"average sample {statistic} {format_number(average)}" for average in averages]
    traces.append(
        style.make_markers(x, averages, "average", {"symbol": "diamond", "size": 8, **style.WHITE_MARKER}, text)
    )
    return style.make_figure(
        traces,
        *words("distribution", first=rows[0], last=rows[-1]),
        xaxis=style.make_category_axis(
            [f"{size:,}" for size in sizes], "rewards in a sample, n", range=[-0.5, len(sizes) - 0.5]
        ),
        yaxis=style.make_axis(f"sample {statistic}"),
    )


def _plot_samples(dots: DataFrame, sizes: list[int], count: int) -> PlotlyTrace:
    """The published samples, spread horizontally within each size for legibility."""
    x = [round(sizes.index(n) - 0.2 + 0.26 * ((i * 0.618034) % 1.0 - 0.5), 3) for i, n in enumerate(dots["n"])]
    y = [float(f"{value:.4g}") for value in dots["value"]]
    look = {"mode": "markers", "marker": {"size": 4, "color": style.fade(style.VERMILION, 0.55)}}
    return make_line(
        x, y, f"{count} samples, as published", style.VERMILION, 0, **look, hovertemplate="%{y}<extra></extra>"
    )


def _plot_spread(spreads: DataFrame, protocols: tuple[str, ...], words: Words) -> Figure:
    """Variance over samples against n on log axes, beside theory."""
    traces: list[PlotlyTrace] = []
    sizes = unique(spreads, "n")
    for index, statistic in enumerate(TRUE_VALUES):
        theory = select(spreads, statistic=statistic, protocol=protocols[0])["theory"].tolist()
        dash = ("dot", "dashdot")[index]
        traces.append(make_guide_line(sizes, theory, f"theory for {statistic}s: {THEORY[statistic]}", dash))
        for protocol in protocols:
            rows = select(spreads, statistic=statistic, protocol=protocol)
            color = COLORS[protocol]
            y, low, high = (rows[name].tolist() for name in ("spread", "spread_low", "spread_high"))
            shift = 1.06 if protocol == "published" else 1.0
            name = f"{statistic}s, as {protocol}"
            look = {
                "mode": "markers",
                "error_y": style.make_error_bars(list(map(Interval, y, low, high)), color),
                "customdata": sizes,
                "hovertemplate": f"<b>{name}</b><br>n = %{{customdata}}: %{{y}}<extra></extra>",
                "marker": {"size": 9, "symbol": ("circle", "square")[index], "color": color},
            }
            traces.append(make_line([size * shift for size in sizes], y, name, color, index, **look))
    return style.make_figure(
        traces,
        *words("spread"),
        height=480,
        xaxis=style.make_axis("rewards in a sample, n", "log", sizes),
        yaxis=style.make_axis("variance over samples", "log", style.choose_log_ticks(spreads["spread"].tolist())),
        margin={"t": 60, "r": 16, "b": 110, "l": 60},
    )


EXPERIMENT = Experiment("figure1", make_pieces, evaluate, plot_figures, claims=CLAIMS)
