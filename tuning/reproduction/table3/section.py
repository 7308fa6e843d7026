"""The section of Table 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from dashboards.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    PlotlyTrace,
    escape_text,
    format_sizes,
    format_title,
    make_axis,
    make_category_axis,
    make_error_bars,
    make_figure,
    round_number,
    round_numbers,
)
from dashboards.pages.html import PageTable
from dashboards.pages.reproduction import ReproductionSection
from environments.text import capitalize_first, format_number, format_p_value
from studies.paper.results import ExperimentResult, Facts, ReproductionResult
from studies.symbols import format_symbol
from studies.tables import select, select_row, to_records, unique
from tuning.reproduction.figures import line_with_band
from tuning.reproduction.logistics import COMPARISON_TITLES, MEASURE_TITLES, NAMES, PRINTED_MARK, RAVEN

if TYPE_CHECKING:
    import plotly.graph_objects as go


TITLE = "Table 3: nine policies in the logistics case"

ESTIMATOR_TITLES = {
    "welford": "sample variance (Proposition 1)",
    "printed": "Algorithm 1 as printed",
    "accumulated": "the logistics script's",
    "none": "no variance bonus (β₀ = 0)",
}

ESTIMATOR_COLOURS = {"welford": BLUE, "printed": ORANGE, "accumulated": PINK}


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Scores beside the paper's, defaults beside tuned policies, and the variance estimators."""
    tables, facts = result.tables, result.facts
    size = format_sizes(facts["horizon"], facts["arms"], facts["worlds"])
    figures: list[tuple[str, go.Figure]] = []
    if "published" in reproduction.protocols:
        figures.append(("table3-published", _plot_published(tables["scores"], size)))
    if "defined" in reproduction.protocols:
        figures.append(("table3-defined", _plot_defined(tables["scores"], size)))
    figures.append(("table3-variances", _plot_variances(tables["variances"])))
    figures.append(("table3-estimators", _plot_estimators(tables["estimators"], facts)))
    return ReproductionSection(
        title=TITLE,
        claims=[
            "Each of 50,000 orders is assigned to one of 100 warehouses; every 5,000 orders a third of the warehouses "
            "change. The paper compares nine policies over 50 runs and prints reward, regret and suboptimal pulls. "
            "RAVEN-UCB is best and CCB second; RAVEN-UCB's regret is 68 % lower than that of UCB. The paper attributes "
            "this to exploration driven by the variance of each arm.",
        ],
        methods=_describe_methods(reproduction.protocols, facts),
        results=_describe_results(tables),
        figures=figures,
        tables=_make_shown_tables(tables),
    )


def _describe_methods(protocols: tuple[str, ...], facts: Facts) -> list[str]:
    out = []
    if "published" in protocols:
        out.append(
            f"As published: what the authors' script ran, in {facts['worlds']} worlds. Its regret is relative to a "
            "constant 0.8 per step, the best mean before the first change. Some of its baselines are not the policies "
            "they are named after (two of them read the true means), and none was tuned. The regret relative to the "
            "best arm at each step, which is the paper's own definition, is reported as well."
        )
    if "defined" in protocols:
        search = facts["search"]
        out.append(
            "As defined: the nine policies as their own papers define them, with regret relative to the best arm at "
            "each step; first at their defaults, then each tuned on the same budget of "
            f"{search['trials']} trials × {search['replications']} replications, followed by a comparison of the best "
            f"{search['candidates']} and the defaults on {search['selection']} selection worlds. All policies then "
            f"play the same {facts['worlds']} worlds that no search used."
        )
    out.append(
        "Because policies play the same worlds, comparisons are paired; RAVEN-UCB is compared with the eight others "
        "using Holm's correction. The paper's numbers involve three recursions for the variance. Each was run on "
        "samples of N(0, 1), and RAVEN-UCB was run with each of them and without its variance bonus (β₀ = 0)."
    )
    return out


def _describe_results(tables: Mapping[str, DataFrame]) -> list[str]:
    scores = tables["scores"]
    out = []
    for comparison in unique(scores, "comparison"):
        measure = "regret_constant" if comparison == "published" else "regret"
        out.append(_describe_ranking(scores, tables["tests"], comparison, measure))
        if comparison == "published":
            printed = [row for row in to_records(select(scores, comparison="published")) if row["paper"] is not None]
            inside = sum(row["low"] <= row["paper"] <= row["high"] for row in printed)
            out.append(f"Of the {len(printed)} printed numbers, {inside} are inside our 95 % intervals.")
    kinds = {"regret_constant": " (relative to 0.8)", "regret": ""}
    reductions = [
        f"{COMPARISON_TITLES[row['comparison']]}{kinds[row['measure']]} {_format_reduction(row)}"
        for row in to_records(tables["reductions"])
    ]
    out.append(f"RAVEN-UCB's regret compared with that of UCB: {'; '.join(reductions)}.")
    last = max(tables["variances"]["n"])
    at_last = {row["estimator"]: row["mean"] for row in to_records(select(tables["variances"], n=last))}
    out.append(
        f"After {last:,} rewards of variance 1, the recursion of Proposition 1 gives {at_last['welford']:.2f}, "
        f"Algorithm 1 as printed {at_last['printed']:.4f}, and the logistics script's {at_last['accumulated']:.2f}."
    )
    return out


def _describe_ranking(scores: DataFrame, tests: DataFrame, comparison: str, measure: str) -> str:
    rows = to_records(select(scores, comparison=comparison, measure=measure))
    means = {row["policy"]: row["mean"] for row in rows}
    order = sorted(means, key=lambda name: means[name])
    place = order.index(RAVEN) + 1
    significant = to_records(select(tests, comparison=comparison, measure=measure, significant=True))
    worse = sum(row["difference"] > 0 for row in significant)
    better = [NAMES[row["policy"]] for row in significant if row["difference"] < 0]
    losses = f"is significantly worse than {', '.join(better)}" if better else "is not significantly worse than any"
    other = order[1] if place == 1 else order[0]
    return (
        f"{capitalize_first(COMPARISON_TITLES[comparison])}, RAVEN-UCB ranks {place} of {len(order)} with a mean "
        "regret of "
        f"{means[RAVEN]:,.0f}; {'second' if place == 1 else 'first'} is {NAMES[other]} with {means[other]:,.0f}. After "
        f"Holm's correction it is significantly better than {worse} policies and {losses}."
    )


def _format_reduction(row: dict[str, Any]) -> str:
    """Describe a reduction of either sign."""
    if row["percent"] >= 0:
        return f"{row['percent']:.1f} % lower ({row['low']:.1f} to {row['high']:.1f})"
    return f"{-row['percent']:.1f} % higher ({-row['high']:.1f} to {-row['low']:.1f})"


@dataclass(frozen=True)
class DotSeries:
    """One value with interval per row; missing values are None."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]
    marker: dict[str, Any]


def _plot_published(scores: DataFrame, size: list[str]) -> go.Figure:
    constant = {"comparison": "published", "measure": "regret_constant"}
    paper = [select_row(scores, policy=policy, **constant)["paper"] for policy in NAMES]
    square = {"symbol": "square-open", "color": GREEN, "line": {"color": GREEN, "width": 2}}
    series = [
        DotSeries("printed in the paper", paper, paper, paper, PRINTED_MARK),
        _make_series(scores, "ours, relative to 0.8", {"symbol": "circle", "color": BLUE}, **constant),
        _make_series(scores, "ours, relative to the best arm", square, comparison="published", measure="regret"),
    ]
    title = "Regrets of Table 3 and ours"
    return plot_dots(list(NAMES.values()), series, title, ["as published", *size], "cumulative regret")


def _plot_defined(scores: DataFrame, size: list[str]) -> go.Figure:
    circle = {"symbol": "circle-open", "color": GREY, "line": {"color": GREY, "width": 2}}
    diamond = {"symbol": "diamond", "color": ORANGE}
    series = [
        _make_series(scores, "defaults", circle, comparison="defaults", measure="regret"),
        _make_series(scores, "tuned on the same budget", diamond, comparison="tuned", measure="regret"),
    ]
    return plot_dots(list(NAMES.values()), series, "Effect of tuning", ["as defined", *size], "regret (best arm)")


def _make_series(scores: DataFrame, name: str, marker: dict[str, Any], **cells: str) -> DotSeries:
    rows = {row["policy"]: row for row in to_records(select(scores, **cells))}
    mean, low, high = ([rows[policy][key] for policy in NAMES] for key in ("mean", "low", "high"))
    return DotSeries(name, mean, low, high, marker)


def plot_dots(
    rows: Sequence[str], series: Sequence[DotSeries], title: str, context: Sequence[str], x_title: str
) -> go.Figure:
    """Plot several series with intervals, one row per name, the first at the top.

    >>> ours = DotSeries("ours", [1.0], [0.5], [1.5], {"symbol": "circle"})
    >>> plot_dots(["UCB"], [ours], "Regret", ["T = 100"], "regret").layout.yaxis.ticktext
    ('UCB',)
    """
    step = 0.56 / max(1, len(series))
    traces = [_plot_series(rows, each, (i - (len(series) - 1) / 2) * step) for i, each in enumerate(series)]
    return make_figure(
        traces,
        format_title(title, *context),
        f"{title}. " + " ".join(_describe_series(rows, each) for each in series),
        height=170 + (26 + 10 * len(series)) * len(rows),
        xaxis=make_axis(x_title, nticks=5, rangemode="tozero", tickangle=0, tickformat="~s"),
        yaxis=make_category_axis(
            [escape_text(row) for row in rows], range=[len(rows) - 0.5, -0.5], gridcolor="rgba(0,0,0,0)"
        ),
    )


def _plot_series(rows: Sequence[str], series: DotSeries, shift: float) -> PlotlyTrace:
    present = [i for i, value in enumerate(series.values) if value is not None]
    value, low, high = ([float(each[i] or 0.0) for i in present] for each in (series.values, series.low, series.high))
    labels = [
        f"{v:,.5g}" if a == b else f"{v:,.5g} (95 %: {a:,.5g} to {b:,.5g})"
        for v, a, b in zip(value, low, high, strict=True)
    ]
    trace: PlotlyTrace = {
        "type": "scatter",
        "mode": "markers",
        "x": round_numbers(value),
        "y": [round_number(i + shift, 4) for i in present],
        "marker": {"size": 9} | series.marker,
        "name": series.name,
        "text": [
            f"<b>{escape_text(rows[i])}</b><br>{series.name}: {label}" for i, label in zip(present, labels, strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }
    if any(a < b for a, b in zip(low, high, strict=True)):
        colour = series.marker.get("line", {}).get("color", series.marker.get("color"))
        trace["error_x"] = make_error_bars(value, low, high, colour)
    return trace


def _describe_series(rows: Sequence[str], series: DotSeries) -> str:
    parts = [f"{row} {value:,.4g}" for row, value in zip(rows, series.values, strict=True) if value is not None]
    return f"{series.name}: {', '.join(parts)}."


def _plot_variances(variances: DataFrame) -> go.Figure:
    """S² against the number of rewards on log axes."""
    traces: list[PlotlyTrace] = []
    sizes = unique(variances, "n")
    for index, (name, colour) in enumerate(ESTIMATOR_COLOURS.items()):
        rows, title = select(variances, estimator=name), ESTIMATOR_TITLES[name]
        mean, low, high = (rows[key].tolist() for key in ("mean", "low", "high"))
        positive = [max(each, min(mean) / 3) for each in low]  # a log axis has no zero
        hover = f"<b>{title}</b><br>n = %{{x}}<br>S² %{{y}}<extra></extra>"
        traces += line_with_band(sizes, mean, positive, high, title, colour, index, hovertemplate=hover)
    last = sizes[-1]
    ends = [f"{ESTIMATOR_TITLES[row['estimator']]} {row['mean']:.3g}" for row in to_records(select(variances, n=last))]
    true_line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "layer": "below"}
    note = {"text": "true variance 1", "xref": "paper", "x": 0.99, "y": 0, "xanchor": "right", "yanchor": "bottom"}
    return make_figure(
        traces,
        format_title("Three recursions for the variance", "mean S² over samples of N(0, 1)", "95 % bands"),
        f"S² against the number of rewards for three recursions; the true variance is 1. At n = {last:,}: "
        f"{', '.join(ends)}.",
        height=430,
        shapes=[true_line | {"line": {"color": "rgba(128,128,128,0.9)", "width": 1, "dash": "longdash"}}],
        annotations=[note | {"showarrow": False, "font": {"size": 11}}],
        xaxis=make_axis("rewards n", "log", [n for n in sizes if n in (2, 10, 100, 1000)]),
        yaxis=make_axis("S²", "log", [0.001, 0.01, 0.1, 1, 10]),
    )


def _plot_estimators(estimators: DataFrame, facts: Facts) -> go.Figure:
    """Regret of RAVEN-UCB with each estimator."""
    styles = {
        "published": ("as published (α₀ 0.5, β₀ 1, ε 10⁻⁶)", {"symbol": "circle", "color": BLUE}),
        "defined": ("as defined, defaults", {"symbol": "square", "color": GREEN}),
    }
    series = []
    for protocol in unique(estimators, "protocol"):
        name, marker = styles[protocol]
        key = {"protocol": protocol, "measure": "regret"}
        rows = [select_row(estimators, estimator=each, **key) for each in ESTIMATOR_TITLES]
        mean, low, high = ([row[column] for row in rows] for column in ("mean", "low", "high"))
        series.append(DotSeries(name, mean, low, high, marker))
    size = format_sizes(facts["horizon"], facts["arms"], int(estimators["worlds"].iloc[0]))
    title = "RAVEN-UCB with each variance estimator"
    return plot_dots(list(ESTIMATOR_TITLES.values()), series, title, size, "regret (best arm)")


def _make_shown_tables(tables: Mapping[str, DataFrame]) -> list[PageTable]:
    """Regret is shown; all other tables are folded."""
    scores = tables["scores"]
    out = [_score_table(scores, ("regret_constant", "regret"), "Cumulative regret", folded=False)]
    out.append(_score_table(scores, ("reward",), "Cumulative reward", folded=True))
    out.append(_score_table(scores, ("suboptimal_pulls",), "Suboptimal pulls", folded=True))
    out.append(_test_table(tables["tests"]))
    if "parameters" in tables:
        out.append(_parameter_table(tables["parameters"]))
    out.append(_estimator_table(tables["estimators"]))
    return out


def _score_table(scores: DataFrame, measures: tuple[str, ...], caption: str, folded: bool) -> PageTable:
    """One row per policy: the paper's number, then ours in each comparison."""
    names = {"published": "ours as published", "defaults": "defaults", "tuned": "tuned"}
    kinds = {"regret_constant": ", relative to 0.8", "regret": ", relative to the best arm"}
    columns = [
        (comparison, measure)
        for comparison in unique(scores, "comparison")
        for measure in measures
        if len(select(scores, comparison=comparison, measure=measure))
    ]
    printed = [column for column in columns if column[0] == "published"][:1]
    rows = []
    for policy, name in NAMES.items():
        by_column = {
            (comparison, measure): select_row(scores, comparison=comparison, measure=measure, policy=policy)
            for comparison, measure in columns
        }
        paper = [f"{by_column[column]['paper']:,.1f}" for column in printed]
        rows.append([name, *paper, *(_format_score(by_column[column]) for column in columns)])
    titles = ["policy", *("paper" for _ in printed)]
    titles += [f"{names[comparison]}{kinds.get(measure, '')}" for comparison, measure in columns]
    text = f"{caption}: mean ± standard error and 95 % interval"
    return PageTable(text, DataFrame(rows, columns=titles), folded=folded)


def _format_score(row: Mapping[str, Any]) -> str:
    return f"{row['mean']:,.0f} ± {row['error']:,.0f} ({row['low']:,.0f} to {row['high']:,.0f})"


def _test_table(tests: DataFrame) -> PageTable:
    rows = [
        [
            COMPARISON_TITLES[row["comparison"]],
            MEASURE_TITLES[row["measure"]],
            NAMES[row["policy"]],
            f"{row['difference']:+z,.0f} ({row['low']:+z,.0f} to {row['high']:+z,.0f})",
            format_p_value(row["holm"]),
            "yes" if row["significant"] else "no",
        ]
        for row in to_records(tests)
        if row["measure"] != "suboptimal_pulls" and (row["comparison"], row["measure"]) != ("published", "regret")
    ]
    columns = ["comparison", "measure", "policy", "policy − RAVEN-UCB (95 %)", "p after Holm", "significant"]
    caption = (
        "Each policy compared with RAVEN-UCB on the same worlds (paired t-tests). As published, the two regrets differ "
        "by the same amount for all policies of a world, so only one is shown."
    )
    return PageTable(caption, DataFrame(rows, columns=columns), folded=True)


def _parameter_table(parameters: DataFrame) -> PageTable:
    rows = [
        [
            NAMES[row["policy"]],
            format_symbol(row["parameter"]),
            format_number(row["default"]),
            f"{format_number(row['from'])} to {format_number(row['to'])}",
            format_number(row["tuned"]),
        ]
        for row in to_records(parameters)
    ]
    return PageTable(
        "Tuned parameters", DataFrame(rows, columns=["policy", "parameter", "default", "range", "tuned"]), folded=True
    )


def _estimator_table(estimators: DataFrame) -> PageTable:
    rows = [
        [
            f"as {row['protocol']}",
            ESTIMATOR_TITLES[row["estimator"]],
            MEASURE_TITLES[row["measure"]],
            _format_score(row),
            f"{row['more']:+z,.0f} ({row['more_low']:+z,.0f} to {row['more_high']:+z,.0f})",
        ]
        for row in to_records(estimators)
    ]
    columns = ["protocol", "variance", "measure", "mean ± standard error (95 %)", "difference from the sample variance"]
    return PageTable("RAVEN-UCB with each variance estimator", DataFrame(rows, columns=columns), folded=True)
