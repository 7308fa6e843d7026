"""The section of Table 3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ravenlab.common.text import format_number, format_p_value, format_signed
from ravenlab.dashboards.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    PlotlyTrace,
    format_sizes,
    format_title,
    make_axis,
    make_figure,
)
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.results import ExperimentResult, Facts, ReproductionResult
from ravenlab.studies.symbols import format_symbol
from ravenlab.studies.tables import select, to_records, unique
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figures import DotSeries, make_guide_line, make_interval_line, plot_dots, show_table
from ravenlab.tuning.reproduction.logistics import COMPARISON_TITLES, MEASURE_TITLES, NAMES, PRINTED_MARK
from ravenlab.tuning.reproduction.measurements import read_measurement

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


ESTIMATOR_TITLES = {
    "welford": "sample variance (Proposition 1)",
    "printed": "Algorithm 1 as printed",
    "accumulated": "the logistics script's",
    "none": "no variance bonus (β₀ = 0)",
}

ESTIMATOR_COLORS = {"welford": BLUE, "printed": ORANGE, "accumulated": PINK}


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
        title="Table 3: nine policies in the logistics case",
        claims=[
            "Each of 50,000 orders is assigned to one of 100 warehouses; every 5,000 orders a third of the warehouses "
            "change. The paper compares nine policies over 50 runs and prints reward, regret and suboptimal pulls. "
            "RAVEN-UCB is best and CCB second; RAVEN-UCB's regret is 68 % lower than that of UCB. The paper attributes "
            "this to exploration driven by the variance of each arm.",
        ],
        methods=_describe_methods(reproduction.protocols, facts),
        results=[*_describe_printed(tables["scores"]), *list_reasons(result)],
        figures=figures,
        tables=_make_shown_tables(tables),
    )


def _describe_methods(protocols: tuple[str, ...], facts: Facts) -> list[str]:
    out = []
    if "published" in protocols:
        out.append(
            f"As published: the authors' script, in {facts['worlds']} worlds. Its regret is relative to a "
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


def _describe_printed(scores: DataFrame) -> list[str]:
    printed = [row for row in to_records(scores) if row["paper"] is not None]
    inside = sum(row["mean_low"] <= row["paper"] <= row["mean_high"] for row in printed)
    return [f"Of the {len(printed)} printed numbers, {inside} are inside our 95 % intervals."] if printed else []


def _plot_published(scores: DataFrame, size: list[str]) -> go.Figure:
    ours, square = {"symbol": "circle", "color": BLUE}, {"symbol": "square-open", "color": GREEN}
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


def _plot_defined(scores: DataFrame, size: list[str]) -> go.Figure:
    defaults, tuned = (
        to_records(select(scores, comparison=comparison, measure="regret")) for comparison in ("defaults", "tuned")
    )
    series = [
        DotSeries.from_rows("defaults", defaults, "mean", {"symbol": "circle-open", "color": GREY}),
        DotSeries.from_rows("tuned on the same budget", tuned, "mean", {"symbol": "diamond", "color": ORANGE}),
    ]
    labels = [NAMES[row["policy"]] for row in tuned]
    return _plot_regrets(labels, series, "Effect of tuning", ["as defined", *size])


def _plot_estimators(estimators: DataFrame, facts: Facts) -> go.Figure:
    """Regret of RAVEN-UCB with each estimator."""
    styles = {
        "published": ("as published (α₀ 0.5, β₀ 1, ε 10⁻⁶)", {"symbol": "circle", "color": BLUE}),
        "defined": ("as defined, defaults", {"symbol": "square", "color": GREEN}),
    }
    series = []
    for protocol in unique(estimators, "protocol"):
        name, marker = styles[protocol]
        rows = to_records(select(estimators, protocol=protocol, measure="regret"))
        series.append(DotSeries.from_rows(name, rows, "mean", marker))
    size = format_sizes(facts["horizon"], facts["arms"], int(estimators["worlds"].iloc[0]))
    labels = [ESTIMATOR_TITLES[name] for name in unique(estimators, "estimator")]
    return _plot_regrets(labels, series, "RAVEN-UCB with each variance estimator", size)


def _plot_regrets(labels: list[str], series: list[DotSeries], title: str, context: list[str]) -> go.Figure:
    x_axis = make_axis("cumulative regret", nticks=5, rangemode="tozero", tickangle=0, tickformat="~s")
    return plot_dots(labels, series, title, context, x_axis)


def _plot_variances(variances: DataFrame) -> go.Figure:
    """S² against the number of rewards on log axes."""
    traces: list[PlotlyTrace] = []
    sizes = unique(variances, "n")
    for index, (name, color) in enumerate(ESTIMATOR_COLORS.items()):
        rows, title = select(variances, estimator=name), ESTIMATOR_TITLES[name]
        mean, low, high = (rows[key].tolist() for key in ("mean", "mean_low", "mean_high"))
        positive = [max(value, min(mean) / 3) for value in low]  # a log axis has no zero
        hover = f"<b>{title}</b><br>n = %{{x}}<br>S² %{{y}}<extra></extra>"
        traces += make_interval_line(sizes, mean, positive, high, title, color, index, hovertemplate=hover)
    last = sizes[-1]
    ends = [
        f"{ESTIMATOR_TITLES[row['estimator']]} {format_number(row['mean'])}"
        for row in to_records(select(variances, n=last))
    ]
    traces.append(make_guide_line([sizes[0], last], [1.0, 1.0], "true variance", "longdash"))
    return make_figure(
        traces,
        format_title("Three recursions for the variance", "mean S² over samples of N(0, 1)", "95 % bands"),
        f"S² against the number of rewards for three recursions; the true variance is 1. At n = {last:,}: "
        f"{', '.join(ends)}.",
        height=430,
        xaxis=make_axis("rewards n", "log", [n for n in sizes if n in (2, 10, 100, 1000)]),
        yaxis=make_axis("S²", "log", [0.001, 0.01, 0.1, 1, 10]),
    )


def _make_shown_tables(tables: Mapping[str, DataFrame]) -> list[PageTable]:
    """Regret is shown; all other tables are folded."""
    scores = tables["scores"]
    return [
        _score_table(scores, ("regret_constant", "regret"), "Cumulative regret", folded=False),
        _score_table(scores, ("reward",), "Cumulative reward", folded=True),
        _score_table(scores, ("suboptimal_pulls",), "Suboptimal pulls", folded=True),
        _test_table(tables["tests"]),
        *([_parameter_table(tables["parameters"])] if "parameters" in tables else []),
        _estimator_table(tables["estimators"]),
    ]


def _score_table(scores: DataFrame, measures: tuple[str, ...], caption: str, folded: bool) -> PageTable:
    """One row per policy: the paper's number, then ours in each comparison."""
    names = {"published": "ours as published", "defaults": "defaults", "tuned": "tuned"}
    kinds = {"regret_constant": ", relative to 0.8", "regret": ", relative to the best arm"}
    rows = []
    for policy, name in NAMES.items():
        shown = [row for row in to_records(select(scores, policy=policy)) if row["measure"] in measures]
        cells = {"policy": name}
        if shown[0]["paper"] is not None:
            cells["paper"] = f"{shown[0]['paper']:,.1f}"
        cells |= {f"{names[row['comparison']]}{kinds.get(row['measure'], '')}": _format_score(row) for row in shown}
        rows.append(cells)
    return show_table(f"{caption}: mean ± standard error and 95 % interval", rows, folded)


def _format_score(row: Mapping[str, Any]) -> str:
    return f"{row['mean']:,.0f} ± {row['error']:,.0f} ({row['mean_low']:,.0f} to {row['mean_high']:,.0f})"


def _format_difference(row: Mapping[str, Any], name: str) -> str:
    value, low, high = map(format_signed, read_measurement(row, name))
    return f"{value} ({low} to {high})"


def _test_table(tests: DataFrame) -> PageTable:
    rows = [
        {
            "comparison": COMPARISON_TITLES[row["comparison"]],
            "measure": MEASURE_TITLES[row["measure"]],
            "policy": NAMES[row["policy"]],
            "policy − RAVEN-UCB (95 %)": _format_difference(row, "difference"),
            "p after Holm": format_p_value(row["holm"]),
            "significant": "yes" if row["significant"] else "no",
        }
        for row in to_records(tests)
        if row["measure"] != "suboptimal_pulls" and (row["comparison"], row["measure"]) != ("published", "regret")
    ]
    caption = (
        "Each policy compared with RAVEN-UCB on the same worlds (paired t-tests). As published, the two regrets differ "
        "by the same amount for all policies of a world, so only one is shown."
    )
    return show_table(caption, rows, folded=True)


def _parameter_table(parameters: DataFrame) -> PageTable:
    rows = [
        {
            "policy": NAMES[row["policy"]],
            "parameter": format_symbol(row["parameter"]),
            "default": format_number(row["default"]),
            "range": f"{format_number(row['from'])} to {format_number(row['to'])}",
            "tuned": format_number(row["tuned"]),
        }
        for row in to_records(parameters)
    ]
    return show_table("Tuned parameters", rows, folded=True)


def _estimator_table(estimators: DataFrame) -> PageTable:
    rows = [
        {
            "protocol": f"as {row['protocol']}",
            "variance": ESTIMATOR_TITLES[row["estimator"]],
            "measure": MEASURE_TITLES[row["measure"]],
            "mean ± standard error (95 %)": _format_score(row),
            "difference from the sample variance": _format_difference(row, "more"),
        }
        for row in to_records(estimators)
    ]
    return show_table("RAVEN-UCB with each variance estimator", rows, folded=True)
