"""Figures of Table 3 and of the estimators of the variance."""

from ravenlab.dashboards.figures import style
from ravenlab.dashboards.figures.style import Figure, PlotlyTrace
from ravenlab.studies.paper.results import ExperimentResult, Facts
from ravenlab.studies.tables import DataFrame, select, to_records, unique
from ravenlab.tuning.reproduction.figures import DotSeries, make_guide_line, make_interval_line, plot_dots
from ravenlab.tuning.reproduction.logistics import (
    NAMES,
    PRINTED_MARK,
)
from ravenlab.tuning.reproduction.texts import Words

ESTIMATOR_TITLES = {
    "welford": "sample variance (Proposition 1)",
    "printed": "Algorithm 1 as printed",
    "accumulated": "the logistics script's",
    "none": "no variance bonus (β₀ = 0)",
}

ESTIMATOR_COLORS = {"welford": style.BLUE, "printed": style.ORANGE, "accumulated": style.PINK}


def plot_figures(result: ExperimentResult, protocols: tuple[str, ...], words: Words) -> list[tuple[str, Figure]]:
    """Scores beside the paper's, defaults beside tuned policies, and the variance estimators."""
    tables = result.tables
    facts = result.facts
    size = style.format_sizes(facts["horizon"], facts["arms"], facts["worlds"])
    figures: list[tuple[str, Figure]] = []
    if "published" in protocols:
        figures.append(("table3-published", _plot_published(tables["scores"], size)))
    if "defined" in protocols:
        figures.append(("table3-defined", _plot_defined(tables["scores"], size)))
    figures.append(("table3-variances", _plot_variances(tables["variances"], words)))
    figures.append(("table3-estimators", _plot_estimators(tables["estimators"], facts)))
    return figures


def _plot_published(scores: DataFrame, size: list[str]) -> Figure:
    ours = {"symbol": "circle", "color": style.BLUE}
    square = {"symbol": "square-open", "color": style.GREEN}
    constant, best_arm = (
        to_records(select(scores, comparison="published", measure=measure)) for measure in ("regret_constant", "regret")
    )
    series = [
        DotSeries.from_rows("printed in the paper", constant, "paper", PRINTED_MARK),
        DotSeries.from_rows("ours, relative to 0.8", constant, "mean", ours),
        DotSeries.from_rows("ours, relative to the best arm", best_arm, "mean", square),
    ]
    labels = [NAMES[row["policy"]] for row in constant]
    return _plot_regrets(labels, series, "Regrets of Table 3 and ours", ["as published", *size])


def _plot_defined(scores: DataFrame, size: list[str]) -> Figure:
    defaults, tuned = (
        to_records(select(scores, comparison=comparison, measure="regret")) for comparison in ("defaults", "tuned")
    )
    series = [
        DotSeries.from_rows("defaults", defaults, "mean", {"symbol": "circle-open", "color": style.GREY}),
        DotSeries.from_rows("tuned on the same budget", tuned, "mean", {"symbol": "diamond", "color": style.ORANGE}),
    ]
    labels = [NAMES[row["policy"]] for row in tuned]
    return _plot_regrets(labels, series, "Effect of tuning", ["as defined", *size])


def _plot_estimators(estimators: DataFrame, facts: Facts) -> Figure:
    """Regret of RAVEN-UCB with each estimator."""
    styles = {
        "published": ("as published (α₀ 0.5, β₀ 1, ε 10⁻⁶)", {"symbol": "circle", "color": style.BLUE}),
        "defined": ("as defined, defaults", {"symbol": "square", "color": style.GREEN}),
    }
    series = []
    for protocol in unique(estimators, "protocol"):
        name, marker = styles[protocol]
        rows = to_records(select(estimators, protocol=protocol, measure="regret"))
        series.append(DotSeries.from_rows(name, rows, "mean", marker))
    size = style.format_sizes(facts["horizon"], facts["arms"], int(estimators["worlds"].iloc[0]))
    labels = [ESTIMATOR_TITLES[name] for name in unique(estimators, "estimator")]
    return _plot_regrets(labels, series, "RAVEN-UCB with each variance estimator", size)


def _plot_regrets(labels: list[str], series: list[DotSeries], title: str, context: list[str]) -> Figure:
    x_axis = style.make_axis("cumulative regret", nticks=5, rangemode="tozero", tickangle=0)
    return plot_dots(labels, series, title, context, x_axis)


def _plot_variances(variances: DataFrame, words: Words) -> Figure:
    """S² against the number of rewards on log axes."""
    traces: list[PlotlyTrace] = []
    sizes = unique(variances, "n")
    for index, (name, color) in enumerate(ESTIMATOR_COLORS.items()):
        rows = select(variances, estimator=name)
        title = ESTIMATOR_TITLES[name]
        mean, low, high = (rows[key].tolist() for key in ("mean", "mean_low", "mean_high"))
        positive = [max(value, min(mean) / 3) for value in low]  # a log axis has no zero
        hover = f"<b>{title}</b><br>n = %{{x}}<br>S² %{{y}}<extra></extra>"
        traces += make_interval_line(sizes, mean, positive, high, title, color, index, hovertemplate=hover)
    traces.append(make_guide_line([sizes[0], sizes[-1]], [1.0, 1.0], "true variance", "longdash"))
    return style.make_figure(
        traces,
        *words("variances"),
        height=430,
        xaxis=style.make_axis("rewards n", "log", [n for n in sizes if n in (2, 10, 100, 1000)]),
        yaxis=style.make_axis("S²", "log", [0.001, 0.01, 0.1, 1, 10]),
    )
