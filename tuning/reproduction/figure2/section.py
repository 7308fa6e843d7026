"""The section of Figure 2."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from ravenlab.common.interval import Interval
from ravenlab.common.text import keep_pairs_together
from ravenlab.dashboards.figures.style import (
    BLUE,
    CHANGE_COLOR,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    PlotlyTrace,
    fade,
    format_title,
    make_axis,
    make_error_bars,
    make_figure,
    make_shading,
)
from ravenlab.dashboards.pages.html import PageTable
from ravenlab.dashboards.pages.reproduction import ReproductionSection
from ravenlab.studies.paper.results import ExperimentResult, ReproductionResult
from ravenlab.studies.symbols import format_params
from ravenlab.studies.tables import select, select_row, to_records, unique
from ravenlab.tuning.reproduction.context import list_reasons
from ravenlab.tuning.reproduction.figure2.verdicts import CLAIM_HORIZON, CLAIMS, POINTS
from ravenlab.tuning.reproduction.figures import (
    HOVER_TEXT,
    make_guide_line,
    make_interval_line,
    make_markers,
    make_note,
    show_table,
)
from ravenlab.tuning.reproduction.measurements import format_measurement, read_measurement

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from pandas import DataFrame


RAVEN_PARAMS = ("alpha0", "beta0", "epsilon")
TICKS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


class LineStyle(NamedTuple):
    """Name and appearance of a line; its order selects dash and marker."""

    name: str
    color: str
    order: int
    band: tuple[str, str]
    """The columns of its band."""


LINES = {
    "published": LineStyle("as published (band: 90 % of runs)", ORANGE, 1, ("run_low", "run_high")),
    "defined": LineStyle("as defined (band: 95 %)", BLUE, 0, ("reduction_low", "reduction_high")),
    "tuned-ucb1": LineStyle("UCB1, c tuned (band: 95 %)", GREEN, 2, ("reduction_low", "reduction_high")),
}


def make_section(result: ExperimentResult, reproduction: ReproductionResult) -> ReproductionSection:
    """Text, reductions against the horizon, and the selection bias of the winners."""
    tables, facts = result.tables, result.facts
    above, limit = CLAIMS["figure2-above-80"].printed_number, CLAIMS["figure2-84"].printed_number
    claims = [
        "The regret reduction is the share of UCB1's regret that RAVEN-UCB avoids: 0 % means equal regret, 100 % "
        "means no regret.",
        f"The paper claims that the reduction is above {above:g} % at every horizon T, that it grows with T, and that "
        f"it converges to one minus the largest variance of the arms, about {limit:g} %, which it reaches near "
        "T = 5,000.",
    ]
    methods = [
        f"{facts['arms']} arms with rewards 1 or 0; each world draws their success probabilities between 0.8 and 0.95, "
        "and they never change. RAVEN-UCB's parameters are searched separately for every horizon. The baseline is "
        "untuned UCB1 with bonus √(2·ln t / (N+1)) on the same worlds."
    ]
    results = list_reasons(result)
    figures = [("reduction", _plot_reduction(tables["reduction"], facts))]
    shown = [_reduction_table(tables["reduction"])]
    if "published" in reproduction.protocols:
        methods.append(_describe_published_methods(facts))
        results.append(_describe_selection_bias(tables))
        figures.append(("winners", _plot_selection_bias(tables["selection_bias"], facts)))
    if "defined" in reproduction.protocols:
        methods.append(_describe_defined_methods(facts))
        results.append(_describe_tuned_ucb1(tables))
        shown.append(_winner_table(tables["winners"]))
    return ReproductionSection(
        "Figure 2: regret reduction against the horizon", claims, methods, results, figures, shown
    )


def _describe_published_methods(facts: Mapping[str, Any]) -> str:
    return (
        f"As published: {facts['trials']} candidates per horizon, each on {facts['replications']} worlds; the best is "
        "reported with its regret on the same worlds that selected it. The authors used Optuna's TPE, whose first ten "
        "candidates are random, so the search is random. ε was suggested but never used. Because a single run is "
        f"random, the procedure was repeated {facts['repeats']} times, and every winner was also evaluated on "
        f"{facts['replications']} held-out worlds."
    )


def _describe_defined_methods(facts: Mapping[str, Any]) -> str:
    return (
        f"As defined: {facts['trials']} candidates × {facts['search']} worlds, with ε in the score and the unbiased "
        "sample variance. The first candidate is the policy's defaults, and all candidates are the same at every "
        f"horizon. The best {facts['finalists']} and the defaults were compared on {facts['selection']} selection "
        "worlds, and the winner was evaluated on held-out worlds. UCB1 received the same search for its only constant "
        "c, which is 2 in the baseline. The intervals are conditional on the winner of this one search; they do not "
        "include the variation between searches."
    )


def _describe_selection_bias(tables: Mapping[str, DataFrame]) -> str:
    runs = to_records(select(tables["reduction"], line="published"))
    most_variable = max(runs, key=lambda row: row["run_spread"])
    bias = tables["selection_bias"]["difference"].mean()
    return (
        f"As published, the standard deviation of single runs is up to {most_variable['run_spread']:.1f} percentage "
        f"points (T = {most_variable['horizon']:,}). On held-out worlds the reduction of the winners is "
        f"{abs(bias):.1f} percentage points {'lower' if bias >= 0 else 'higher'}, averaged over the horizons, than on "
        "the worlds that selected them."
    )


def _describe_tuned_ucb1(tables: Mapping[str, DataFrame]) -> str:
    tuned, against = select(tables["reduction"], line="tuned-ucb1"), tables["against_tuned"]
    ahead, behind = int((against["difference_low"] > 0).sum()), int((against["difference_high"] < 0).sum())
    difference = read_measurement(select_row(against, horizon=CLAIM_HORIZON), "difference")
    return (
        f"At T = {CLAIM_HORIZON:,} the reduction of UCB1 with only c tuned is "
        f"{_format_reduction(tuned, CLAIM_HORIZON)}. The reduction of RAVEN-UCB minus that of tuned UCB1 is "
        f"{format_measurement(difference, POINTS)}. Of {len(against)} horizons, RAVEN-UCB is significantly better than "
        f"tuned UCB1 at {ahead} and worse at {behind}; at {len(against) - ahead - behind} the difference is not "
        "significant."
    )


def _format_reduction(rows: DataFrame, horizon: int) -> str:
    return format_measurement(read_measurement(select_row(rows, horizon=horizon), "reduction"))


def _reduction_table(reduction: DataFrame) -> PageTable:
    titles = {
        "published": "as published",
        "published-held-out": "its winners on held-out worlds",
        "defined": "as defined",
        "tuned-ucb1": "UCB1, c tuned",
    }
    rows = []
    for horizon in sorted(unique(reduction, "horizon")):
        cells = {"T": f"{horizon:,}"}
        for key in unique(reduction, "line"):
            points = select(reduction, line=key, horizon=horizon)
            cells[titles[key]] = _format_reduction(points, horizon) if len(points) else ""
        rows.append(cells)
    return show_table("Regret reduction compared with untuned UCB1, with 95 % intervals", rows, folded=True)


def _winner_table(winners: DataFrame) -> PageTable:
    rows = [
        {
            "T": f"{row['horizon']:,}",
            "RAVEN-UCB": keep_pairs_together(format_params({name: row[name] for name in RAVEN_PARAMS})),
            "UCB1": keep_pairs_together(format_params({"c": row["c"]})),
        }
        for row in to_records(winners)
    ]
    return show_table("Winners of the searches, as defined", rows, folded=True)


def _plot_reduction(reduction: DataFrame, facts: Mapping[str, Any]) -> go.Figure:
    """All lines against T, with the two numbers that the paper prints."""
    traces: list[PlotlyTrace] = []
    summaries = []
    for key, style in LINES.items():
        rows = select(reduction, line=key)
        if len(rows):
            traces += _plot_line(rows, style)
            first, last = rows.iloc[0], rows.iloc[-1]
            summaries.append(
                f"{style.name}: {first['reduction']:.1f} % at T = {first['horizon']:,}, "
                f"{last['reduction']:.1f} % at T = {last['horizon']:,}"
            )
    horizons = reduction["horizon"].tolist()
    above, limit = CLAIMS["figure2-above-80"].printed_number, CLAIMS["figure2-84"].printed_number
    ends = [0.9 * min(horizons), 1.1 * max(horizons)]
    traces += [
        make_guide_line(ends, [limit] * 2, f"paper: converges to {limit:g} %", "longdash", VERMILION),
        make_guide_line(ends, [above] * 2, f"paper: all above {above:g} %", "dashdot", VERMILION),
    ]
    has_longer = max(horizons) > facts["longest"]
    return make_figure(
        traces,
        format_title(
            "Regret reduction compared with UCB1", _horizon_range(horizons), *_describe_counts(facts, reduction)
        ),
        f"Regret reduction compared with UCB1 in percent against the horizon, on a log axis. {'; '.join(summaries)}. "
        f"Horizontal lines mark the paper's {above:g} % and {limit:g} %.",
        height=520,
        shapes=[make_shading(facts["longest"], ends[1], fade(GREY, 0.12))] if has_longer else [],
        annotations=[make_note("beyond the paper's<br>horizons", 0.985, 0.04, "right")] if has_longer else [],
        xaxis=_horizon_axis(ends),
        yaxis=make_axis("regret reduction (%)", ticks=[0, 20, 40, 60, 80, 100], range=[0, 100]),
        margin={"b": 130},
    )


def _plot_selection_bias(bias: DataFrame, facts: Mapping[str, Any]) -> go.Figure:
    """Reduction of winners on the worlds that selected them, minus that on held-out worlds."""
    horizons, differences = bias["horizon"].tolist(), bias["difference"].tolist()
    text = [
        f"T = {row['horizon']:,}<br>{row['selection']:.1f} % on the selection worlds, {row['held_out']:.1f} % on "
        f"held-out worlds<br>difference {format_measurement(read_measurement(row, 'difference'), POINTS)}"
        for row in to_records(bias)
    ]
    intervals = make_error_bars(list(map(Interval, differences, bias["difference_low"], bias["difference_high"])))
    marker = {"symbol": "square", "size": 6, "color": ORANGE}
    return make_figure(
        [make_markers(horizons, differences, "difference with 95 % interval", marker, text, error_y=intervals)],
        format_title(
            "Selection bias of the winners",
            _horizon_range(horizons),
            f"K = {facts['arms']} arms",
            f"R = {facts['replications']} worlds per run",
            f"{facts['repeats']} runs",
        ),
        "Regret reduction of the published winners on the worlds that selected them, minus that on held-out worlds, "
        f"against the horizon. The average difference is {sum(differences) / len(differences):.1f} percentage points.",
        height=340,
        xaxis=_horizon_axis([0.9 * min(horizons), 1.1 * max(horizons)]),
        yaxis=make_axis(
            "selection − held-out<br>(percentage points)", rangemode="tozero", zeroline=True, zerolinecolor=CHANGE_COLOR
        ),
    )


def _plot_line(rows: DataFrame, style: LineStyle) -> list[PlotlyTrace]:
    text = [
        f"<b>{style.name.partition(' (')[0]}</b><br>T = {row['horizon']:,}: "
        f"{format_measurement(read_measurement(row, 'reduction'))}"
        for row in to_records(rows)
    ]
    x, y, low, high = (rows[name].tolist() for name in ("horizon", "reduction", *style.band))
    return make_interval_line(
        x, y, low, high, style.name, style.color, style.order, text=text, hovertemplate=HOVER_TEXT
    )


def _describe_counts(facts: Mapping[str, Any], reduction: DataFrame) -> list[str]:
    """The number of arms, and the sample size of each line."""
    out = [f"K = {facts['arms']} arms"]
    if "repeats" in facts:
        out.append(f"{facts['repeats']} runs of R = {facts['replications']} worlds as published")
    worlds = select(reduction, line="defined")["count"].tolist() if "search" in facts else []
    if worlds:
        out.append(f"R = {min(worlds):,} to {max(worlds):,} held-out worlds as defined")
    return out


def _horizon_range(horizons: list[int]) -> str:
    return f"T = {min(horizons):,} to {max(horizons):,} steps"


def _horizon_axis(ends: list[float]) -> dict[str, Any]:
    ticks = [tick for tick in TICKS if tick <= ends[1]]
    return make_axis("horizon T (steps)", "log", ticks, range=[log10(end) for end in ends])
