"""The section of Figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ravenlab.common.interval import Interval
from ravenlab.common.text import format_number, format_range
from ravenlab.dashboards.figures.style import (
    BLUE,
    VERMILION,
    WHITE_MARKER,
    PlotlyTrace,
    choose_log_ticks,
    fade,
    format_title,
    make_axis,
    make_box,
    make_category_axis,
    make_error_bars,
    make_figure,
)
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.tables import select, select_row, to_records, unique
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figure1.run import QUANTILES, TRUE_VALUES
from ravenlab.tuning.reproduction.figure1.verdicts import THEORY
from ravenlab.tuning.reproduction.figures import make_guide_line, make_line, make_markers, show_table

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame

COLORS = {"published": VERMILION, "defined": BLUE}

EXPLANATION = (
    "In theory the average sample variance equals the true variance for every n, but its distribution is skewed, so "
    "its median is lower. Few rewards increase the error of the estimate, not the estimate itself. A bonus that grows "
    "with the sample variance is smallest for an arm whose first rewards are similar by chance."
)


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the two sampling distributions, and their variance against n."""
    spreads, below = result.tables["spreads"], result.tables["below"]
    samples = {name: select(spreads, protocol=name)["samples"].iloc[0] for name in reproduction.protocols}
    sizes = ", ".join(f"{size:,}" for size in unique(spreads, "n"))
    return ReproductionSection(
        title="Figure 1: sample means and variances of few rewards",
        claims=[
            "The policy uses the variance of an arm's rewards as a measure of uncertainty about the arm. To motivate "
            "this, the paper draws samples of different sizes n from one arm: means and variances of small samples "
            "vary widely, those of large samples do not.",
            "It adds that an arm sampled only a few times typically has a large sample variance, which then decreases.",
        ],
        methods=[
            f"One arm with rewards N(0, 1) and n = {sizes}; "
            + ", ".join(f"{count:,} samples of each size as {name}" for name, count in samples.items())
            + ". The sample variance divides by n − 1."
        ],
        results=[*list_reasons(result), EXPLANATION],
        figures=[
            ("figure1-means", _plot_distribution(result, "mean", samples)),
            ("figure1-variances", _plot_distribution(result, "variance", samples)),
            ("figure1-spread", _plot_spread(spreads, list(samples))),
        ],
        tables=[_spread_table(spreads, below)],
    )


def _plot_distribution(result: ExperimentResult, statistic: str, samples: dict[str, int]) -> go.Figure:
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
            make_box(index, quantiles, COLORS[protocol], width=0.3, name=name, showlegend=index == 0, **upright)
        )
    x, averages = [index + 0.18 for index in range(len(rows))], [row["average"] for row in rows]
    text = [f"average sample {statistic} {format_number(average)}" for average in averages]
    traces.append(make_markers(x, averages, "average", {"symbol": "diamond", "size": 8, **WHITE_MARKER}, text))
    ends = [f"{format_range((row['q05'], row['q95']))} at n = {row['n']:,}" for row in (rows[0], rows[-1])]
    return make_figure(
        traces,
        format_title(
            f"Sample {statistic} by sample size", "one arm, N(0, 1)", f"{samples[protocol]:,} samples per size"
        ),
        f"Box plots of the sample {statistic} for samples of {sizes[0]} to {sizes[-1]:,} rewards. The 5 % to 95 % "
        f"quantiles are {' and '.join(ends)}; the median at n = {sizes[0]} is {format_number(rows[0]['median'])}.",
        xaxis=make_category_axis(
            [f"{size:,}" for size in sizes], "rewards in a sample, n", range=[-0.5, len(sizes) - 0.5]
        ),
        yaxis=make_axis(f"sample {statistic}"),
    )


def _plot_samples(dots: DataFrame, sizes: list[int], count: int) -> PlotlyTrace:
    """The published samples, spread horizontally within each size for legibility."""
    x = [round(sizes.index(n) - 0.2 + 0.26 * ((i * 0.618034) % 1.0 - 0.5), 3) for i, n in enumerate(dots["n"])]
    y = [float(f"{value:.4g}") for value in dots["value"]]
    look = {"mode": "markers", "marker": {"size": 4, "color": fade(VERMILION, 0.55)}}
    return make_line(x, y, f"{count} samples, as published", VERMILION, 0, **look, hovertemplate="%{y}<extra></extra>")


def _plot_spread(spreads: DataFrame, protocols: list[str]) -> go.Figure:
    """Variance over samples against n on log axes, beside theory."""
    traces: list[PlotlyTrace] = []
    sizes = unique(spreads, "n")
    for index, statistic in enumerate(TRUE_VALUES):
        theory = select(spreads, statistic=statistic, protocol=protocols[0])["theory"].tolist()
        dash = ("dot", "dashdot")[index]
        traces.append(make_guide_line(sizes, theory, f"theory for {statistic}s: {THEORY[statistic]}", dash))
        for protocol in protocols:
            rows, color = select(spreads, statistic=statistic, protocol=protocol), COLORS[protocol]
            y, low, high = (rows[name].tolist() for name in ("spread", "spread_low", "spread_high"))
            shift = 1.06 if protocol == "published" else 1.0
            name = f"{statistic}s, as {protocol}"
            look = {
                "mode": "markers",
                "error_y": make_error_bars(list(map(Interval, y, low, high)), color),
                "customdata": sizes,
                "hovertemplate": f"<b>{name}</b><br>n = %{{customdata}}: %{{y}}<extra></extra>",
                "marker": {"size": 9, "symbol": ("circle", "square")[index], "color": color},
            }
            traces.append(make_line([size * shift for size in sizes], y, name, color, index, **look))
    parts = [
        f"{row['statistic']} {format_number(row['spread'])} at n = {row['n']:,}"
        for row in to_records(select(spreads, protocol=protocols[-1]))
        if row["n"] in (sizes[0], sizes[-1])
    ]
    return make_figure(
        traces,
        format_title(
            "Variance of sample means and variances", "over samples of n rewards from N(0, 1)", "95 % intervals"
        ),
        f"Variance over samples of the sample mean and variance against n, on log axes: {'; '.join(parts)}.",
        height=480,
        xaxis=make_axis("rewards in a sample, n", "log", sizes),
        yaxis=make_axis("variance over samples", "log", choose_log_ticks(spreads["spread"].tolist())),
        margin={"t": 60, "r": 16, "b": 110, "l": 60},
    )


def _spread_table(spreads: DataFrame, below: DataFrame) -> PageTable:
    rows = []
    for share in to_records(below):
        key = {"protocol": share["protocol"], "n": share["n"]}
        mean, variance = (select_row(spreads, statistic=statistic, **key) for statistic in TRUE_VALUES)
        rows.append(
            {
                "protocol": f"as {share['protocol']}",
                "n": f"{share['n']:,}",
                "samples": f"{share['samples']:,}",
                "variance of means": format_number(mean["spread"]),
                THEORY["mean"]: format_number(mean["theory"]),
                "variance of variances": format_number(variance["spread"]),
                THEORY["variance"]: format_number(variance["theory"]),
                "median variance": format_number(variance["median"]),
                "share below true variance": f"{share['share']:.1%}",
                "95 %": f"{share['share_low']:.1%} to {share['share_high']:.1%}",
            }
        )
    return show_table("Sample means and variances by sample size", rows, folded=True)
