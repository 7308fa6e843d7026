"""The section of Figure 1: how the mean and the variance of a sample spread, by the size of the sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.figures._parts import WHITE, box, faded, whiskers
from dashboards.figures._scales import axis, labelled, log_ticks, numbers
from dashboards.figures._style import BLUE, VERMILION, Trace, make
from dashboards.figures._titles import heading
from dashboards.report.sections import ShownTable
from dashboards.reproduction._lines import guide, line
from dashboards.reproduction.section import Section
from environments.text import format_number
from studies.reproduction.document import Document, Outcome
from studies.reproduction.tables import Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOURS = {"published": VERMILION, "defined": BLUE}
TRUTH = {"mean": 0.0, "variance": 1.0}
THEORY = {"mean": "1/n", "variance": "2/(n − 1)"}


def section(outcome: Outcome, document: Document) -> Section:
    """Words, the two distributions, and their spread against n."""
    spreads, below = outcome.tables["spreads"], outcome.tables["below"]
    protocols = spreads.distinct("protocol")
    draws = {name: spreads.where(protocol=name).column("draws")[0] for name in protocols}
    sizes = ", ".join(str(size) for size in spreads.distinct("n"))
    return Section(
        title="Figure 1: what few rewards say of an arm",
        claimed=[
            "The policy takes the variance of an arm's rewards as a sign of how little is known of the arm. To show "
            "that, the paper draws samples of different sizes n from one arm and looks at their means and variances: "
            "few rewards give means and variances that scatter widely, many give steady ones.",
            "It adds that an arm sampled only a few times typically has a large sample variance, which then falls.",
        ],
        did=[
            f"One arm that pays N(0, 1), n = {sizes}; "
            + ", ".join(f"{count} samples of each size as {name}" for name, count in draws.items())
            + ". The sample variance divides by n − 1."
        ],
        found=[*_settled(spreads, protocols[-1]), _typical(spreads, below, protocols[-1])],
        figures=[
            ("figure1-means", _distribution(outcome, "mean", draws)),
            ("figure1-variances", _distribution(outcome, "variance", draws)),
            ("figure1-spread", _spread(spreads, draws)),
        ],
        tables=[_table(spreads, below)],
    )


def _settled(spreads: Table, protocol: str) -> list[str]:
    out = []
    for statistic in TRUTH:
        rows = list(spreads.where(protocol=protocol, statistic=statistic))
        first, last = rows[0], rows[-1]
        out.append(
            f"Over samples, the variance of the sample {statistic} is {format_number(first['spread'])} at "
            f"n = {first['n']} and {format_number(last['spread'])} at n = {last['n']}; theory says"
            f" {THEORY[statistic]}, which "
            f"is {format_number(first['theory'])} and {format_number(last['theory'])}."
        )
    return out


def _typical(spreads: Table, below: Table, protocol: str) -> str:
    few, many = below.where(protocol=protocol), spreads.where(protocol=protocol, statistic="variance")
    first, row = next(iter(few)), next(iter(many))
    return (
        f"Is it large where rewards are few? At n = {first['n']} the sample variance lies below the true "
        f"variance in {first['share']:.1%} of the samples ({first['low']:.1%} to {first['high']:.1%}), with a median "
        f"of {row['median']:.2f}; its average is {row['average']:.3f} ({row['average_low']:.3f} to "
        f"{row['average_high']:.3f}). In theory the average is the true variance for every n, and the law is skewed, "
        "so that the median lies below it: what few rewards make large is the error of the estimate, not the estimate. "
        "A bonus that grows with the sample variance gives least to an arm whose first rewards happen to lie together."
    )


def _distribution(outcome: Outcome, statistic: str, draws: dict[str, int]) -> go.Figure:
    """A box per size from the most samples there are, beside the hundred published ones as dots."""
    spreads = outcome.tables["spreads"]
    boxed = list(draws)[-1]
    sizes = spreads.distinct("n")
    traces: list[Trace] = []
    if "published" in draws:
        traces.append(_dots(outcome.tables["dots"].where(statistic=statistic), sizes, draws["published"]))
    rows = list(spreads.where(protocol=boxed, statistic=statistic))
    colour = COLOURS[boxed]
    for place, row in enumerate(rows):
        quantiles = [row[key] for key in ("q05", "q25", "median", "q75", "q95")]
        name = f"{draws[boxed]} samples, as {boxed}: quartiles, 5 % and 95 %"
        upright = {"orientation": "v", "x": [place + 0.18], "y": None}
        traces.append(box(place, quantiles, colour, width=0.3, name=name, showlegend=place == 0, **upright))
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [place + 0.18 for place in range(len(rows))],
            "y": numbers(row["average"] for row in rows),
            "marker": {"symbol": "diamond", "size": 8, **WHITE},
            "name": "average",
            "hovertemplate": f"average sample {statistic} %{{y}}<extra></extra>",
        }
    )
    true = guide([-0.5, len(sizes) - 0.5], [TRUTH[statistic]] * 2, f"true {statistic}", "dash")
    first, last = rows[0], rows[-1]
    return make(
        [true, *traces],
        heading(f"Sample {statistic}s by the size of the sample", "one arm, N(0, 1)", f"{draws[boxed]} samples a size"),
        f"Boxes of the sample {statistic} for samples of {sizes[0]} to {sizes[-1]} rewards. From 5 % to 95 % they "
        f"reach from {format_number(first['q05'])} to {format_number(first['q95'])} at n = {first['n']} and from"
        f" {format_number(last['q05'])} "
        f"to {format_number(last['q95'])} at n = {last['n']}; the median at n = {first['n']} is"
        f" {format_number(first['median'])}.",
        xaxis=labelled([str(size) for size in sizes], "rewards in a sample, n", range=[-0.5, len(sizes) - 0.5]),
        yaxis=axis(f"sample {statistic}"),
    )


def _dots(dots: Table, sizes: list[int], count: int) -> Trace:
    """Every published draw, side by side at its size; the sideways place means nothing."""
    x = [sizes.index(row["n"]) - 0.2 + 0.26 * ((i * 0.618034) % 1.0 - 0.5) for i, row in enumerate(dots)]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(round(value, 3) for value in x),
        "y": [float(f"{value:.4g}") for value in dots.column("value")],
        "marker": {"size": 4, "color": faded(VERMILION, 0.55)},
        "name": f"{count} samples, as published",
        "hovertemplate": "%{y}<extra></extra>",
    }


def _spread(spreads: Table, draws: dict[str, int]) -> go.Figure:
    """Variance over samples against n on two log axes, with theory."""
    traces: list[Trace] = []
    sizes = spreads.distinct("n")
    for place, statistic in enumerate(TRUTH):
        some = spreads.where(statistic=statistic, protocol=next(iter(draws)))
        dash = ("dot", "dashdot")[place]
        traces.append(guide(sizes, some.column("theory"), f"theory for {statistic}s: {THEORY[statistic]}", dash))
        for protocol in draws:
            rows = spreads.where(statistic=statistic, protocol=protocol)
            y, low, high = (rows.column(name) for name in ("spread", "spread_low", "spread_high"))
            more: dict[str, Any] = {"mode": "markers", "error_y": whiskers(y, low, high, COLOURS[protocol])}
            shift = 1.06 if protocol == "published" else 1.0
            x = [size * shift for size in sizes]
            name = f"{statistic}s, as {protocol}"
            hover = f"<b>{name}</b><br>n = %{{customdata}}: %{{y}}<extra></extra>"
            marker = {"size": 9, "symbol": ("circle", "square")[place], "color": COLOURS[protocol]}
            more |= {"customdata": sizes, "hovertemplate": hover, "marker": marker}
            traces.append(line(x, y, name, COLOURS[protocol], place, **more))
    parts = [
        f"{row['statistic']} {format_number(row['spread'])} at n = {row['n']}"
        for row in spreads.where(protocol=list(draws)[-1])
        if row["n"] in (sizes[0], sizes[-1])
    ]
    return make(
        traces,
        heading("How much sample means and variances vary", "over samples of n rewards from N(0, 1)", "95 % intervals"),
        "Variance over samples of the sample mean and variance against n, on log axes, beside theory: "
        f"{'; '.join(parts)}.",
        height=480,
        xaxis=axis("rewards in a sample, n", "log", sizes),
        yaxis=axis("variance over samples", "log", log_ticks(spreads.column("spread"))),
        margin={"t": 60, "r": 16, "b": 110, "l": 60},
    )


def _table(spreads: Table, below: Table) -> ShownTable:
    columns = ["protocol", "n", "samples", "variance of means", "1/n", "variance of variances", "2/(n − 1)"]
    columns += ["median variance", "share below the true one", "95 %"]
    rows = []
    for share in below:
        which = {"protocol": share["protocol"], "n": share["n"]}
        mean, variance = (spreads.one(statistic=statistic, **which) for statistic in TRUTH)
        cells = [f"as {share['protocol']}", str(share["n"]), str(share["draws"])]
        cells += [format_number(each[key]) for each in (mean, variance) for key in ("spread", "theory")]
        cells += [
            format_number(variance["median"]),
            f"{share['share']:.1%}",
            f"{share['low']:.1%} to {share['high']:.1%}",
        ]
        rows.append(cells)
    return ShownTable("Sample means and variances by size", columns, rows, tuple(range(1, 10)), folded=True)
