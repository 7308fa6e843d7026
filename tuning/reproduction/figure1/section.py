"""The section of Figure 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from dashboards.figures.style import (
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
    round_numbers,
)
from dashboards.pages.html import PageTable
from dashboards.pages.reproduction import ReproductionSection
from environments.text import format_number
from studies.paper.results import ExperimentResult, ReproductionResult
from studies.tables import select, select_row, to_records, unique
from tuning.reproduction.figure1.run import TRUE_VALUES
from tuning.reproduction.figures import guide_line, line

if TYPE_CHECKING:
    import plotly.graph_objects as go


TITLE = "Figure 1: sample means and variances of few rewards"
COLOURS = {"published": VERMILION, "defined": BLUE}
THEORY = {"mean": "1/n", "variance": "2/(n − 1)"}


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, the two sampling distributions, and their variance against n."""
    spreads, below = result.tables["spreads"], result.tables["below"]
    samples = {name: select(spreads, protocol=name)["draws"].iloc[0] for name in unique(spreads, "protocol")}
    most_precise = list(samples)[-1]
    sizes = ", ".join(f"{size:,}" for size in unique(spreads, "n"))
    return ReproductionSection(
        title=TITLE,
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
        results=[*_describe_spread(spreads, most_precise), _describe_variance(spreads, below, most_precise)],
        figures=[
            ("figure1-means", _plot_distribution(result, "mean", samples)),
            ("figure1-variances", _plot_distribution(result, "variance", samples)),
            ("figure1-spread", _plot_spread(spreads, list(samples))),
        ],
        tables=[_make_table(spreads, below)],
    )


def _describe_spread(spreads: DataFrame, protocol: str) -> list[str]:
    out = []
    for statistic in TRUE_VALUES:
        rows = to_records(select(spreads, protocol=protocol, statistic=statistic))
        first, last = rows[0], rows[-1]
        out.append(
            f"The variance of the sample {statistic} over samples is {format_number(first['spread'])} at n = "
            f"{first['n']} and "
            f"{format_number(last['spread'])} at n = {last['n']:,}. Theory predicts {THEORY[statistic]}, that is "
            f"{format_number(first['theory'])} and {format_number(last['theory'])}."
        )
    return out


def _describe_variance(spreads: DataFrame, below: DataFrame, protocol: str) -> str:
    share = to_records(select(below, protocol=protocol))[0]
    row = to_records(select(spreads, protocol=protocol, statistic="variance"))[0]
    return (
        f"Small samples do not typically have a large variance. At n = {share['n']} the sample variance is below the "
        f"true variance in {share['share']:.1%} of the samples ({share['low']:.1%} to {share['high']:.1%}). Its median "
        f"is {row['median']:.2f} and its average {row['average']:.3f} ({row['average_low']:.3f} to "
        f"{row['average_high']:.3f}). In theory the average equals the true variance for every n, and the distribution "
        "is skewed, so its median is lower. Few rewards increase the error of the estimate, not the estimate itself. A "
        "bonus that grows with the sample variance is smallest for an arm whose first rewards are similar by chance."
    )


def _plot_distribution(result: ExperimentResult, statistic: str, samples: dict[str, int]) -> go.Figure:
    """Box plots by size for the most precise protocol, beside the published samples as dots."""
    spreads = result.tables["spreads"]
    protocol = list(samples)[-1]
    sizes = unique(spreads, "n")
    traces: list[PlotlyTrace] = [
        guide_line([-0.5, len(sizes) - 0.5], [TRUE_VALUES[statistic]] * 2, f"true {statistic}", "dash")
    ]
    if "published" in samples:
        traces.append(_plot_dots(select(result.tables["dots"], statistic=statistic), sizes, samples["published"]))
    rows = to_records(select(spreads, protocol=protocol, statistic=statistic))
    name = f"{samples[protocol]:,} samples, as {protocol}: quartiles, 5 % and 95 %"
    for index, row in enumerate(rows):
        quantiles = [row[key] for key in ("q05", "q25", "median", "q75", "q95")]
        upright = {"orientation": "v", "x": [index + 0.18], "y": None}
        traces.append(
            make_box(index, quantiles, COLOURS[protocol], width=0.3, name=name, showlegend=index == 0, **upright)
        )
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [index + 0.18 for index in range(len(rows))],
            "y": round_numbers(row["average"] for row in rows),
            "marker": {"symbol": "diamond", "size": 8, **WHITE_MARKER},
            "name": "average",
            "hovertemplate": f"average sample {statistic} %{{y}}<extra></extra>",
        }
    )
    first, last = rows[0], rows[-1]
    return make_figure(
        traces,
        format_title(
            f"Sample {statistic} by sample size", "one arm, N(0, 1)", f"{samples[protocol]:,} samples per size"
        ),
        f"Box plots of the sample {statistic} for samples of {sizes[0]} to {sizes[-1]:,} rewards. The 5 % and 95 % "
        f"quantiles are {format_number(first['q05'])} and {format_number(first['q95'])} at n = {first['n']}, and "
        f"{format_number(last['q05'])} "
        f"and {format_number(last['q95'])} at n = {last['n']:,}; the median at n = {first['n']} is "
        f"{format_number(first['median'])}.",
        xaxis=make_category_axis(
            [f"{size:,}" for size in sizes], "rewards in a sample, n", range=[-0.5, len(sizes) - 0.5]
        ),
        yaxis=make_axis(f"sample {statistic}"),
    )


def _plot_dots(dots: DataFrame, sizes: list[int], count: int) -> PlotlyTrace:
    """The published samples, spread horizontally within each size for legibility."""
    x = [sizes.index(n) - 0.2 + 0.26 * ((i * 0.618034) % 1.0 - 0.5) for i, n in enumerate(dots["n"])]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": round_numbers(round(value, 3) for value in x),
        "y": [float(f"{value:.4g}") for value in dots["value"]],
        "marker": {"size": 4, "color": fade(VERMILION, 0.55)},
        "name": f"{count} samples, as published",
        "hovertemplate": "%{y}<extra></extra>",
    }


def _plot_spread(spreads: DataFrame, protocols: list[str]) -> go.Figure:
    """Variance over samples against n on log axes, beside theory."""
    traces: list[PlotlyTrace] = []
    sizes = unique(spreads, "n")
    for index, statistic in enumerate(TRUE_VALUES):
        theory = select(spreads, statistic=statistic, protocol=protocols[0])["theory"].tolist()
        dash = ("dot", "dashdot")[index]
        traces.append(guide_line(sizes, theory, f"theory for {statistic}s: {THEORY[statistic]}", dash))
        for protocol in protocols:
            rows, colour = select(spreads, statistic=statistic, protocol=protocol), COLOURS[protocol]
            y, low, high = (rows[name].tolist() for name in ("spread", "spread_low", "spread_high"))
            shift = 1.06 if protocol == "published" else 1.0
            name = f"{statistic}s, as {protocol}"
            look: dict[str, Any] = {
                "mode": "markers",
                "error_y": make_error_bars(y, low, high, colour),
                "customdata": sizes,
                "hovertemplate": f"<b>{name}</b><br>n = %{{customdata}}: %{{y}}<extra></extra>",
                "marker": {"size": 9, "symbol": ("circle", "square")[index], "color": colour},
            }
            traces.append(line([size * shift for size in sizes], y, name, colour, index, **look))
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


def _make_table(spreads: DataFrame, below: DataFrame) -> PageTable:
    columns = ["protocol", "n", "samples", "variance of means", "1/n", "variance of variances", "2/(n − 1)"]
    columns += ["median variance", "share below true variance", "95 %"]
    rows = []
    for share in to_records(below):
        key = {"protocol": share["protocol"], "n": share["n"]}
        mean, variance = (select_row(spreads, statistic=statistic, **key) for statistic in TRUE_VALUES)
        cells = [f"as {share['protocol']}", f"{share['n']:,}", f"{share['draws']:,}"]
        cells += [format_number(each[name]) for each in (mean, variance) for name in ("spread", "theory")]
        cells += [
            format_number(variance["median"]),
            f"{share['share']:.1%}",
            f"{share['low']:.1%} to {share['high']:.1%}",
        ]
        rows.append(cells)
    return PageTable("Sample means and variances by sample size", DataFrame(rows, columns=columns), folded=True)
